import assert from 'node:assert';
import {afterEach, before, beforeEach, describe, test} from 'node:test';

import * as tf from '@tensorflow/tfjs';
import {holdAllTests} from 'tensorledger/node-test';

import {leaky, tidy} from './model.mjs';

holdAllTests();

let older, each;
before(() => {
  older = tf.ones([5]);
});
beforeEach(() => {
  each = tf.ones([6]);
});
afterEach(() => {
  each.dispose();
});

test('passes', () => {
  assert.equal(tf.tidy(() => older.sum().add(each.sum()).dataSync()[0]), 11);
});

test('passes with what is disposed of last', t => {
  const last = tf.ones([7]);
  t.after(() => last.dispose());
});

test('held: leaky', () => {
  leaky();
});

test('own failure first: leaky', () => {
  leaky();
  assert.equal(1, 2);
});

describe('inside', () => {
  test('passes after those', () => {
    tidy();
  });

  test('held: leaky', () => {
    leaky();
  });
});
