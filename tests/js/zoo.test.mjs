import assert from 'node:assert/strict';
import test from 'node:test';

import {difference, makeZoo} from '../../js/models/zoo.mjs';
import {ledger, tf} from './tfjs.mjs';

/** @param {(method: string, params: any) => Promise<any>} [ask] */
function zoo(ask = () => assert.fail('nothing is asked for')) {
  /** @type {any[]} */
  const held = [];
  /** @type {any} */
  const host = {readFile: () => assert.fail('nothing is read')};
  return {held, ...makeZoo({tf, held, host, ask, release: '4.22.0'})};
}

/** @param {number[]} values */
const prediction = values => ({data: async () => Float32Array.from(values)});

for (const [name, tensors, bytes, output] of /** @type {[string, number, number, number[]][]} */ ([
  ['classifier', 4, 814120, [8, 10]],
  ['extractor', 30, 3082116, [8, 1]],
])) {
  test(`a ${name} has ${tensors} tensors of ${bytes} bytes, and is held`, () => {
    const before = {size: ledger.size, bytes: ledger.bufferBytes() ?? NaN};
    const {models, held} = zoo();
    const model = /** @type {any} */ (models)[name]();
    assert.deepEqual(held, [model]);
    assert.equal(ledger.size - before.size, tensors);
    assert.equal((ledger.bufferBytes() ?? NaN) - before.bytes, bytes);
    assert.equal(model.weights.length, tensors);
    assert.deepEqual(model.outputShape, [null, output[1]]);
    const again = /** @type {any} */ (models)[name]();
    assert.deepEqual(held, [model, again]);
    for (const one of held) one.dispose();
    assert.equal(ledger.size, before.size);
  });
}

test('the classifier is the one of the first question, the extractor that of the second', () => {
  const {models, held} = zoo();
  const made = /** @type {any} */ (models);
  const [first, second] = made.classifier().layers;
  assert.deepEqual([first.units, first.activation.getClassName(), second.units, second.activation.getClassName()], [256, 'relu', 10, 'softmax']);
  assert.ok(Math.abs(first.kernelRegularizer.l2 - 0.01) < 1e-7);
  const {layers, trainableWeights} = made.extractor();
  assert.equal(trainableWeights.length, 0);
  assert.deepEqual(layers.map((/** @type {any} */ layer) => layer.getClassName()), [
    ...Array(6).fill(['Dense', 'Dropout', 'LayerNormalization']).flat(), 'Dense', 'LayerNormalization', 'Dense']);
  for (const model of held) model.dispose();
});

test('the difference is the largest, absolute and relative, each by itself', () => {
  assert.deepEqual(difference([1, 102, 3], [1, 100, 2]), {max_abs: 2, max_rel: 0.5});
  assert.deepEqual(difference([-1, -3], [-1, -2]), {max_abs: 1, max_rel: 0.5});
  assert.deepEqual(difference([], []), {max_abs: 0, max_rel: 0});
});

test('what is no finite number, or missing, or too much, makes the difference null', () => {
  const unknown = {max_abs: null, max_rel: null};
  for (const [values, reference] of [
    [[1, NaN], [1, 1]], [[Infinity, 1], [1, 1]], [[1, -Infinity], [1, -Infinity]],
    [[1], [1, 2]], [[1, 2], [1]], [[], [1]],
  ]) assert.deepEqual(difference(values, reference), unknown);
});

test('beside a zero, only an exact zero has a relative difference', () => {
  assert.deepEqual(difference([0, 2], [0, 1]), {max_abs: 1, max_rel: 1});
  assert.deepEqual(difference([0.5, 2], [0, 2]), {max_abs: 0.5, max_rel: null});
  assert.deepEqual(difference([-0], [0]), {max_abs: 0, max_rel: 0});
});

test('of several comparisons of a model the largest difference is told, by its source', async () => {
  /** @type {any[]} */
  const asked = [];
  const {models, agreements} = zoo(async (method, params) => {
    asked.push([method, params]);
    return {tfjs: '/nowhere', graph: '/nowhere', predictions: [1, 2], bound: 0.25};
  });
  await models.compare('extractor', prediction([1.5, 2]));
  await models.compare('extractor', prediction([1, 2.25]));
  await models.compare('extractor', prediction([1, 2]), {from: 'tf-keras'});
  assert.deepEqual([...agreements.values()], [
    {model: 'extractor', source: 'keras', bound: 0.25, max_abs: 0.5, max_rel: 0.5},
    {model: 'extractor', source: 'tf-keras', bound: 0.25, max_abs: 0, max_rel: 0},
  ]);
  await models.compare('extractor', prediction([NaN, 2]));
  await models.compare('extractor', prediction([1, 2]));
  assert.deepEqual(agreements.get('keras/extractor'), {model: 'extractor', source: 'keras', bound: 0.25, max_abs: null, max_rel: null});
  assert.deepEqual(asked, [
    ['saved_model', {model: 'extractor', source: 'keras', release: '4.22.0'}],
    ['saved_model', {model: 'extractor', source: 'tf-keras', release: '4.22.0'}],
  ], 'the harness is asked once for each');
});
