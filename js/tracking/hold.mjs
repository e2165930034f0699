// Holds code to releasing every tensor that it makes: from where a hold is begun to where it is ended.

import {shared} from '../ledger/shared.mjs';
import {capture} from '../ledger/origins.mjs';
import {isTensor} from '../release/owned.mjs';
import {at} from './places.mjs';
import {amount, listed} from './report.mjs';
import {TensorLedger} from './track.mjs';

/**
 * @typedef {object} Options
 * @property {any} [tf]  the TensorFlow.js whose tensors count; by default those of every copy that there is or will be
 * @property {number} [limit]  how many tensors may be left; by default none
 * @property {(RegExp | string)[]} [ignore]  what was made where one of these is found on the stack does not count
 * @property {() => void} [collect]  forces a garbage collection, asked only where something is left, so that it can be told what
 *   nothing refers to any more; by default gc, where Node.js or the browser was started so that it is there
 */

const OPTIONS = ['tf', 'limit', 'ignore', 'collect'];

/** @param {any} options  what was given as such */
function check(options) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw new TypeError('the options are an object');
  const unknown = Object.keys(options).filter(option => !OPTIONS.includes(option));
  if (unknown.length > 0) throw new TypeError(`there is no option ${unknown.join(', ')}; there are: ${OPTIONS.join(', ')}`);
  const {limit = 0, ignore = [], collect} = options;
  if (!(Number.isInteger(limit) && limit >= 0)) throw new TypeError('limit is how many tensors may be left: a whole number, 0 or more');
  if (!(Array.isArray(ignore) && ignore.every(isPattern))) throw new TypeError('ignore is a list of regular expressions and strings');
  if (collect !== undefined && typeof collect !== 'function') throw new TypeError('collect is a function that forces a garbage collection');
}

/** @param {any} pattern */
function isPattern(pattern) {
  return typeof pattern === 'string' || typeof pattern?.exec === 'function';
}

/**
 * What several copies of this module know of a hold.
 * @typedef {object} Known
 * @property {boolean} isTest  whether it is all of a test, with its hooks
 * @property {string | undefined} name  that test's, in full, where tests may have tests inside
 * @property {Known | undefined} parent  the hold that it was begun in
 * @property {boolean} overlapped  whether another one was open that is neither around it nor inside it
 */

/** The holds that have not ended, in the order in which they were begun. @type {Known[]} */
const open = shared('holds', () => []);

/** Tells which hold the present code runs in, in Node.js since 20.16: so holds that run at the same time are known from nested ones. */
const context = shared('context', () => {
  const {AsyncLocalStorage} = /** @type {any} */ (globalThis).process?.getBuiltinModule?.('node:async_hooks') ?? {};
  return AsyncLocalStorage ? new AsyncLocalStorage() : null;
});

export class TensorLeakError extends Error {
  #left;

  /**
   * @param {string} message
   * @param {{live: import('./track.mjs').Left[], count: number, bytes: number | null, stack: string}} left
   */
  constructor(message, {stack, ...left}) {
    super(message);
    this.#left = left;
    this.stack = `${this.name}: ${message}\n${stack}`;
  }

  get name() {
    return 'TensorLeakError';
  }

  /** What is left, like ones from one place grouped, the most bytes first. */
  get live() {
    return this.#left.live;
  }

  /** How many tensors that is. */
  get count() {
    return this.#left.count;
  }

  /** Their bytes; null where TensorFlow.js does not tell. */
  get bytes() {
    return this.#left.bytes;
  }

  /** What a reporter is to show: not all of `live`, which the message tells. */
  toJSON() {
    const {name, message, stack} = this;
    return {name, message, stack};
  }
}

/** What is held, and all that is made meanwhile. */
export class Hold {
  #options;
  #of;
  #ledger;
  #asked;
  /** @type {Known} */
  #known;

  /**
   * @param {Options} options
   * @param {{of: string, isTest?: boolean, name?: string, above?: Function}} what  `of`: what is held, for the message; `isTest` and
   *   `name`: as in Known; `above`: the function that was asked for it
   */
  constructor(options, {of, isTest = false, name, above}) {
    check(options);
    this.#options = options;
    this.#of = of;
    this.#ledger = new TensorLedger(options.tf);
    this.#asked = above && capture(above);
    this.#known = {isTest, name, parent: context?.getStore(), overlapped: false};
    for (const other of open) if (!mayBeInside(this.#known, other)) meet(this.#known, other);
    open.push(this.#known);
  }

  /** Runs a function inside. @template T @param {() => T} fn @returns {T} */
  run(fn) {
    return context ? context.run(this.#known, fn) : fn();
  }

  /** Where something is left, lets what nothing refers to any more be collected, if that can be done. */
  async settle() {
    const collect = this.#options.collect ?? /** @type {any} */ (globalThis).gc;
    if (this.#ledger.count === 0 || typeof collect !== 'function') return;
    await turn();
    try {
      collect();
    } catch (error) {
      console.warn('tensorledger: garbage could not be collected:', error); // what is left is told all the same
    }
  }

  /**
   * Ends it.
   * @param {unknown} [returned]  what the function has returned
   * @param {{isHanded?: boolean}} [options]  whether somebody gets that: then the tensors in it are theirs, and do not count
   * @returns {TensorLeakError | null}  what is wrong
   */
  end(returned, {isHanded = false} = {}) {
    close(this.#known);
    try {
      return this.#judged(returned, isHanded);
    } finally {
      this.#ledger.stop();
    }
  }

  /** @param {unknown} returned @param {boolean} isHanded */
  #judged(returned, isHanded) {
    const {limit = 0, ignore = []} = this.#options;
    /** @type {import('./track.mjs').Which} */
    const wanted = ignore.length > 0 ? {wanted: stack => !ignore.some(pattern => isIn(stack ?? '', pattern))} : {};
    const others = {...wanted, except: this.#ledger.count > 0 ? tensorsIn(returned) : []};
    const which = isHanded ? others : wanted;
    const live = this.#ledger.left(which), bytes = this.#ledger.bytesOf(which), disagreements = this.#ledger.disagreements();
    const count = sum(live), dropped = count - sum(this.#ledger.left(others));
    if (count <= limit) {
      for (const told of disagreements) console.warn(`tensorledger: nothing is left, but ${told}`);
      return null;
    }
    const them = count === 1 ? 'it' : 'them';
    const message = [
      `${amount(count, bytes)}, ${count === 1 ? 'is left that was' : 'are left that were'} made inside ${this.#of}${limit > 0 ? `; up to ${limit} may be` : ''}`,
      ...listed(live),
      ...disagreements,
      ...dropped > 0 ? [`What the function returned, which nobody gets here, has ${dropped} of these; expectNoLeaks hands it on.`] : [],
      ...this.#known.overlapped ? ['Other code that is held to this ran at the same time: what is told here may be its. Run one after the other to know.'] : [],
      `Dispose of ${them}, or make ${them} inside tf.tidy${isHanded ? `, or return ${them}: what the function returns is its caller's` : ''}.`,
    ].join('\n');
    return new TensorLeakError(message, {live, count, bytes, stack: this.#stackOf(live)});
  }

  /** What a runner is to point at: who asked, or else the line that made the most. @param {import('./track.mjs').Left[]} live */
  #stackOf([most]) {
    const asked = this.#asked?.stack;
    if (typeof asked === 'string') return asked.split('\n').slice(1).join('\n');
    return most.stack.map(frame => `    at ${at(frame)}`).join('\n');
  }
}

/** @param {Known} hold @param {Known} other  one that is open */
function mayBeInside(hold, other) {
  if (hold.isTest && other.isTest) return hold.name?.startsWith(`${other.name} > `) ?? false;
  if (context === null || other.isTest) return true;
  for (let around = hold.parent; around !== undefined; around = around.parent) if (around === other) return true;
  return false;
}

/**
 * Takes a hold out of those that are open, and tells it and those that were begun after it of each other. Where it is a test's,
 * and no other test ran meanwhile, those were begun inside it: a function that timed out never ends its own.
 * @param {Known} hold
 */
function close(hold) {
  const index = open.indexOf(hold);
  if (index < 0) return;
  const later = open.splice(index).slice(1);
  if (!(hold.isTest && !hold.overlapped && later.every(({isTest}) => !isTest))) {
    for (const other of later) meet(hold, other);
    open.push(...later);
  }
}

/** @param {Known} one @param {Known} other */
function meet(one, other) {
  one.overlapped = true;
  other.overlapped = true;
}

/** @param {import('./track.mjs').Left[]} live */
function sum(live) {
  return live.reduce((total, {count}) => total + count, 0);
}

/** @param {string} stack @param {RegExp | string} pattern */
function isIn(stack, pattern) {
  return typeof pattern === 'string' ? stack.includes(pattern) : stack.search(pattern) >= 0;
}

/**
 * Lets the event loop turn once: what a WeakRef was made of is held until then. Test runners replace timers, but not this.
 * @returns {Promise<void>}
 */
function turn() {
  return new Promise(resolve => {
    if (typeof MessageChannel === 'undefined') return resolve();
    const {port1, port2} = /** @type {any} */ (new MessageChannel());
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    return port2.postMessage(null);
  });
}

/**
 * The tensors in a value, where tf.tidy looks for them too: in objects and arrays, and what is in them, such as the weights of
 * a model.
 * @param {unknown} value
 */
function tensorsIn(value) {
  const seen = new Set();
  const tensors = new Set();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = /** @type {any} */ (waiting.pop());
    if (next === null || typeof next !== 'object' || seen.has(next)) continue;
    seen.add(next);
    try {
      if (isTensor(next)) tensors.add(next);
      else for (const held of inside(next)) waiting.push(held);
    } catch {
      // a proxy, or what has getters, may throw when it is looked into
    }
  }
  return tensors;
}

/** What an object has itself; a getter is not asked. @param {object} value @returns {Iterable<unknown>} */
function inside(value) {
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  if (Array.isArray(value) || value instanceof Set) return value;
  return ArrayBuffer.isView(value) ? [] : Object.values(Object.getOwnPropertyDescriptors(value)).map(({value: held}) => held);
}

/**
 * Adds to what a test or a function has thrown that something is left; the thrown stays what it is, and comes first.
 * @param {any} thrown @param {TensorLeakError} leak
 */
export function tellAfter(thrown, leak) {
  const told = `\nBesides, ${leak.message}`;
  try {
    const {message, stack} = thrown;
    if (!(typeof message === 'string' && typeof stack === 'string')) throw new TypeError();
    const start = message === '' ? stack.search(/$/m) : stack.indexOf(message), end = start < 0 ? -1 : start + message.length;
    thrown.message = message + told;
    if (end >= 0) thrown.stack = stack.slice(0, end) + told + stack.slice(end);
  } catch {
    console.error(`tensorledger:${told}`); // what was thrown is no error, or cannot be changed
  }
}

/**
 * @template T
 * @typedef {{value: T, leak: TensorLeakError | null}} Outcome  what a function has returned, and what is wrong
 */

/**
 * Runs a function inside a hold, and ends that: at once where the function is not async. What the function throws is thrown
 * on, and what it has left is told after it.
 * @param {Hold} hold
 * @param {() => any} fn
 * @param {{isHanded?: boolean}} [options]
 * @returns {Outcome<any> | Promise<Outcome<any>>}
 */
export function judge(hold, fn, options) {
  const failed = (/** @type {unknown} */ error) => {
    try {
      const leak = hold.end();
      if (leak) tellAfter(error, leak);
    } catch (ours) {
      console.error('tensorledger: what was left cannot be told:', ours); // and what was thrown comes first
    }
    return error;
  };
  let returned, isLater;
  try {
    returned = hold.run(fn);
    isLater = typeof returned?.then === 'function';
  } catch (error) {
    throw failed(error);
  }
  if (!isLater) return {value: returned, leak: hold.end(returned, options)};
  // Not its own `then`: what that returns need not be a promise, or is one of Node.js's where a runner has another Promise.
  return Promise.resolve(returned).then(
    async (/** @type {any} */ value) => {
      await hold.settle();
      return {value, leak: hold.end(value, options)};
    },
    async (/** @type {unknown} */ error) => {
      await hold.settle();
      throw failed(error);
    });
}

/**
 * Begins a hold of a whole test, from before its hooks to after them.
 * @param {Options} options
 * @param {string} [name]  the test's, in full, where tests may have tests inside
 */
export const holdOfTest = (options, name) => new Hold(options, {of: 'this test', isTest: true, name});

/**
 * Whether something is a function that can be run: one that makes a generator runs nothing by itself.
 * @param {unknown} fn @returns {fn is Function}
 */
export function canBeHeld(fn) {
  return typeof fn === 'function' && !Object.prototype.toString.call(fn).endsWith('GeneratorFunction]');
}

/**
 * Begins a hold of a function that was given.
 * @param {unknown} fn @param {Options} options @param {Function} above  who was asked
 */
export function holdOf(fn, options, above) {
  if (!canBeHeld(fn)) throw new TypeError(`${above.name} takes a function, such as () => model.predict(x), and no generator, and not what it returns`);
  return new Hold(options, {of: fn.name ? `${fn.name}()` : 'the function', above});
}

/**
 * Runs a function and holds it to releasing every tensor that it makes. Tensors in what it returns are its caller's, and do not
 * count. A function that throws has that thrown on, and what it has left told after it.
 * @template T
 * @param {() => T} fn  may be async
 * @param {Options} [options]
 * @returns {Promise<Awaited<T>>}  what it returns
 */
export async function expectNoLeaks(fn, options = {}) {
  const {value, leak} = await judge(holdOf(fn, options, expectNoLeaks), async () => fn(), {isHanded: true});
  if (leak) throw leak;
  return value;
}
