// Where tensors were made, and what a ledger lives through: late starts, other ledgers, resets, other backends, errors.

import assert from 'node:assert/strict';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {isOutside} from '../../js/ledger/engine.mjs';
import {Ledger} from '../../js/ledger/ledger.mjs';
import {watchEngines} from '../../js/ledger/watch.mjs';
import {collected, ledger, tf} from './tfjs.mjs';

const HERE = fileURLToPath(import.meta.url);
const engine = tf.engine();

/** The functions of this file in a stack, the innermost first. @param {string | null} stack */
const mine = stack => (stack ?? '').split('\n').filter(line => line.includes(HERE)).map(line => line.match(/at (?:async )?(\S+)/)?.[1]);

/** @param {Ledger} own @param {number} mark */
const onlyOne = (own, mark) => {
  const [live, ...others] = own.since(mark);
  assert.deepEqual(others, []);
  return live;
};

test('the stack of what escapes names the function that made it, and its callers', () => {
  const mark = ledger.mark();
  function maker() {
    return tf.tidy(() => tf.ones([2]).square());
  }
  function caller() {
    return maker();
  }
  const made = caller();
  assert.deepEqual(mine(onlyOne(ledger, mark).stack).slice(0, 2), ['maker', 'caller']);
  made.dispose();
});

test('after an await the stack still names the function', async () => {
  const mark = ledger.mark();
  async function later() {
    await Promise.resolve();
    return tf.ones([2]);
  }
  const made = await later();
  assert.equal(mine(onlyOne(ledger, mark).stack)[0], 'later');
  made.dispose();
});

test('what an inner scope returns to one that takes it leaves nothing, and what it returns further has one stack', () => {
  const mark = ledger.mark();
  const made = tf.tidy(() => {
    const inner = tf.tidy(() => [tf.ones([1]), tf.ones([2])]);
    return inner[1];
  });
  assert.deepEqual(onlyOne(ledger, mark).shape, [2]);
  made.dispose();
});

test('what is in a scope that has not ended is alive, and has no stack yet', () => {
  const mark = ledger.mark(), bytes = ledger.bufferBytes() ?? NaN;
  engine.startScope('open');
  tf.ones([3]);
  const {shape, stack, reachable} = onlyOne(ledger, mark);
  assert.deepEqual({shape, stack, reachable}, {shape: [3], stack: null, reachable: null});
  assert.equal(ledger.bufferBytes(), bytes + 12);
  engine.endScope();
  assert.deepEqual(ledger.since(mark), []);
});

test('the scope that early releases never end is none that a tensor could escape', () => {
  for (const [engine_, outside] of /** @type {[object, boolean][]} */ ([
    [{state: {scopeStack: []}}, true],
    [{state: {scopeStack: [{name: 'tidy'}]}}, false],
    [{scopeStack: [{name: 'default scope'}]}, true], // 0.13.3 to 0.14.0
    [{scopeStack: [{name: 'default scope'}, {name: 'tidy'}]}, false],
    [{scopeStack: [{}], refCounter: {}}, true], // before, and nameless up to 0.11
    [{scopeStack: [{}, {}], refCounter: {}}, false],
    [{scopeStack: [{name: 'tidy'}]}, false], // 0.14.2 to 1.0
  ])) assert.equal(isOutside(engine_), outside, JSON.stringify(engine_));
});

test('with all stacks each tensor has its own from where it was made, the library\'s frames included', () => {
  const own = new Ledger(engine, {stacks: 'all'});
  function deep() {
    return tf.ones([2]).square();
  }
  const made = tf.tidy(() => deep());
  const {stack} = onlyOne(own, 0);
  assert.equal(mine(stack)[0], 'deep', 'not the tidy that it was returned from');
  assert.match(stack ?? '', /Engine\.(makeTensor|runKernel)/);
  made.dispose();
  own.stop();
});

test('with no stacks tensors are known all the same', () => {
  const own = new Ledger(engine, {stacks: 'none'});
  const made = tf.tidy(() => tf.ones([2]).square());
  const {stack, reachable, shape} = onlyOne(own, 0);
  assert.deepEqual({stack, reachable, shape}, {stack: null, reachable: null, shape: [2]});
  made.dispose();
  assert.equal(own.size, 0);
  own.stop();
});

test('a tensor that nothing refers to can never be disposed of, one in a list can', async () => {
  const mark = ledger.mark();
  const list = [tf.ones([1])];
  (() => tf.ones([2]))();
  ledger.settle();
  await collected();
  const reachable = Object.fromEntries(ledger.since(mark).map(live => [live.shape[0], live.reachable]));
  assert.deepEqual(reachable, {1: true, 2: false});
  list[0].dispose();
});

test('a stack keeps nothing alive once it is written out, which many of them are by themselves', async () => {
  class Owner {
    make() {
      return tf.ones([1]);
    }
  }
  /** @type {WeakRef<Owner>[]} */
  const owners = [];
  const made = Array.from({length: 2000}, () => {
    const owner = new Owner();
    owners.push(new WeakRef(owner));
    return owner.make();
  });
  await collected();
  const waiting = owners.filter(owner => owner.deref() !== undefined).length;
  assert.ok(waiting <= 600, `${waiting} owners are kept alive`);
  ledger.settle();
  await collected();
  assert.equal(owners.filter(owner => owner.deref() !== undefined).length, 0);
  tf.dispose(made);
});

test('a ledger that begins late counts what was there, and knows what comes', () => {
  const old = [tf.ones([1]), tf.ones([1])];
  const own = new Ledger(engine);
  assert.equal(own.size, 0);
  const made = tf.ones([5]);
  assert.equal(own.size, 1);
  assert.equal(own.disagreement(), null);
  old[0].dispose();
  assert.deepEqual([own.size, own.disagreement()], [1, null]);
  made.dispose();
  old[1].dispose();
  assert.deepEqual([own.size, own.disagreement()], [0, null]);
  own.stop();
});

test('a ledger that begins inside a tidy tells what escapes it from what does not', () => {
  /** @type {Ledger | undefined} */
  let own;
  const made = tf.tidy(() => {
    own = new Ledger(engine);
    tf.ones([1]);
    return tf.ones([2]);
  });
  assert.deepEqual(onlyOne(/** @type {Ledger} */ (own), 0).shape, [2]);
  made.dispose();
  own?.stop();
});

test('a variable that is given another value is the one that it was, made where it was', () => {
  function maker() {
    return tf.variable(tf.ones([3]));
  }
  const before = ledger.mark();
  const variable = maker();
  const mark = ledger.mark();
  const value = tf.zeros([3]);
  variable.assign(value);
  value.dispose();
  assert.deepEqual(ledger.since(mark), [], 'nothing was made since');
  const told = ledger.since(before).find(live => live.name === variable.name);
  assert.equal(mine(told?.stack ?? null)[0], 'maker');
  variable.dispose();
});

test('fit leaves the line that made each weight', async () => {
  function maker() {
    return tf.sequential({layers: [tf.layers.dense({units: 2, inputShape: [3]})]});
  }
  const mark = ledger.mark();
  const model = maker();
  model.compile({optimizer: 'sgd', loss: 'meanSquaredError'});
  const [x, y] = [tf.ones([1, 3]), tf.ones([1, 2])];
  await model.fit(x, y, {epochs: 1, verbose: 0});
  const weights = ledger.since(mark).filter(({name}) => name?.includes('dense'));
  assert.equal(weights.length, 2);
  for (const {stack} of weights) assert.equal(mine(stack)[0], 'maker');
  model.dispose();
  tf.dispose([x, y]);
});

test('a variable that is older than the ledger stays so when it is given another value', () => {
  const variable = tf.variable(tf.ones([1])), old = tf.ones([1]);
  const own = new Ledger(engine);
  const value = tf.zeros([1]);
  variable.assign(value);
  assert.deepEqual([own.size, own.disagreement()], [1, null]);
  old.dispose();
  variable.dispose();
  value.dispose();
  assert.deepEqual([own.size, own.disagreement()], [0, null]);
  own.stop();
});

test('two ledgers that stop in the order in which they began leave no trace', () => {
  const before = engine.trackTensor;
  const first = new Ledger(engine), second = new Ledger(engine);
  first.stop();
  assert.notEqual(engine.trackTensor, before);
  second.stop();
  assert.equal(engine.trackTensor, before);
});

test('a ledger that has stopped keeps nothing alive by its stacks', async () => {
  class Owner {
    make() {
      return tf.ones([1]);
    }
  }
  const own = new Ledger(engine);
  const [owner, made] = (() => {
    const maker = new Owner();
    return [new WeakRef(maker), maker.make()];
  })();
  own.stop();
  ledger.settle();
  await collected();
  assert.equal(owner.deref(), undefined);
  made.dispose();
});

test('what a page does with Error keeps no tensor from being told', () => {
  const mark = ledger.mark();
  const {prepareStackTrace, stackTraceLimit} = Error;
  function maker() {
    return tf.ones([1]);
  }
  for (const theirs of [(/** @type {Error} */ _, /** @type {unknown} */ sites) => sites, () => { throw new Error('no stacks here'); }]) {
    Error.prepareStackTrace = theirs;
    const made = maker();
    const {stack} = onlyOne(ledger, mark);
    assert.equal(Error.prepareStackTrace, theirs);
    Error.prepareStackTrace = prepareStackTrace;
    assert.equal(mine(stack)[0], 'maker');
    made.dispose();
  }
  Reflect.deleteProperty(Error, 'stackTraceLimit');
  const made = maker();
  assert.equal(Object.hasOwn(Error, 'stackTraceLimit'), false);
  Object.defineProperty(Error, 'stackTraceLimit', {value: 5, writable: false, configurable: true});
  const more = maker();
  Object.defineProperty(Error, 'stackTraceLimit', {value: stackTraceLimit, writable: true, configurable: true, enumerable: true});
  tf.dispose([made, more]);
});

test('two watchers of one global are both told, and stop in either order', () => {
  for (const order of [[0, 1], [1, 0]]) {
    const page = {};
    /** @type {number[]} */
    const told = [0, 0];
    const stops = [0, 1].map(i => watchEngines(() => { told[i] += 1; }, page));
    /** @type {any} */ (page)._tfengine = {disposeTensor() {}};
    for (const i of order) stops[i]();
    assert.deepEqual(told, [1, 1]);
    assert.equal(typeof /** @type {any} */ (page)._tfengine.disposeTensor, 'function', 'the page keeps its engine');
  }
});

test('a property that was an accessor is one again', () => {
  let kept = 0;
  const page = Object.defineProperty({}, '_tfengine', {configurable: true, get: () => kept, set: value => { kept = value; }});
  const before = Object.getOwnPropertyDescriptor(page, '_tfengine');
  const stop = watchEngines(() => {}, page);
  /** @type {any} */ (page)._tfengine = 7;
  assert.equal(kept, 7);
  stop();
  assert.deepEqual(Object.getOwnPropertyDescriptor(page, '_tfengine'), before);
});

test('once stopped, the engine\'s methods are the very ones that they were', () => {
  const names = ['trackTensor', 'disposeTensor', 'endScope', 'keep', 'reset'];
  const methods = () => names.map(name => engine[name]);
  const own = () => Object.getOwnPropertyNames(engine);
  const before = methods(), properties = own();
  const second = new Ledger(engine);
  assert.ok(methods().every((method, i) => method !== before[i]));
  assert.deepEqual(own(), properties);
  second.stop();
  assert.deepEqual(methods(), before);
  second.stop();
  const made = tf.ones([1]);
  assert.equal(second.size, 0);
  made.dispose();
});

test('one that is stopped while another has begun since leaves the other as it was', () => {
  const first = new Ledger(engine), second = new Ledger(engine);
  first.stop();
  const made = tf.ones([1]);
  assert.deepEqual([first.size, second.size], [0, 1]);
  made.dispose();
  second.stop();
});

test('an engine is told from another of the same class', () => {
  class Engine {
    numTensors = 0;
    /** @type {any[]} */
    scopeStack = [];
    registerTensor() {
      this.numTensors += 1;
    }
    disposeTensor() {
      this.numTensors -= 1;
    }
  }
  const [mineOnly, other] = [new Engine(), new Engine()];
  const own = new Ledger(mineOnly);
  const tensor = {id: 1, shape: [], size: 1, dtype: 'float32', dataId: {}};
  /** @type {any} */ (other).registerTensor(tensor);
  assert.equal(own.size, 0);
  /** @type {any} */ (mineOnly).registerTensor(tensor);
  /** @type {any} */ (other).disposeTensor(tensor);
  assert.deepEqual([own.size, own.disagreement()], [1, null]);
  own.stop();
});

test('a second dispose that the engine counts is told, and is not taken for a tensor less', () => {
  const own = new Ledger(engine);
  const initial = tf.zeros([2]);
  const variable = tf.variable(initial);
  variable.dispose();
  assert.equal(own.disagreement(), null);
  engine.disposeTensor(variable);
  assert.equal(own.size, 1, 'the initial value is alive');
  assert.match(own.disagreement() ?? '', /counts \d+ tensors, \d+ are alive: it took 1 off its count for tensors that were disposed/);
  own.stop();
});

test('a count that nobody can explain is told', () => {
  const own = new Ledger(engine);
  engine.state.numTensors += 1;
  assert.match(own.disagreement() ?? '', /the ledger does not know why/);
  engine.state.numTensors -= 1;
  assert.equal(own.disagreement(), null);
  own.stop();
});

test('another backend goes on in the same ledger', async () => {
  tf.registerBackend('second', () => tf.findBackend('cpu'));
  const own = new Ledger(engine);
  const made = tf.ones([2]);
  await tf.setBackend('second');
  const more = tf.tensor1d([1, 2, 3]);
  assert.deepEqual([own.size, own.disagreement()], [2, null]);
  await tf.setBackend('cpu');
  tf.dispose([made, more]);
  assert.deepEqual([own.size, own.disagreement()], [0, null]);
  tf.removeBackend('second');
  own.stop();
});

// The last one: afterwards the engine has forgotten what the other tests count by.
test('a reset empties the ledger as it empties the engine', () => {
  const own = new Ledger(engine);
  tf.ones([1]);
  tf.engine().reset();
  assert.deepEqual([own.size, own.disagreement()], [0, null]);
  const made = tf.ones([2]);
  assert.deepEqual([own.size, own.disagreement()], [1, null]);
  made.dispose();
  own.stop();
});
