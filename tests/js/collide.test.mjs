// Tensors of two copies of tfjs-core that share one engine, whose ids are the same: TensorFlow.js 0.11.2 to 0.11.6 brings two.

import assert from 'node:assert/strict';
import test from 'node:test';

import {Ledger} from '../../js/ledger/ledger.mjs';

/** An engine of that age, as far as the ledger looks at it. */
class Engine {
  numTensors = 0;
  refCounter = new WeakMap();
  registeredVariables = {};
  activeScope = /** @type {{track: any[], keep: any[]}} */ ({track: [], keep: []});
  scopeStack = [this.activeScope];

  /** @param {any} tensor */
  registerTensor(tensor) {
    this.numTensors += 1;
    this.activeScope.track.push(tensor);
  }

  /** @param {any} _tensor */
  disposeTensor(_tensor) {
    this.numTensors -= 1;
  }

  endScope() {}

  /** @param {any} tensor */
  keep(tensor) {
    return tensor;
  }
}

/** @param {number} id @param {number} size @param {object} [more] */
const tensor = (id, size, more) => ({id, size, shape: [size], dtype: 'float32', dataId: {}, ...more});

test('tensors of the same id are told apart, whichever goes first', () => {
  for (const order of [[0, 1, 2], [2, 1, 0], [1, 0, 2]]) {
    const engine = new Engine();
    const ledger = new Ledger(engine);
    const made = [tensor(7, 2), tensor(7, 3), tensor(8, 5)];
    for (const one of made) engine.registerTensor(one);
    assert.deepEqual([ledger.size, ledger.bufferBytes(), ledger.disagreement()], [3, 40, null]);
    assert.deepEqual(ledger.since().map(({shape}) => shape), [[2], [3], [5]]);
    let bytes = 40;
    for (const place of order) {
      engine.disposeTensor(made[place]);
      bytes -= 4 * made[place].size;
      assert.deepEqual([ledger.bufferBytes(), ledger.disagreement()], [bytes, null]);
    }
    assert.equal(ledger.size, 0);
    ledger.stop();
  }
});

test('a variable of an id that another has keeps its place when it is given another value', () => {
  const engine = new Engine();
  const ledger = new Ledger(engine);
  const variable = tensor(7, 3, {assign() {}});
  engine.registerTensor(tensor(7, 2));
  engine.registerTensor(variable);
  const mark = ledger.mark();
  engine.disposeTensor(variable);
  variable.dataId = {};
  engine.registerTensor(variable);
  assert.deepEqual([ledger.size, ledger.disagreement(), ledger.since(mark)], [2, null, []]);
  engine.disposeTensor(variable);
  assert.deepEqual([ledger.size, ledger.bufferBytes(), ledger.disagreement()], [1, 8, null]);
  ledger.stop();
});
