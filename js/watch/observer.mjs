// Put into every window and worker of a page before its own scripts: keeps a ledger of each engine of TensorFlow.js that comes
// to be there, and answers what `tensorledger watch` asks. js/watch/observer.js is this with all that it imports, as a plain
// script: node js/watch/bundle.mjs

import {backendOf, bytesOf, countOf} from '../ledger/engine.mjs';
import {Ledger} from '../ledger/ledger.mjs';
import {capture} from '../ledger/origins.mjs';
import {watchEngines} from '../ledger/watch.mjs';

/** Where it is asked, on the global object. */
const KEY = Symbol.for('tensorledger/watch');

/** What the watcher has put on the global object to be told that there is an engine: a worker may have ended when it asks. */
const TELL = 'tensorledger:found';

/**
 * @typedef {object} Reading  of one engine
 * @property {number} tensors
 * @property {number} bytes
 * @property {number} made  tensors that it has ever made; an engine that none was made with is one that was replaced
 * @property {string | null} backend  null where none was chosen yet
 * @property {number | null} gpu  bytes that tensors have on the GPU; null where the backend has none, or does not tell
 * @property {number | null} gpu_allocated  with those that are kept for the next ones
 * @property {string | null} disagreement  why the engine's count is not that of the live tensors
 *
 * @typedef {import('../ledger/ledger.mjs').Live & {rounds: Record<string, number>}} Left  `rounds`: how many of them each made
 */

class Watched {
  /** The serial number of the last tensor before each round. @type {[string, number][]} */
  #marks;
  #engine;
  #ledger;
  #found;

  /** @param {any} engine @param {string} round  in which it is found @param {Function} above */
  constructor(engine, round, above) {
    this.#marks = [[round, 0]];
    this.#engine = engine;
    this.#ledger = new Ledger(engine);
    /** The library was just about to put its engine where it is found. */
    this.#found = capture(above);
  }

  /** The stack of the library's script, as it made the engine. */
  get library() {
    return String(this.#found.stack ?? '');
  }

  /** Whether anything was made or disposed of since is told by these. */
  get pulse() {
    this.#ledger.settle();
    return [this.#ledger.mark(), countOf(this.#engine)];
  }

  /** @returns {Reading} */
  read() {
    const {name, memory} = backendOf(this.#engine);
    return {
      tensors: countOf(this.#engine),
      bytes: bytesOf(this.#engine),
      made: this.#ledger.mark(),
      backend: name,
      gpu: memory.numBytesInGPU ?? null,
      gpu_allocated: memory.numBytesInGPUAllocated ?? memory.numBytesAllocatedInGPU ?? null,
      disagreement: this.#ledger.disagreement(),
    };
  }

  /** @param {string} round  that begins @param {boolean} isFirst  of those that are judged */
  mark(round, isFirst) {
    if (isFirst) this.#marks = [];
    this.#marks.push([round, this.#ledger.mark()]);
  }

  /** What is alive that was made since the first round began, by round. @returns {Left[]} */
  left() {
    /** @type {Map<string, Left>} */
    const groups = new Map();
    const marks = this.#marks;
    for (const [index, [round, serial]] of marks.entries()) {
      for (const {count, name, reachable, ...like} of this.#ledger.since(serial)) {
        const key = JSON.stringify(like);
        const group = groups.get(key) ?? {...like, name, count: 0, reachable: null, rounds: {}};
        groups.set(key, group);
        group.rounds[round] = (group.rounds[round] ?? 0) + count;
        if (index > 0) {
          group.rounds[marks[index - 1][0]] -= count; // what was made since this mark was counted for those before, too
        } else {
          group.count += count;
          group.reachable = group.reachable === null ? reachable : group.reachable || reachable;
        }
      }
    }
    return [...groups.values()];
  }
}

class Observer {
  /** @type {Watched[]} */
  #engines = [];
  /** That is going on; empty before the first, and where nobody has told of one, as in a worker that a round has started. */
  #round = '';

  constructor() {
    const observer = this;
    watchEngines(function found(engine) {
      observer.#engines.push(new Watched(engine, observer.#round, found));
      /** @type {any} */ (globalThis)[TELL]?.('');
    });
  }

  /** Where it is. */
  get url() {
    return String(/** @type {any} */ (globalThis).location?.href ?? '');
  }

  pulse() {
    return this.#engines.map(engine => engine.pulse);
  }

  read() {
    return {url: this.url, engines: this.#engines.map(engine => engine.read())};
  }

  /** @param {string} round  that begins @param {boolean} isFirst  of those that are judged */
  mark(round, isFirst) {
    this.#round = round;
    for (const engine of this.#engines) engine.mark(round, isFirst);
  }

  left() {
    return this.#engines.map(engine => ({library: engine.library, left: engine.left()}));
  }
}

if (!Object.hasOwn(globalThis, KEY)) Object.defineProperty(globalThis, KEY, {value: new Observer()});
