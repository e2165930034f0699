import assert from 'node:assert/strict';
import test from 'node:test';

import {Ledger} from '../../js/ledger/ledger.mjs';
import {classifier} from '../../js/models/classifier.mjs';
import {makeData} from '../../js/models/data.mjs';
import {collected, ledger, tf} from './tfjs.mjs';

/**
 * The ledger and the engine agree on how many tensors there are, and the buffers hold that many bytes.
 * @param {number} tensors @param {number} bytes
 */
function holds(tensors, bytes) {
  assert.deepEqual(
    {live: ledger.size, engine: tf.memory().numTensors, buffer_bytes: ledger.bufferBytes()},
    {live: tensors, engine: tensors, buffer_bytes: bytes});
}

test('nothing is alive before the first tensor', () => holds(0, 0));

test('plain tensors count with the bytes of their dtype', () => {
  const made = [tf.zeros([3, 5]), tf.tensor1d([1, 2, 3], 'int32'), tf.tensor1d([true, false, true], 'bool'), tf.scalar(1)];
  holds(4, 3 * 5 * 4 + 3 * 4 + 3 + 4);
  made[0].dispose();
  holds(3, 3 * 4 + 3 + 4);
  tf.dispose(made);
  holds(0, 0);
});

test('an empty tensor is a tensor without bytes', () => {
  const empty = tf.zeros([0, 4]);
  holds(1, 0);
  empty.dispose();
  holds(0, 0);
});

test('clones and reshapes share a buffer, which lives as long as one of them', () => {
  const first = tf.zeros([4, 4]);
  const clone = first.clone();
  const flat = first.reshape([16]);
  holds(3, 64);
  first.dispose();
  holds(2, 64);
  clone.dispose();
  holds(1, 64);
  flat.dispose();
  holds(0, 0);
});

test('a cast that shares its buffer has the bytes of what is really there', () => {
  const flags = tf.tensor1d([true, false, true], 'bool');
  const numbers = flags.cast('float32');
  holds(2, 3);
  tf.dispose([flags, numbers]);
  holds(0, 0);
});

test('an operation makes a buffer of its own', () => {
  const x = tf.ones([2, 2]);
  const y = x.add(1);
  holds(2, 32);
  tf.dispose([x, y]);
  holds(0, 0);
});

test('a variable shares the buffer of its initial value, until it is assigned another', () => {
  const initial = tf.zeros([8]);
  const variable = tf.variable(initial, true, 'ledger/variable');
  holds(2, 32);
  const other = tf.zeros([8]);
  holds(3, 64);
  variable.assign(other);
  holds(3, 64);
  initial.dispose();
  holds(2, 32);
  variable.dispose();
  holds(1, 32);
  other.dispose();
  holds(0, 0);
});

test('a second dispose changes nothing', () => {
  const one = tf.zeros([2]), shared = one.clone();
  one.dispose();
  one.dispose();
  holds(1, 8);
  shared.dispose();
  const variable = tf.variable(tf.zeros([2]));
  tf.engine().disposeTensor(variable);
  assert.equal(ledger.size, 1);
  tf.engine().disposeTensor(variable);
  // The engine takes the second one from whoever shares the buffer: tf.memory() says 0 now.
  assert.equal(ledger.size, 1, 'the initial value is still alive');
  assert.equal(ledger.bufferBytes(), 8);
});

test('a tidy takes what was made in it, but for what is returned, kept or a variable', () => {
  const before = ledger.size, bytes = ledger.bufferBytes() ?? NaN;
  /** @type {any} */
  let kept;
  /** @type {any} */
  let variable;
  const returned = tf.tidy(() => {
    kept = tf.keep(tf.zeros([3]));
    variable = tf.variable(tf.zeros([5]));
    tf.tidy(() => tf.ones([100]).square());
    return tf.ones([7]).add(1);
  });
  assert.equal(ledger.size, before + 3);
  assert.equal(ledger.bufferBytes(), bytes + (3 + 5 + 7) * 4);
  tf.dispose([kept, variable, returned]);
  assert.equal(ledger.size, before);
});

test('strings count with the bytes of their text, complex numbers with both parts', () => {
  const before = ledger.size, bytes = ledger.bufferBytes() ?? NaN;
  const words = tf.tensor1d(['a', 'éé', '']);
  assert.equal(ledger.bufferBytes(), bytes + 1 + 4 + 0);
  const same = words.reshape([3, 1]);
  assert.equal(ledger.bufferBytes(), bytes + 5);
  const complex = tf.complex([1, 2], [3, 4]);
  assert.equal(ledger.bufferBytes(), bytes + 5 + 2 * 8);
  assert.equal(ledger.size, before + 3);
  tf.dispose([words, same, complex]);
  assert.equal(ledger.size, before);
  assert.equal(ledger.bufferBytes(), bytes);
});

test('a kernel that throws in the middle of a tidy leaves nothing in the ledger', () => {
  tf.registerKernel({
    kernelName: 'Broken',
    backendName: 'cpu',
    kernelFunc(/** @type {any} */ {backend}) {
      backend.makeTensorInfo([4], 'float32', new Float32Array(4));
      throw new Error('broken on purpose');
    },
  });
  const before = ledger.size, bytes = ledger.bufferBytes(), {numTensors} = tf.memory();
  assert.throws(() => tf.tidy(() => {
    const x = tf.ones([2, 2]).square();
    tf.engine().runKernel('Broken', {x});
  }), /broken on purpose/);
  assert.deepEqual([ledger.size, ledger.bufferBytes(), tf.memory().numTensors], [before, bytes, numTensors]);
});

test('gradients leave what they return, training leaves what the optimizer owns', async () => {
  const before = ledger.size, bytes = ledger.bufferBytes() ?? NaN, behind = tf.memory().numTensors - before;
  const agrees = () => assert.equal(tf.memory().numTensors - behind, ledger.size);
  const x = tf.ones([6]);
  const gradient = tf.grad((/** @type {any} */ t) => t.square().sum())(x);
  agrees();
  assert.equal(ledger.size, before + 2);
  assert.equal(ledger.bufferBytes(), bytes + 2 * 24);
  tf.dispose([x, gradient]);

  const {classifier: data, extractor} = makeData(tf);
  const model = classifier(tf);
  const weights = 814120, made = ledger.size, held = ledger.bufferBytes() ?? NaN;
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  agrees();
  // Adam: two accumulated powers, and two moments of every weight.
  assert.equal(ledger.size, made + 2 + 8);
  assert.equal(ledger.bufferBytes(), held + 2 * 4 + 2 * weights);
  model.dispose();
  agrees();
  assert.equal(ledger.bufferBytes(), held - weights);
  tf.dispose([data, extractor]);
  agrees();
  assert.equal(ledger.bufferBytes(), bytes);
});

test('what was made since a mark and is alive is told, like ones together', () => {
  const old = tf.zeros([2]);
  const mark = ledger.mark();
  assert.deepEqual(ledger.since(mark), []);
  const like = {count: 1, shape: [2], dtype: 'float32', bytes: 8, name: null, kept: false, reachable: true};
  const zeros = [[[2]], [[2]], [[2]], [[2, 1]], [[2], 'int32'], [[3], 'bool']];
  const made = zeros.map(([shape, dtype]) => tf.zeros(shape, dtype));
  made.push(tf.variable(made[0], true, 'ledger/named'));
  tf.zeros([9]).dispose();
  const told = () => ledger.since(mark).map(({stack: _, ...live}) => live);
  assert.deepEqual(told(), [
    {...like, count: 3},
    {...like, shape: [2, 1]},
    {...like, dtype: 'int32'},
    {...like, shape: [3], dtype: 'bool', bytes: 3},
    {...like, name: 'ledger/named'},
  ]);
  const later = ledger.mark();
  made[0].dispose();
  assert.deepEqual(ledger.since(later), []);
  assert.equal(told()[0].count, 2);
  tf.dispose([old, ...made]);
  assert.deepEqual(ledger.since(mark), []);
});

test('a ledger keeps neither tensors nor their data alive', async () => {
  const before = ledger.size;
  const [tensor, data] = (() => {
    const values = new Float32Array([1, 2, 3]);
    const dropped = tf.tensor1d(values);
    return [new WeakRef(dropped), new WeakRef(values)];
  })();
  await collected();
  assert.equal(tensor.deref(), undefined);
  assert.equal(data.deref(), undefined);
  assert.equal(ledger.size, before + 1, 'nobody disposed of it, so it stays in the ledger');
  assert.equal(ledger.since(ledger.mark() - 1)[0].bytes, 12);
});

for (const creation of ['registerTensor', 'incRef', 'trackTensor']) {
  test(`an engine that calls ${creation} for a new tensor is followed`, () => {
    const engine = new Engine(creation);
    const own = new Ledger(engine);
    const dataId = {};
    const made = [1, 2].map(id => engine.make({id, shape: [4], size: 4, dtype: 'float32', dataId}));
    assert.deepEqual([own.size, own.bufferBytes()], [2, 16]);
    assert.deepEqual(engine.seen, made, 'the engine does what it did');
    engine.disposeTensor(made[0]);
    assert.deepEqual([own.size, own.bufferBytes()], [1, 16]);
    engine.disposeTensor(made[1]);
    assert.deepEqual([own.size, own.bufferBytes()], [0, 0]);
  });
}

test('of the methods that one engine has, the newest is followed alone', () => {
  const engine = new Engine('incRef', 'trackTensor');
  const own = new Ledger(engine);
  engine.make({id: 1, shape: [], size: 1, dtype: 'float32', dataId: {}});
  assert.equal(own.mark(), 1);
});

test('an engine with none of the known methods is refused', () => {
  assert.throws(() => new Ledger({disposeTensor() {}}), /none of: trackTensor, incRef, registerTensor/);
});

test('bytes that cannot be known are null, and so is a sum with them', () => {
  const engine = new Engine('trackTensor');
  const own = new Ledger(engine);
  engine.make({id: 1, shape: [2], size: 2, dtype: 'float32', dataId: {}});
  const words = engine.make({id: 2, shape: [2], size: 2, dtype: 'string', dataId: {}});
  assert.equal(own.bufferBytes(), null);
  assert.deepEqual(own.since(1).map(({bytes}) => bytes), [null]);
  engine.disposeTensor(words);
  assert.equal(own.bufferBytes(), 8);
});

/** The part of an engine that a ledger touches. */
class Engine {
  /** @type {object[]} */
  seen = [];
  numTensors = 0;
  /** @type {{track: object[]}[]} */
  scopeStack = [];
  /** @type {string[]} */
  #calls;

  /** @param {string[]} calls  the methods that it calls for a new tensor */
  constructor(...calls) {
    this.#calls = calls;
    for (const name of calls) /** @type {any} */ (this)[name] = (/** @type {object} */ tensor) => this.seen.push(tensor);
  }

  /** @template {object} T @param {T} tensor @returns {T} */
  make(tensor) {
    this.numTensors += 1;
    for (const name of this.#calls) /** @type {any} */ (this)[name](tensor);
    return tensor;
  }

  disposeTensor(/** @type {object} */ _) {
    this.numTensors -= 1;
  }
}
