// The exact set of live tensors of one TensorFlow.js engine, kept from outside by wrapping the methods through which every
// tensor comes and goes. It holds neither tensors nor their data, so it keeps nothing alive.

import {
  countOf, creationOf, isKept, isOutside, isVariable, recordOf, scopeOf, scopesOf, variableNames,
} from './engine.mjs';
import {Origins, capture} from './origins.mjs';
import {shared} from './shared.mjs';

/** Bytes of one element, where every element has the same. */
const ELEMENT = {float32: 4, int32: 4, bool: 1, complex64: 8};

/**
 * Which stacks are taken: none; one when a tensor escapes the scopes that would have taken it; one for every tensor as it
 * is made, which costs some 18 µs each.
 * @typedef {'none' | 'escaped' | 'all'} Stacks
 *
 * @typedef {object} Buffer  a data buffer that live tensors share
 * @property {number | null} bytes  null: ask the engine's own record
 * @property {{bytes: number} | undefined} info  the engine's own record
 *
 * @typedef {object} Live  a group of like tensors that are alive
 * @property {number} count
 * @property {number[]} shape
 * @property {string} dtype
 * @property {number | null} bytes  of one of them
 * @property {string | null} name  of the variable
 * @property {boolean} kept  whether tf.keep was told of it
 * @property {boolean | null} reachable  whether anything can still dispose of it; null where no stack was taken
 * @property {string | null} stack  as V8 writes it, from the function above TensorFlow.js's own bookkeeping on
 *
 * @typedef {object} Which  of the tensors that were made since a mark
 * @property {Iterable<any>} [except]  tensors that are left out
 * @property {(stack: string | null) => boolean} [wanted]  by where they were made
 */

/** Wrappers of ledgers that have stopped, each with what it wraps. @type {WeakMap<Function, Function>} */
const retired = shared('retired', () => new WeakMap());

/** @param {Function} method */
function notRetired(method) {
  let found = method;
  for (let inner = retired.get(found); inner !== undefined; inner = retired.get(found)) found = inner;
  return found;
}

class Entry {
  alive = true;
  kept = false;
  /** @type {{stack?: string} | string | null} */
  origin = null;
  /** @type {WeakRef<any> | null} */
  tensor = null;

  /** @param {number} serial @param {number[]} shape @param {string} dtype @param {Buffer} buffer */
  constructor(serial, shape, dtype, buffer) {
    /** Counts up over all tensors ever made. */
    this.serial = serial;
    this.shape = shape;
    this.dtype = dtype;
    this.buffer = buffer;
  }
}

export class Ledger {
  /** @type {Stacks} may be changed at any time */
  stacks;
  /** @type {Map<number, Entry | number>} by the tensor's id; only its serial number while it is in the scope it was made in */
  #live = new Map();
  /** @type {WeakMap<object, number> | null} what stands for its id, of a tensor whose id another one has that is alive */
  #aliases = null;
  /** @type {WeakMap<object, Buffer>} by dataId; weak, because a backend may free data whose id nobody holds */
  #buffers = new WeakMap();
  #origins;
  #serial = 0;
  #engine;
  /** Tensors that are alive since before the ledger was. */
  #older;
  /** The least id of a tensor made since; ids count up. */
  #first = Infinity;
  /** How many more tensors the engine has taken off its count than there were. */
  #overcounted = 0;
  /** A variable that was just taken off: given another value, it comes back at once. @type {{id: number, entry?: Entry} | null} */
  #parted = null;
  /** @type {(() => void)[]} */
  #undo = [];
  #on = true;

  /**
   * Starts keeping the ledger of an engine, at any time; tensors made before are counted, and not known otherwise.
   * @param {any} engine
   * @param {{stacks?: Stacks, mapped?: boolean}} [options]  `mapped`: stacks are written out as the surroundings do it, which
   *   may know what code was compiled from; by default as V8 does
   */
  constructor(engine, {stacks = 'escaped', mapped = false} = {}) {
    this.stacks = stacks;
    this.#origins = new Origins({mapped});
    this.#engine = engine;
    this.#older = countOf(engine);
    const ledger = this;
    const creation = creationOf(engine);

    this.#wrap(creation, create => function made(tensor, backend) {
      const result = create.call(this, tensor, backend);
      if (this === engine && ledger.#on) ledger.#made(tensor, made);
      return result;
    });
    this.#wrap('disposeTensor', dispose => function(tensor) {
      const before = countOf(engine);
      const result = dispose.call(this, tensor);
      if (this === engine && ledger.#on) ledger.#disposed(tensor, before - countOf(engine));
      return result;
    });
    this.#wrap('endScope', end => function ended(result, gradients) {
      const scope = scopeOf(engine);
      const told = end.call(this, result, gradients);
      if (this === engine && ledger.#on && scope) ledger.#ended(scope, ended);
      return told;
    });
    this.#wrap('keep', keep => function(tensor) {
      const result = keep.call(this, tensor);
      if (this === engine && ledger.#on) ledger.#kept(tensor);
      return result;
    });
    this.#wrap('reset', reset => function() {
      const result = reset.call(this);
      if (this === engine && ledger.#on) ledger.#forget();
      return result;
    });
  }

  /**
   * Wraps a method where it is, on the engine's class as a rule: an engine that gets or loses properties of its own is
   * slower for good.
   * @param {string} name
   * @param {(method: Function) => (this: any, a: any, b: any) => unknown} around
   */
  #wrap(name, around) {
    let owner = this.#engine;
    while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
    if (owner === null) return;
    const method = owner[name];
    const wrapped = around(method);
    owner[name] = wrapped;
    this.#undo.push(() => {
      retired.set(wrapped, method);
      // If another has wrapped it since, this is a plain pass, until the other stops too.
      if (owner[name] === wrapped) owner[name] = notRetired(method);
    });
  }

  /** Stops, and leaves the engine as it was. */
  stop() {
    this.#on = false;
    for (const undo of this.#undo) undo();
    this.#undo = [];
    this.#forget();
  }

  /** @param {any} tensor @param {Function} above */
  #made(tensor, above) {
    let id = this.#idOf(tensor);
    const parted = this.#parted;
    if (parted !== null && parted.id === id) {
      this.#returned(tensor, parted.entry);
      return;
    }
    this.#serial += 1;
    if (this.#live.has(id)) {
      // Several copies of tfjs-core count their ids each for itself, and may share one engine: 0.11.2 to 0.11.6 do.
      id = -this.#serial;
      this.#aliases ??= new WeakMap();
      this.#aliases.set(tensor, id);
    } else if (id < this.#first) {
      this.#first = id;
    }
    const {stacks} = this;
    if (stacks === 'all' || isVariable(tensor) || isOutside(this.#engine)) {
      const entry = this.#enter(id, tensor, this.#serial);
      if (stacks !== 'none') this.#explain(entry, tensor, capture(above));
    } else {
      // Most tensors end with the scope that they are made in: that they are alive is all that is noted.
      this.#live.set(id, this.#serial);
    }
  }

  /** A variable has another value, and is the one that it was. @param {any} tensor @param {Entry} [entry] */
  #returned(tensor, entry) {
    this.#parted = null;
    if (entry === undefined) {
      this.#older += 1;
      return;
    }
    entry.alive = true;
    entry.buffer = this.#bufferOf(tensor);
    this.#live.set(this.#idOf(tensor), entry);
  }

  /** @param {any} tensor @returns {number} */
  #idOf(tensor) {
    return this.#aliases?.get(tensor) ?? tensor.id;
  }

  /** @param {number} id @param {any} tensor @param {number} serial */
  #enter(id, tensor, serial) {
    const entry = new Entry(serial, tensor.shape, tensor.dtype, this.#bufferOf(tensor));
    this.#live.set(id, entry);
    return entry;
  }

  /** @param {any} tensor @returns {Buffer} */
  #bufferOf({dtype, size, dataId}) {
    let buffer = this.#buffers.get(dataId);
    if (buffer === undefined) {
      const element = ELEMENT[/** @type {keyof ELEMENT} */ (dtype)];
      buffer = element === undefined
        ? {bytes: null, info: recordOf(this.#engine, dataId)}
        : {bytes: element * size, info: undefined};
      this.#buffers.set(dataId, buffer);
    }
    return buffer;
  }

  /** @param {any} tensor @param {number} fewer  how many tensors the engine counts less for it */
  #disposed(tensor, fewer) {
    if (fewer <= 0) return;
    const id = this.#idOf(tensor);
    const noted = this.#live.get(id);
    if (noted !== undefined) {
      if (typeof noted === 'object') {
        noted.alive = false;
        if (isVariable(tensor)) this.#parted = {id, entry: noted};
      }
      this.#live.delete(id);
    } else if (id < this.#first && this.#older > 0) {
      this.#older -= 1;
      if (isVariable(tensor)) this.#parted = {id};
    } else {
      this.#overcounted += 1;
    }
  }

  /** What a scope that has ended did not take has escaped it. @param {any} scope @param {Function} above */
  #ended(scope, above) {
    const outside = isOutside(this.#engine);
    let captured;
    for (const tensor of scope.track) {
      const id = this.#idOf(tensor);
      const noted = this.#live.get(id);
      if (noted === undefined) continue;
      const entry = typeof noted === 'object' ? noted : this.#enter(id, tensor, noted);
      if (entry.origin !== null || this.stacks === 'none') continue;
      if (outside || isKept(this.#engine, scope, tensor)) {
        captured ??= capture(above);
        this.#explain(entry, tensor, captured);
      }
    }
  }

  /** All live tensors by id, those too that are in scopes that have not ended. @returns {Map<number, Entry>} */
  #entries() {
    for (const {track} of scopesOf(this.#engine)) {
      for (const tensor of track) {
        const id = this.#idOf(tensor);
        const noted = this.#live.get(id);
        if (typeof noted === 'number') this.#enter(id, tensor, noted);
      }
    }
    return /** @type {Map<number, Entry>} */ (this.#live);
  }

  /** @param {Entry} entry @param {any} tensor @param {{stack?: string}} captured */
  #explain(entry, tensor, captured) {
    entry.tensor = new WeakRef(tensor);
    this.#origins.explain(entry, captured);
  }

  /** @param {any} tensor */
  #kept(tensor) {
    const id = this.#idOf(tensor);
    const noted = this.#live.get(id);
    if (noted === undefined) return;
    const entry = typeof noted === 'object' ? noted : this.#enter(id, tensor, noted);
    entry.kept = true;
  }

  #forget() {
    for (const noted of this.#live.values()) if (typeof noted === 'object') noted.alive = false;
    this.#live.clear();
    this.#origins.clear();
    this.#parted = null;
    this.#aliases = null;
    this.#older = 0;
    this.#overcounted = 0;
  }

  /** How many tensors are alive that were made since the ledger was. */
  get size() {
    return this.#live.size;
  }

  /**
   * Why the engine's own count is not that of the live tensors; null where they agree.
   * @returns {string | null}
   */
  disagreement() {
    const counted = countOf(this.#engine);
    const alive = this.#live.size + this.#older;
    if (counted === alive) return null;
    const why = counted + this.#overcounted === alive
      ? `it took ${this.#overcounted} off its count for tensors that were disposed of already`
      : 'the ledger does not know why';
    return `TensorFlow.js counts ${counted} tensors, ${alive} are alive: ${why}`;
  }

  /** A mark to ask later what was made since. */
  mark() {
    return this.#serial;
  }

  /** Makes ready for a collection: afterwards nothing is kept alive by where it was made. */
  settle() {
    this.#origins.write();
  }

  /**
   * The tensors made after a mark that are still alive, with their ids.
   * @param {number} mark @param {Which} which
   * @returns {[number, Entry][]}
   */
  #since(mark, {except = [], wanted}) {
    if (wanted) this.settle();
    const excepted = new Map(Array.from(except, tensor => [this.#idOf(tensor), tensor]));
    // Another engine's tensor may have the same id.
    const isExcepted = (/** @type {number} */ id, /** @type {Entry} */ {tensor}) => (
      excepted.has(id) && (tensor === null || tensor.deref() === excepted.get(id)));
    return [...this.#entries()].filter(([id, entry]) => (
      entry.serial > mark && !isExcepted(id, entry) && (wanted?.(/** @type {string | null} */ (entry.origin)) ?? true)));
  }

  /**
   * The bytes of all live buffers, each counted once; null where one of them cannot be known.
   * @param {number} [mark]
   * @param {Which} [which]
   * @returns {number | null}
   */
  bufferBytes(mark = 0, which = {}) {
    const counted = new Set();
    let sum = 0;
    for (const [, {buffer}] of this.#since(mark, which)) {
      if (counted.has(buffer)) continue;
      counted.add(buffer);
      const bytes = bytesOf(buffer);
      if (bytes === null) return null;
      sum += bytes;
    }
    return sum;
  }

  /**
   * The tensors made after a mark that are still alive, like ones from the same place grouped.
   * @param {number} [mark]
   * @param {Which} [which]
   * @returns {Live[]}
   */
  since(mark = 0, which = {}) {
    this.settle();
    // Asked only now: early releases make a variable's tensor before they name the variable.
    const names = variableNames(this.#engine);
    /** @type {Map<string, Live>} */
    const groups = new Map();
    for (const [id, {shape, dtype, buffer, kept, origin, tensor}] of this.#since(mark, which)) {
      const stack = /** @type {string | null} */ (origin);
      const name = names.get(id) ?? null;
      const reachable = tensor && tensor.deref() !== undefined;
      const bytes = bytesOf(buffer);
      const key = JSON.stringify([shape, dtype, name, bytes, kept, reachable, stack]);
      const group = groups.get(key);
      if (group) group.count += 1;
      else groups.set(key, {count: 1, shape, dtype, bytes, name, kept, reachable, stack});
    }
    return [...groups.values()];
  }
}

/** @param {Buffer} buffer */
function bytesOf({bytes, info}) {
  return bytes ?? info?.bytes ?? null;
}
