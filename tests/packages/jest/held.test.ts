import * as tf from '@tensorflow/tfjs';
import {holdAllTests} from 'tensorledger/jest';
import {afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';

import {leaky, tidy} from '../model';

holdAllTests();

let older: tf.Tensor;
let each: tf.Tensor;
beforeAll(() => {
  older = tf.ones([5]);
});
beforeEach(() => {
  each = tf.ones([6]);
});
afterEach(() => {
  each.dispose();
});

test('passes', () => {
  expect(tf.tidy(() => older.sum().add(each.sum()).dataSync()[0])).toBe(11);
});

test('held: leaky', () => {
  leaky();
});

test('held: direct', () => {
  tf.ones([2]); // LINE direct
});

test('own failure first: leaky', () => {
  leaky();
  expect(1).toBe(2);
});

describe('inside', () => {
  test('passes after those', () => {
    tidy();
  });
});

describe('at the same time', () => {
  test.concurrent('concurrent: one', async () => {
    const a = tf.ones([2]);
    await new Promise(resolve => setTimeout(resolve, 50));
    a.dispose();
  });
  test.concurrent('concurrent: other', async () => {
    const a = tf.ones([2]);
    await new Promise(resolve => setTimeout(resolve, 10));
    if (a.size === 3) a.dispose();
  });
});
