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
  const {name, message, stack} = error instanceof Error ? error : {name: typeof error, message: error, stack: ''};
  const words = text(message);
  // A message can quote a stack, of another error or of another process.
  const lines = text(stack).replace(`: ${words}`, '').split('\n');
  return {type: error?.constructor?.name ?? name, message: words, checkpoint: null, stack: frames(lines, host)};
}

/** @param {unknown} value  anything at all can be thrown, and not all of it can be made a string */
function text(value) {
  try {
    // What is half a character can be in a string, and not in a message.
    return String(value).replace(/\p{Surrogate}/gu, '\ufffd');
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/**
 * @param {string[]} lines
 * @param {{of: (file: string) => string, shown: (place: string) => string}} host
 */
function frames(lines, host) {
  /** @type {any[]} */
  const found = [];
  for (const [index, line] of lines.entries()) {
    const match = line.match(index === 0 ? PLACE : FRAME);
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
