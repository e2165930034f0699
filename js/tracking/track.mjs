// The ledger of all tensors that are made from now on, on every engine of TensorFlow.js that there is or will be.
/// <reference lib="esnext.disposable" preserve="true" />

import {Ledger} from '../ledger/ledger.mjs';
import {watchEngines} from '../ledger/watch.mjs';
import {framesOf} from './places.mjs';
import {amount, listed} from './report.mjs';

/**
 * @typedef {import('./places.mjs').Frame} Frame
 *
 * @typedef {object} Left  like tensors that are alive, made in one place
 * @property {number} count
 * @property {number[]} shape
 * @property {string} dtype
 * @property {number | null} bytes  of one of them; null where TensorFlow.js does not tell
 * @property {string | null} name  of the variable
 * @property {boolean} kept  whether tf.keep was told of it
 * @property {boolean | null} reachable  false: nothing refers to it any more, so that nobody can dispose of it, which shows only
 *   once garbage was collected; null where no stack was taken
 * @property {Frame[]} stack  where it was made, from the user's innermost frame on; empty where that is not known
 *
 * @typedef {import('../ledger/ledger.mjs').Which} Which
 */

/**
 * What is searched for engines: the global object, or what stands for it where a TensorFlow.js is given. Up to 1.0 that makes
 * another engine for each backend; the layers alone do not tell theirs.
 * @param {any} tf
 */
function homeOf(tf) {
  if (typeof tf?.ENV?.registerBackend === 'function') return {ENV: tf.ENV};
  if (typeof tf?.engine === 'function') return {_tfengine: tf.engine()};
  if (tf !== undefined && typeof (tf?.tensor ?? tf?.layers) === 'undefined') {
    throw new TypeError('what was given as tf is not TensorFlow.js: import * as tf from \'@tensorflow/tfjs\', or leave it out');
  }
  return globalThis;
}

export class TensorLedger {
  /** @type {Ledger[]} */
  #ledgers = [];
  #stop;
  /** What was left when it stopped. @type {{live: Left[], bytes: number | null, disagreements: string[]} | null} */
  #last = null;

  /** @param {any} [tf] */
  constructor(tf) {
    this.#stop = watchEngines(engine => this.#ledgers.push(new Ledger(engine, {mapped: true})), homeOf(tf));
  }

  /** How many tensors are alive that were made since. */
  get count() {
    return this.#last ? this.#last.live.reduce((sum, {count}) => sum + count, 0)
      : this.#ledgers.reduce((sum, {size}) => sum + size, 0);
  }

  /** Their bytes, those of a buffer that several share counted once; null where TensorFlow.js does not tell. */
  get bytes() {
    return this.bytesOf();
  }

  /** The tensors that are alive and were made since, like ones from one place grouped, the most bytes first. */
  live() {
    return this.left();
  }

  /**
   * @internal
   * @param {Which} [which]
   * @returns {Left[]}
   */
  left(which) {
    if (this.#last) return this.#last.live;
    /** @type {Map<string, Left>} */
    const groups = new Map();
    for (const {count, stack, ...rest} of this.#ledgers.flatMap(ledger => ledger.since(0, which))) {
      // What differs only in how the runner or the library was gone through is alike.
      const like = {...rest, stack: framesOf(stack)};
      const key = JSON.stringify({...like, stack: like.stack.filter(({of}) => of === 'user')});
      groups.set(key, {...like, count: count + (groups.get(key)?.count ?? 0)});
    }
    return [...groups.values()].sort((one, other) => other.count * (other.bytes ?? 0) - one.count * (one.bytes ?? 0));
  }

  /** @internal @param {Which} [which] @returns {number | null} */
  bytesOf(which) {
    if (this.#last) return this.#last.bytes;
    const each = this.#ledgers.map(ledger => ledger.bufferBytes(0, which));
    return each.reduce((sum, bytes) => (sum === null || bytes === null ? null : sum + bytes), 0);
  }

  /** Where TensorFlow.js counts otherwise, and why; as a rule nothing. @returns {string[]} */
  disagreements() {
    return this.#last?.disagreements ?? this.#ledgers.flatMap(ledger => ledger.disagreement() ?? []);
  }

  /** All of it as text for people. @returns {string} */
  report() {
    const live = this.live();
    const {count, bytes} = this;
    const head = count === 0 ? 'no tensor is left' : `${amount(count, bytes)}, ${count === 1 ? 'is' : 'are'} left`;
    return [head, ...listed(live), ...this.disagreements()].join('\n');
  }

  /** Stops; what was left then can still be read. */
  stop() {
    if (this.#last) return;
    try {
      this.#last = {live: this.live(), bytes: this.bytes, disagreements: this.disagreements()};
    } finally {
      this.#stop();
      for (const ledger of this.#ledgers) ledger.stop();
    }
  }
}

// Only where the language has it: Node.js since 18.18, browsers since 2025.
if (Symbol.dispose) {
  Object.defineProperty(TensorLedger.prototype, Symbol.dispose, {
    value: TensorLedger.prototype.stop, writable: true, configurable: true,
  });
}

/**
 * Keeps a ledger of all tensors that are made from now on.
 * @param {any} [tf]  the TensorFlow.js whose tensors; by default those of every copy in this process or page, those too that
 *   are loaded later
 * @returns {TensorLedger & Disposable}
 */
export function track(tf) {
  return /** @type {TensorLedger & Disposable} */ (new TensorLedger(tf));
}
