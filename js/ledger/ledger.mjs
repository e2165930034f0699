// The exact set of live tensors of one TensorFlow.js engine, kept from outside by wrapping the two methods through
// which every tensor comes and goes. It holds neither tensors nor their data, so it keeps nothing alive.

/** The method that an engine calls for every new tensor, newest releases first (3.x and 4.x, 1.7 to 2.8, before). */
const CREATION = ['trackTensor', 'incRef', 'registerTensor'];

/** Bytes of one element, where every element has the same. */
const ELEMENT = {float32: 4, int32: 4, bool: 1, complex64: 8};

/**
 * @typedef {object} Buffer  a data buffer that live tensors share
 * @property {number} tensors  how many of them are alive
 * @property {number | null} bytes  null: ask the engine's own record
 * @property {{bytes: number} | undefined} info  the engine's own record; it grows as strings are written
 *
 * @typedef {object} Entry  a live tensor
 * @property {number} serial  counts up over all tensors ever made
 * @property {number[]} shape
 * @property {string} dtype
 * @property {Buffer} buffer
 */

export class Ledger {
  /** @type {Map<number, Entry>} by the tensor's id */
  #live = new Map();
  /** @type {WeakMap<object, Buffer>} by dataId; weak, because a backend may free data whose id nobody holds */
  #buffers = new WeakMap();
  #serial = 0;
  #engine;

  /**
   * Starts keeping the ledger of an engine; tensors made before are not in it.
   * @param {any} engine  see engineOf in worker/library.mjs
   */
  constructor(engine) {
    this.#engine = engine;
    const creation = CREATION.find(name => typeof engine[name] === 'function');
    if (creation === undefined) throw new Error('this TensorFlow.js engine has none of: ' + CREATION.join(', '));
    const {[creation]: create, disposeTensor} = engine;
    const ledger = this;
    engine[creation] = function(/** @type {any} */ tensor) {
      const result = create.apply(this, arguments);
      ledger.#created(tensor, this);
      return result;
    };
    engine.disposeTensor = function(/** @type {any} */ tensor) {
      const result = disposeTensor.apply(this, arguments);
      ledger.#disposed(tensor);
      return result;
    };
  }

  /** @param {any} tensor @param {any} engine */
  #created(tensor, engine) {
    const {id, shape, dtype, size, dataId} = tensor;
    let buffer = this.#buffers.get(dataId);
    if (buffer === undefined) {
      const element = ELEMENT[/** @type {keyof ELEMENT} */ (dtype)];
      buffer = {
        tensors: 0,
        bytes: element === undefined ? null : element * size,
        info: element === undefined ? engine.state?.tensorInfo?.get(dataId) : undefined,
      };
      this.#buffers.set(dataId, buffer);
    }
    buffer.tensors += 1;
    this.#serial += 1;
    this.#live.set(id, {serial: this.#serial, shape, dtype, buffer});
  }

  /** @param {any} tensor */
  #disposed(tensor) {
    const entry = this.#live.get(tensor.id);
    if (entry === undefined) return;
    entry.buffer.tensors -= 1;
    this.#live.delete(tensor.id);
  }

  /** How many tensors are alive. */
  get size() {
    return this.#live.size;
  }

  /** A mark to ask later what was made since. */
  mark() {
    return this.#serial;
  }

  /**
   * The bytes of all live buffers, each counted once; null where one of them cannot be known.
   * @returns {number | null}
   */
  bufferBytes() {
    const counted = new Set();
    let sum = 0;
    for (const {buffer} of this.#live.values()) {
      if (counted.has(buffer)) continue;
      counted.add(buffer);
      const bytes = bytesOf(buffer);
      if (bytes === null) return null;
      sum += bytes;
    }
    return sum;
  }

  /**
   * The tensors made after a mark that are still alive, like ones grouped.
   * @param {number} mark
   */
  since(mark) {
    // Asked only now: early releases make a variable's tensor before they name the variable.
    const {registeredVariables = {}} = this.#engine.state ?? this.#engine;
    const names = new Map(Object.entries(registeredVariables).map(([name, variable]) => [variable.id, name]));
    const groups = new Map();
    for (const [id, {serial, shape, dtype, buffer}] of this.#live) {
      if (serial <= mark) continue;
      const name = names.get(id) ?? null;
      const bytes = bytesOf(buffer);
      const key = JSON.stringify([shape, dtype, name, bytes]);
      const group = groups.get(key);
      if (group) group.count += 1;
      else groups.set(key, {count: 1, shape, dtype, bytes, name, reachable: null, stack: []});
    }
    return [...groups.values()];
  }
}

/** @param {Buffer} buffer */
function bytesOf({bytes, info}) {
  return bytes ?? info?.bytes ?? null;
}
