import * as tf from '@tensorflow/tfjs';
import {expectNoLeaks, track} from 'tensorledger';
import {expect, test} from 'vitest';

import {leaky, square, tidy} from '../model';

test('a function that releases all', async () => {
  await expect(tidy).toReleaseAllTensors();
});

test('one that does not, and may', async () => {
  await expect(leaky).not.toReleaseAllTensors();
  await expect(leaky).toReleaseAllTensors({limit: 1});
  await expect(leaky).toReleaseAllTensors({ignore: [/model\.ts/]});
});

test('what is returned is handed on', async () => {
  const result = await expectNoLeaks(square);
  result.dispose();
});

test('a ledger', () => {
  const ledger = track(tf);
  const a = tf.ones([2, 3]);
  expect([ledger.count, ledger.bytes]).toEqual([1, 24]);
  a.dispose();
  expect(ledger.count).toBe(0);
  ledger.stop();
});
