import assert from 'node:assert/strict';
import test from 'node:test';

import {cycles} from '../../js/lifecycle/cycles.mjs';
import {nodeHost} from '../../js/worker/host.mjs';
import {ledger, tf} from './tfjs.mjs';

const host = nodeHost();

/**
 * Runs a scenario, and returns its cycles and what was told of them as it ran.
 * @param {Function} scenario
 * @param {{count?: number, goOn?: boolean, recipe?: object, host?: object, held?: any[], reached?: (cycle: number, name: string) => void, enough?: number}} [how]
 */
async function run(scenario, {count = 0, goOn = false, recipe = {}, held = [], reached = () => {}, enough = Infinity, ...how} = {}) {
  /** @type {string[]} */
  const told = [];
  /** @type {import('../../js/lifecycle/cycles.mjs').Cycle[]} */
  const done = [];
  const stage = {
    tf, ledger, host: {...host, ...how.host},
    reached(/** @type {number} */ cycle, /** @type {string} */ name) {
      told.push(`${cycle} ${name}`);
      reached(cycle, name);
    },
    async ended(/** @type {number} */ number, /** @type {any} */ cycle) {
      assert.equal(number, done.length);
      done.push(cycle);
      return done.length < enough;
    },
  };
  await cycles(stage, {scenario, context: {tf, held}, held, recipe}, count, goOn);
  return {done, told};
}

/** @param {{done: any[]}} ran */
const names = ({done}) => done.map(({checkpoints}) => checkpoints.map((/** @type {{name: string}} */ {name}) => name));

/** @param {{done: any[]}} ran  tensors at each checkpoint of the last cycle, relative to its baseline */
const tensors = ({done}) => {
  const {baseline, checkpoints} = done[done.length - 1];
  return checkpoints.map((/** @type {any} */ {reading}) => reading.tensors - baseline.tensors);
};

test('a warm-up comes first, and then as many cycles as asked for', async () => {
  let runs = 0;
  const ran = await run(function* () {
    runs += 1;
    yield 'here';
  }, {count: 3});
  assert.equal(runs, 4);
  assert.deepEqual(ran.told, ['0 here', '0 end', '1 here', '1 end', '2 here', '2 end', '3 here', '3 end']);
  assert.equal(ran.done.length, 4);
});

test('the cycles end when who is told of them has seen enough', async () => {
  const ran = await run(function* () {}, {count: 5, enough: 3});
  assert.deepEqual(ran.told, ['0 end', '1 end', '2 end']);
});

test('memory is read where the scenario yields, and at the end, which is last', async () => {
  const ran = await run(async function* () {
    const x = tf.zeros([4]);
    yield 'made';
    const y = x.square();
    yield 'squared';
    x.dispose();
    y.dispose();
    yield 'released';
  }, {count: 1});
  assert.deepEqual(names(ran), [['made', 'squared', 'released', 'end'], ['made', 'squared', 'released', 'end']]);
  assert.deepEqual(tensors(ran), [1, 2, 0, 0]);
  const {baseline, checkpoints} = ran.done[1];
  assert.deepEqual(checkpoints.map(({reading}) => (reading.buffer_bytes ?? NaN) - (baseline.buffer_bytes ?? NaN)), [16, 32, 0, 0]);
});

test('the harness is told of a checkpoint before it is read', async () => {
  const before = tf.memory().numTensors;
  const ran = await run(function* () {
    yield 'made';
  }, {reached: () => tf.zeros([1])});
  assert.deepEqual(ran.done[0].checkpoints.map(({reading}) => reading.tensors - before), [1, 2]);
});

test('each cycle has a baseline of its own, so that what one leaves is not the next one\'s', async () => {
  const ran = await run(function* () {
    tf.zeros([2]);
    yield 'left';
  }, {count: 2});
  const [warmUp, first, second] = ran.done.map(({baseline}) => baseline.tensors);
  assert.deepEqual([first - warmUp, second - first], [1, 1]);
  assert.deepEqual(ran.done.map(({leaks}) => leaks.map(({count, shape}) => [count, shape])), [[[1, [2]]], [[1, [2]]], [[1, [2]]]]);
});

test('plain functions, synchronous or not, have one reading: the end', async () => {
  for (const scenario of [
    () => tf.zeros([1]).dispose(),
    async () => {
      await null;
      tf.zeros([1]).dispose();
    },
  ]) {
    const ran = await run(scenario, {count: 1});
    assert.deepEqual(names(ran), [['end'], ['end']]);
    assert.equal(ran.done[1].thrown, null);
  }
});

test('an asynchronous function is awaited before the end is read', async () => {
  const ran = await run(async () => {
    await new Promise(resolve => setTimeout(resolve, 20));
    tf.zeros([1]);
  });
  assert.deepEqual(tensors(ran), [1]);
});

test('checkpoints collect nothing; the end comes after two turns with a full collection each', async () => {
  /** @type {string[]} */
  const events = [];
  await run(function* () {
    events.push('scenario');
    yield 'here';
    events.push('done');
  }, {
    reached: (_, name) => events.push(name),
    host: {
      async turn() {
        events.push('turn');
        await host.turn();
      },
      collect: () => events.push('collect'),
    },
  });
  const settled = ['turn', 'collect', 'turn', 'collect'];
  assert.deepEqual(events, [...settled, 'scenario', 'here', 'done', ...settled, 'end']);
});

for (const [kind, scenario] of /** @type {[string, (drop: (value: object) => void) => Function][]} */ ([
  ['a generator', drop => function* () {
    const value = {big: new Array(100)};
    drop(value);
    yield 'here';
    return value;
  }],
  ['an asynchronous generator', drop => async function* () {
    const value = {big: new Array(100)};
    drop(value);
    yield 'here';
    await null;
    return value;
  }],
  ['a generator that throws', drop => async function* () {
    const value = {big: new Array(100)};
    drop(value);
    yield 'here';
    throw new Error(`with ${typeof value}`);
  }],
  ['a generator that is refused', drop => async function* () {
    const value = {big: new Array(100)};
    drop(value);
    yield 'here';
    yield 'here';
    return value;
  }],
])) {
  test(`what ${kind} holds in its variables is gone at the end`, async () => {
    /** @type {WeakRef<object>[]} */
    const dropped = [];
    /** @type {Record<string, boolean>} */
    const alive = {};
    await run(scenario(value => dropped.push(new WeakRef(value))), {
      reached: (_, name) => {
        alive[name] = dropped[0].deref() !== undefined;
      },
    });
    assert.deepEqual(alive, {here: true, end: false});
  });
}

test('the harness lets go of the models at the end, released or not', async () => {
  /** @type {object[]} */
  const held = [];
  /** @type {number | undefined} */
  let atEnd;
  await run(function* () {
    held.push({});
    yield 'made';
  }, {held, reached: (_, name) => {
    if (name === 'end') atEnd = held.length;
  }});
  assert.equal(atEnd, 0);
});

test('a throw ends the cycle, with the checkpoint that came before it, and ends the run', async () => {
  const ran = await run(function* () {
    yield 'first';
    yield 'second';
    throw new RangeError('on purpose');
  }, {count: 3});
  assert.deepEqual(ran.told, ['0 first', '0 second', '0 end']);
  const {type, message, checkpoint, stack} = ran.done[0].thrown ?? assert.fail('nothing was thrown');
  assert.deepEqual([type, message, checkpoint], ['RangeError', 'on purpose', 'second']);
  assert.match(stack[0].file, /cycles\.test\.mjs$/);
});

test('where a throw is expected, the cycles go on after it', async () => {
  const ran = await run(() => {
    throw new Error('on purpose');
  }, {count: 2, goOn: true});
  assert.deepEqual(ran.told, ['0 end', '1 end', '2 end']);
  assert.deepEqual(ran.done.map(({thrown}) => [thrown?.message, thrown?.checkpoint]), Array(3).fill(['on purpose', null]));
});

for (const [what, yields, type, message] of /** @type {[string, any[], string, RegExp][]} */ ([
  ['the name "end"', ['here', 'end'], 'RangeError', /"end" is read by itself/],
  ['a name twice', ['here', 'here'], 'RangeError', /"here" is yielded twice/],
  ['no string', ['here', 3], 'TypeError', /names of checkpoints, not 3/],
  ['an empty name', ['here', ''], 'TypeError', /names of checkpoints/],
  ['nothing', ['here', undefined], 'TypeError', /names of checkpoints, not undefined/],
  ['a symbol', ['here', Symbol('s')], 'TypeError', /names of checkpoints, not Symbol/],
])) {
  test(`yielding ${what} is refused, and the scenario's own clean-up runs`, async () => {
    let cleaned = 0;
    const ran = await run(async function* () {
      try {
        yield* yields;
      } finally {
        cleaned += 1;
      }
    }, {count: 2});
    assert.deepEqual(ran.told, ['0 here', '0 end']);
    assert.equal(ran.done[0].thrown?.type, type);
    assert.match(ran.done[0].thrown?.message ?? '', message);
    assert.equal(ran.done[0].thrown?.checkpoint, 'here');
    assert.equal(cleaned, 1);
  });
}

test('a promise that nobody handles is the cycle\'s in which it was rejected', async () => {
  // The test runner would take a real one for its own; worker.test.mjs has one in a worker.
  /** @type {unknown[]} */
  const rejections = [];
  let runs = 0;
  const ran = await run(function* () {
    runs += 1;
    yield 'here';
    if (runs === 2) rejections.push(new TypeError('lost'), new Error('another'));
  }, {count: 2, goOn: true, host: {rejections}});
  assert.deepEqual(ran.done.map(({thrown}) => thrown && [thrown.type, thrown.message, thrown.checkpoint]),
    [null, ['TypeError', 'lost', 'here'], null]);
  assert.deepEqual(rejections, []);
});

test('what the scenario itself throws goes before a promise that nobody handles', async () => {
  const ran = await run(() => {
    throw new Error('first');
  }, {host: {rejections: [new Error('second')]}});
  assert.equal(ran.done[0].thrown?.message, 'first');
});

test('a recipe prepares before the scenario starts, and wraps all of it', async () => {
  /** @type {string[]} */
  const events = [];
  await run(() => events.push('scenario'), {recipe: {
    before: () => events.push('before'),
    around(/** @type {any} */ library, /** @type {() => unknown} */ body) {
      assert.equal(library, tf);
      events.push('in');
      body();
      events.push('out');
    },
  }});
  assert.deepEqual(events, ['before', 'in', 'scenario', 'out']);
});
