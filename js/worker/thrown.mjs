// What was thrown, in the protocol's words: type, message, and the stack from the user's innermost frame on.

/** A line of a V8 stack: "at name (place:line:column)" or "at place:line:column". */
const FRAME = /^\s*at (?:(?<name>.*?) \()?(?:async )?(?<place>.+?):(?<line>\d+):(?<column>\d+)\)?$/;

/** Where V8 says a file could not be parsed: the first line of the stack. */
const PLACE = /^(?<place>(?:file:\/\/|\/).+?):(?<line>\d+)$/;

/**
 * @param {unknown} error
 * @param {{of: (file: string) => string, shown: (place: string) => string}} host
 * @returns {{type: string, message: string, checkpoint: string | null, stack: any[]}}
 */
export function describe(error, host) {
  const {name, message, stack} = error instanceof Error ? error : {name: typeof error, message: String(error), stack: ''};
  return {type: error?.constructor?.name ?? name, message, checkpoint: null, stack: frames(String(stack ?? ''), host)};
}

/**
 * @param {string} stack
 * @param {{of: (file: string) => string, shown: (place: string) => string}} host
 */
function frames(stack, host) {
  /** @type {any[]} */
  const found = [];
  for (const text of stack.split('\n')) {
    const place = found.length ? null : text.match(PLACE);
    const match = place ?? text.match(FRAME);
    if (!match?.groups || match.groups.place.startsWith('node:')) continue;
    const file = host.shown(match.groups.place);
    found.push({
      function: (match.groups.name ?? '').replace(/^async /, ''),
      file,
      line: Number(match.groups.line),
      column: match.groups.column === undefined ? null : Number(match.groups.column),
      of: host.of(match.groups.place),
    });
  }
  const user = found.findIndex(frame => frame.of === 'user');
  return user < 0 ? found : found.slice(user);
}
