import assert from 'node:assert/strict';
import test from 'node:test';

import {inputs, labels, makeData} from '../../js/models/data.mjs';
import {ledger, tf} from './tfjs.mjs';

test('every input is Knuth\'s hash of its place, rounded once to float32', () => {
  for (const features of [64, 784]) {
    const values = inputs(features);
    assert.equal(values.length, 8 * features);
    values.forEach((value, k) => {
      // As py/tensorledger/data/samples.py has it, in whole numbers of any size.
      const exact = BigInt(k) * 2654435761n % 2n ** 32n;
      assert.equal(value, Math.fround(Number(exact) / 2 ** 32), `element ${k}`);
      assert.ok(value >= 0 && value <= 1);
    });
  }
});

test('the first inputs are those that samples.py gives', () => {
  // .venv/bin/python -c "from tensorledger.data import samples; print(samples.inputs(64)[0, :4].tolist(), samples.inputs(784)[-1, -1].item())"
  assert.deepEqual([...inputs(64).slice(0, 4)], [0, 0.6180340051651001, 0.2360679805278778, 0.8541019558906555]);
  assert.equal(inputs(784)[8 * 784 - 1], 0.691131055355072);
});

test('labels are one-hot by row, or a column of 0 and 1', () => {
  assert.deepEqual([...labels(1)], [0, 1, 0, 1, 0, 1, 0, 1]);
  const ten = labels(10);
  assert.equal(ten.length, 80);
  ten.forEach((value, index) => assert.equal(value, index % 10 === Math.floor(index / 10) ? 1 : 0));
  assert.deepEqual([...labels(3).slice(9, 12)], [1, 0, 0], 'row 3 of three outputs begins again');
});

test('each model has its x and y, as tensors', () => {
  const before = ledger.size;
  const data = makeData(tf);
  assert.equal(ledger.size, before + 4);
  assert.deepEqual(Object.entries(data).map(([name, {x, y}]) => [name, x.shape, y.shape, x.dtype, y.dtype]), [
    ['classifier', [8, 784], [8, 10], 'float32', 'float32'],
    ['extractor', [8, 64], [8, 1], 'float32', 'float32'],
  ]);
  assert.deepEqual(data.extractor.x.dataSync(), inputs(64));
});
