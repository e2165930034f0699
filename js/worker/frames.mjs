// A stack as V8 writes it, in the protocol's frames, traced back through source maps to what people wrote.

/** A line of a V8 stack: "at name (place:line:column)" or "at place:line:column". */
const FRAME = /^\s*at (?:(?<name>.*?) \()?(?:async )?(?<place>.+?):(?<line>\d+):(?<column>\d+)\)?$/;

/** Where V8 says a file could not be parsed: the first line of the stack. */
const PLACE = /^(?<place>(?:file:\/\/|\/).+?):(?<line>\d+)$/;

/**
 * @typedef {object} Place
 * @property {string} place  a URL or a path
 * @property {number} line  from 1
 * @property {number | null} column  from 1
 *
 * @typedef {object} Reader  what a host knows of source files
 * @property {(place: Place) => Place} original  what a place in generated code was made of; itself where that is not known
 * @property {(place: string) => string} of  whose a file is: "user", "library" or "harness"
 * @property {(place: string) => string} shown  a file as people read it
 */

/**
 * All frames of a stack, the innermost first.
 * @param {string[]} lines
 * @param {Reader} host
 */
export function frames(lines, host) {
  const found = [];
  for (const [index, line] of lines.entries()) {
    const match = (index === 0 ? line.match(PLACE) : null) ?? line.match(FRAME);
    // What eval has made has no file; the frame that called it has.
    if (!match?.groups || /^node:|<anonymous>$|^eval at /.test(match.groups.place)) continue;
    const {name, place, line: row, column} = match.groups;
    const at = host.original({place, line: Number(row), column: column === undefined ? null : Number(column)});
    found.push({
      function: (name ?? '').replace(/^async /, ''),
      file: host.shown(at.place),
      line: at.line,
      column: at.column,
      of: host.of(at.place),
    });
  }
  return found;
}

/**
 * The frames from the user's innermost on; all where none is the user's.
 * @template {{of: string}} T
 * @param {T[]} all
 */
export function fromUser(all) {
  const user = all.findIndex(frame => frame.of === 'user');
  return user < 0 ? all : all.slice(user);
}
