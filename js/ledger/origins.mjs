// Where tensors were made. A stack is captured cheaply, as V8 keeps it, and written out later, and only for tensors that
// are still alive then. Until it is written out it keeps alive whatever its functions were called on: so it is written
// out before anything is collected, and before there are many.

/** Frames that a stack has: in a layers model's predict, the user's line is up to 51 above a kernel's. */
export const FRAMES = 100;

/** Stacks that may wait to be written out. */
const WAITING = 512;

/**
 * @typedef {object} Explained  what has an origin
 * @property {boolean} alive
 * @property {{stack?: string} | string | null} origin  as captured, and then as written out
 */

/** Captures the stack above a function. @param {Function} above @returns {{stack?: string}} */
export function capture(above) {
  const limit = Error.stackTraceLimit;
  const raised = limit !== FRAMES && raise();
  const captured = {};
  if (Error.captureStackTrace) Error.captureStackTrace(captured, above);
  else Object.assign(captured, {stack: new Error().stack});
  if (raised && limit === undefined) Reflect.deleteProperty(Error, 'stackTraceLimit');
  else if (raised) Error.stackTraceLimit = limit;
  return captured;
}

/** Lets stacks be as long as they have to be; says false where a page has frozen how long they are. */
function raise() {
  try {
    Error.stackTraceLimit = FRAMES; // Reflect.set, which does not throw, is many times slower
    return true;
  } catch {
    return false;
  }
}

/**
 * What a stack is written out as. Some surroundings leave it as the list of its frames.
 * @param {unknown} stack
 */
function textOf(stack) {
  return Array.isArray(stack) ? stack.map(frame => `\n    at ${frame}`).join('') : String(stack ?? '');
}

/** Tells frames apart, without asking where their lines are. @param {any} site */
function keyOf(site) {
  return `${site.getScriptNameOrSourceURL()}:${site.getPosition()}:${site.getFunctionName()}`;
}

/**
 * Writes a stack out as the surroundings do, such as a test runner that knows what code was compiled from. That takes them
 * hundreds of microseconds: they are asked once for stacks of the same frames.
 * @param {{stack?: unknown}} captured
 * @param {Map<string, string>} known  what they have written before
 * @returns {string}
 */
function mapped(captured, known) {
  const theirs = Error.prepareStackTrace;
  const replaced = typeof theirs === 'function' && Reflect.set(Error, 'prepareStackTrace', (
    /** @type {Error} */ error, /** @type {any[]} */ sites,
  ) => {
    const key = sites.map(keyOf).join('\n');
    const text = known.get(key) ?? textOf(theirs.call(Error, error, sites));
    known.set(key, text);
    return text;
  });
  try {
    return textOf(captured.stack);
  } catch {
    return '';
  } finally {
    if (replaced) Error.prepareStackTrace = theirs;
  }
}

/** Writes a stack out as V8 does, whatever a page has told it to do. @param {{stack?: unknown}} captured  @returns {string} */
function written(captured) {
  const theirs = Error.prepareStackTrace;
  const replaced = theirs !== undefined && Reflect.set(Error, 'prepareStackTrace', undefined);
  try {
    return typeof captured.stack === 'string' ? captured.stack : '';
  } catch {
    return '';
  } finally {
    if (replaced) Error.prepareStackTrace = theirs;
  }
}

export class Origins {
  #written;
  /** @type {Explained[]} */
  #waiting = [];
  /** @type {Map<string, string>} each text once, since many tensors are made in one place */
  #texts = new Map();
  /** @type {Map<string, string>} by the frames, what the surroundings have written */
  #known = new Map();

  /** @param {{mapped?: boolean}} [options]  whether the surroundings write stacks out */
  constructor(options = {}) {
    this.#written = options.mapped ? mapped : written;
  }

  /** @param {Explained} entry @param {{stack?: string}} captured */
  explain(entry, captured) {
    entry.origin = captured;
    this.#waiting.push(entry);
    if (this.#waiting.length <= WAITING) return;
    this.#waiting = this.#waiting.filter(({alive}) => alive);
    if (this.#waiting.length > WAITING / 2) this.write();
  }

  /** Writes out the stacks of what is still alive. */
  write() {
    for (const entry of this.#waiting) {
      if (entry.alive && entry.origin !== null && typeof entry.origin === 'object') {
        entry.origin = this.#once(this.#written(entry.origin, this.#known));
      }
    }
    this.#waiting = [];
  }

  clear() {
    this.#waiting = [];
    this.#texts.clear();
    this.#known.clear();
  }

  /** @param {string} text */
  #once(text) {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
