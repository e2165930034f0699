// What expectNoLeaks and track do with bad input, and beside each other, on one release.

import assert from 'node:assert/strict';
import test from 'node:test';
import {runInNewContext} from 'node:vm';

import {TensorLeakError, expectNoLeaks, track} from '../../js/index.mjs';
import {toReleaseAllTensors} from '../../js/testing/matcher.mjs';
import {holdOfTest} from '../../js/tracking/hold.mjs';
import {framesOf} from '../../js/tracking/places.mjs';
import {tf} from './tfjs.mjs';

const left = () => {
  tf.ones([2, 3]);
};

/** @param {Promise<unknown>} promise @returns {Promise<any>} */
const thrown = promise => promise.then(() => assert.fail('nothing was thrown'), error => error);

/** @type {RangeError} */
let own;

test('a function that throws has that thrown on, and what it has left told after it', async () => {
  for (const fn of [() => { left(); throw own; }, async () => { left(); await null; throw own; }]) {
    own = new RangeError('its own');
    const error = await thrown(expectNoLeaks(fn));
    assert.equal(error, own);
    assert.match(error.message, /^its own\nBesides, 1 tensor, 24 bytes, is left .*\n {2}made at left \(tests\/js\/hold\.test\.mjs:\d+:\d+\)/);
    assert.match(String(error.stack), /^RangeError: its own\nBesides, 1 tensor[^]*tf\.tidy\.\n {4}at /, 'and where it was thrown is kept');
  }
  const {stack} = await thrown(expectNoLeaks(() => { left(); throw new Error(); }));
  assert.match(stack, /^Error\nBesides, 1 tensor[^]*tf\.tidy\.\n {4}at /, 'of one without a message too');
  const clean = new RangeError('its own');
  assert.equal(await thrown(expectNoLeaks(() => { throw clean; })), clean);
  assert.equal(clean.message, 'its own');
});

/** @param {any} fn */
const matched = fn => toReleaseAllTensors.call({utils: {matcherHint: () => ''}}, fn);

test('the matcher waits for a promise of another realm, and for whatever else has a then', async () => {
  const foreign = runInNewContext('Promise.resolve()');
  assert.ok(!(foreign instanceof Promise));
  assert.equal((await matched(() => foreign.then(() => {}))).pass, true);
  assert.equal((await matched(() => foreign.then(left))).pass, false);
  assert.equal((await matched(() => ({then: (/** @type {() => void} */ resolve) => resolve()}))).pass, true);
});

test('what is thrown and cannot be told anything is thrown on as it is, and the leak is written out', async () => {
  const {error: write} = console;
  /** @type {string[]} */
  const lines = [];
  console.error = line => lines.push(line);
  try {
    for (const value of ['text', undefined, Object.freeze(new Error('frozen'))]) {
      assert.equal(await thrown(expectNoLeaks(() => { left(); throw value; })), value);
    }
  } finally {
    console.error = write;
  }
  assert.equal(lines.length, 3);
  assert.match(lines[0], /Besides, 1 tensor, 24 bytes, is left/);
});

test('what the function returns is its caller\'s: in arrays, objects, maps, and however deep', async () => {
  const a = await expectNoLeaks(() => ({list: [tf.ones([1]), new Map([['key', new Set([tf.ones([2])])]])], numbers: new Float32Array(3)}));
  const many = await expectNoLeaks(async () => ({tensor: tf.ones([1]), many: new Array(300_000).fill({some: 1})}));
  /** @type {any} */
  const round = await expectNoLeaks(() => {
    const self = {tensor: tf.ones([1]), self: /** @type {any} */ (null)};
    self.self = self;
    return self;
  });
  tf.dispose([a.list[0], [.../** @type {any} */ (a.list[1]).get('key')], many.tensor, round.tensor]);
  const error = await thrown(expectNoLeaks(() => {
    left();
    return tf.ones([5]);
  }));
  assert.deepEqual([error.count, error.live[0].shape], [1, [2, 3]], 'and only that');
});

test('what throws when it is looked into is passed over', async () => {
  const trap = () => { throw new Error('looked into'); };
  const {proxy, revoke} = Proxy.revocable({}, {});
  revoke();
  const {tensor} = await expectNoLeaks(() => ({
    tensor: tf.ones([2]), proxy, trapped: new Proxy({}, {getPrototypeOf: trap, get: trap, ownKeys: trap}),
    getter: Object.defineProperty({}, 'shape', {get: trap, enumerable: true}),
  }));
  tensor.dispose();
});

test('the error is written out as its name, message and stack', async () => {
  const error = await thrown(expectNoLeaks(left));
  const {name, message, stack} = error;
  assert.deepEqual(JSON.parse(JSON.stringify(error)), {name, message, stack});
});

test('an entry for a runner can be loaded on any release of Node.js; a function that makes a generator is refused', async () => {
  const {noLeaks} = await import('../../js/testing/node-test.mjs');
  await noLeaks(() => {})(null);
  await assert.rejects(noLeaks(left)(null), /^TensorLeakError: 1 tensor/);
  for (const fn of [function*() {}, async function*() {}]) {
    assert.throws(() => noLeaks(fn), TypeError);
    assert.throws(() => matched(fn), /toReleaseAllTensors takes a function/);
  }
});

test('a test that ends takes along what timed out in it', async () => {
  /** @type {() => void} */
  let go = () => {};
  const first = holdOfTest({});
  const late = expectNoLeaks(() => new Promise(resolve => { go = () => resolve(null); }));
  assert.equal(first.end(), null);
  const {message} = await thrown(expectNoLeaks(left));
  assert.doesNotMatch(message, /at the same time/);
  go();
  assert.match((await thrown(late)).message, /^1 tensor/);
});

test('what a page has of TensorFlow.js from elsewhere is the library', () => {
  const cdn = 'https://cdn.example/npm/@tensorflow/tfjs';
  const stack = `Error\n    at made (${cdn}-core@4.22.0/a.js:1:1)\n    at fit (${cdn}-layers@4.22.0/b.js:1:1)\n    at mine (https://me.example/app.js:7:3)`;
  assert.deepEqual(framesOf(stack).map(({function: name, of}) => [name, of]), [['mine', 'user']]);
});

test('a limit, places that are ignored, and options that there are not', async () => {
  await expectNoLeaks(left, {limit: 1});
  assert.match((await thrown(expectNoLeaks(() => { left(); left(); }, {limit: 1}))).message, /^2 tensors, 48 bytes, are left .*; up to 1 may be\n/);
  await expectNoLeaks(left, {ignore: [/hold\.test\.mjs/]});
  await expectNoLeaks(left, {ignore: ['hold.test.mjs', 'other']});
  const error = await thrown(expectNoLeaks(() => { left(); tf.ones([5]); }, {ignore: [/at left /]}));
  assert.deepEqual([error.count, error.bytes], [1, 20], 'the bytes too are those of what is not ignored');
  await assert.rejects(expectNoLeaks(left, /** @type {any} */ ({limits: 1})), /no option limits; there are: tf, limit, ignore, collect/);
  for (const options of [
    null, 'x', [], {limit: NaN}, {limit: -1}, {limit: '2'}, {limit: 0.5}, {ignore: /x/}, {ignore: 'x'}, {ignore: [3]}, {collect: 3}, {tf: 3},
  ]) {
    let hasRun = false;
    await assert.rejects(expectNoLeaks(() => { hasRun = true; }, /** @type {any} */ (options)), TypeError);
    assert.equal(hasRun, false);
  }
  await assert.rejects(expectNoLeaks(/** @type {any} */ (tf.tidy(() => 1))), /takes a function/);
  await assert.rejects(expectNoLeaks(left, {tf: {}}), /is not TensorFlow\.js/);
  assert.throws(() => track(null), TypeError);
});

test('a collection that fails loses nothing', async () => {
  const {warn} = console;
  console.warn = () => {};
  const collect = () => { throw new Error('no collection'); };
  own = new RangeError('its own');
  assert.equal(await thrown(expectNoLeaks(() => { left(); throw own; }, {collect})), own);
  assert.match(own.message, /^its own\nBesides, 1 tensor/);
  assert.ok(await thrown(expectNoLeaks(left, {collect})) instanceof TensorLeakError);
  console.warn = warn;
});

test('what nothing refers to is told only where garbage was collected', async () => {
  const message = async (/** @type {object} */ options) => (await thrown(expectNoLeaks(left, options))).message;
  assert.match(await message({}), /\[2, 3\], 24 bytes, to which nothing refers any more\n/);
  assert.doesNotMatch(await message({collect() {}}), /nothing refers/);
});

test('ledgers nest and stop in any order; a stopped one tells what was left then', () => {
  const methods = () => ['trackTensor', 'disposeTensor', 'endScope', 'keep'].map(name => tf.engine()[name]);
  const before = methods();
  const outer = track(), a = tf.ones([4]), inner = track(tf), b = tf.ones([5]);
  assert.deepEqual([outer.count, outer.bytes, inner.count, inner.bytes], [2, 36, 1, 20]);
  outer.stop();
  b.dispose();
  assert.deepEqual([outer.count, outer.bytes, inner.count, inner.bytes], [2, 36, 0, 0]);
  assert.equal(outer.live().length, 2);
  assert.match(outer.report(), /^2 tensors, 36 bytes, are left\n {2}made at .*hold\.test\.mjs:/);
  inner.stop();
  inner.stop();
  assert.equal(inner.report(), 'no tensor is left');
  a.dispose();
  assert.deepEqual(methods(), before, 'the engine is as it was');
});

test('expectNoLeaks nests: the inner one\'s leak is the outer one\'s too, and neither is said to have run beside the other', async () => {
  /** @type {any} */
  let inner;
  const outer = await thrown(expectNoLeaks(async () => {
    inner = await thrown(expectNoLeaks(left));
  }));
  assert.ok(inner instanceof TensorLeakError && outer instanceof TensorLeakError);
  assert.deepEqual([inner.count, outer.count], [1, 1]);
  assert.doesNotMatch(inner.message + outer.message, /at the same time/);
});

test('what ran at the same time is said; in Node.js since 20.16 in whatever order it ends', async () => {
  const wait = (/** @type {number} */ milliseconds) => expectNoLeaks(async () => {
    await new Promise(resolve => setTimeout(resolve, milliseconds));
    left();
    await new Promise(resolve => setTimeout(resolve, milliseconds));
  });
  for (const times of 'getBuiltinModule' in process ? [[10, 40], [40, 10]] : [[10, 40]]) {
    const errors = await Promise.all(times.map(time => thrown(wait(time))));
    for (const {message} of errors) assert.match(message, /ran at the same time: what is told here may be its/);
  }
});

test('where the engine counts otherwise, that is said', async () => {
  const ledger = track();
  const {state} = tf.engine();
  state.numTensors += 1;
  const error = await thrown(expectNoLeaks(left));
  assert.doesNotMatch(error.message, /counts/, 'it agrees on what was made since');
  const {warn} = console;
  /** @type {string[]} */
  const lines = [];
  console.warn = line => lines.push(line);
  await expectNoLeaks(() => {
    state.numTensors += 1;
  });
  console.warn = warn;
  assert.match(lines[0], /nothing is left, but TensorFlow\.js counts \d+ tensors, \d+ are alive/);
  assert.match(ledger.report(), /\nTensorFlow\.js counts \d+ tensors, \d+ are alive: the ledger does not know why$/);
  state.numTensors -= 2;
  ledger.stop();
});

test('the surroundings are asked once for stacks of the same frames, and not for others', () => {
  const theirs = Error.prepareStackTrace;
  let asked = 0;
  const prepare = (/** @type {Error} */ error, /** @type {NodeJS.CallSite[]} */ sites) => {
    asked += 1;
    return `${error}${sites.map(site => `\n    at ${site}`).join('')}`;
  };
  Error.prepareStackTrace = prepare;
  const ledger = track();
  try {
    const all = Array.from({length: 5}, () => tf.ones([2]));
    const other = tf.ones([2]);
    assert.deepEqual(ledger.live().map(({count}) => count), [5, 1]);
    assert.equal(asked, 2);
    assert.equal(Error.prepareStackTrace, prepare);
    tf.dispose([all, other]);
  } finally {
    Error.prepareStackTrace = theirs;
    ledger.stop();
  }
});

test('`using` stops a ledger, where the language has it', {skip: Symbol.dispose ? false : 'this Node.js has no Symbol.dispose'}, () => {
  const ledger = track();
  ledger[Symbol.dispose]();
  left();
  assert.equal(ledger.count, 0);
});
