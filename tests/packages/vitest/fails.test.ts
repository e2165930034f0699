import {expectNoLeaks} from 'tensorledger';
import {expect, test} from 'vitest';

import {leaky, leakyLater, square, tidy} from '../model';

test('matcher: leaky', async () => {
  await expect(leaky).toReleaseAllTensors();
});

test('not awaited: leaky', () => {
  void expect(leaky).toReleaseAllTensors();
});

test('matcher: leakyLater', async () => {
  await expect(() => leakyLater()).toReleaseAllTensors();
});

test('returned: square', async () => {
  await expect(() => square()).toReleaseAllTensors();
});

test('expectNoLeaks: leaky', async () => {
  await expectNoLeaks(leaky);
});

test('own failure first: leaky', async () => {
  await expect(() => {
    leaky();
    throw new RangeError('its own');
  }).toReleaseAllTensors();
});

test('not a function', async () => {
  await expect(tidy()).toReleaseAllTensors();
});

test('clean, and not to be', async () => {
  await expect(tidy).not.toReleaseAllTensors();
});

test('passes', async () => {
  await expect(tidy).toReleaseAllTensors();
});
