import assert from 'node:assert';
import test from 'node:test';

import {expectNoLeaks, track} from 'tensorledger';
import {noLeaks} from 'tensorledger/node-test';

import {leaky, tidy} from './model.mjs';

test('passes', noLeaks(() => {
  assert.equal(tidy(), 16);
}));

test('passes with its context and its callback', noLeaks((t, done) => {
  assert.equal(typeof t.diagnostic, 'function');
  setImmediate(done);
}));

test('leaks: leaky', noLeaks(() => {
  leaky();
}));

test('callback: leaky', noLeaks((t, done) => {
  leaky();
  setImmediate(done);
}));

test('own failure first: leaky', noLeaks(async () => {
  leaky();
  throw new RangeError('its own');
}));

test('expectNoLeaks: leaky', () => expectNoLeaks(leaky));

test('may', () => expectNoLeaks(leaky, {limit: 1}));

test('using', () => {
  let kept;
  {
    using ledger = track();
    leaky();
    kept = ledger;
  }
  leaky();
  assert.equal(kept.count, 1, 'it has stopped');
});

test('at the same time', {concurrency: true}, async t => {
  const waits = milliseconds => expectNoLeaks(async () => {
    await new Promise(resolve => setTimeout(resolve, milliseconds));
    leaky();
    await new Promise(resolve => setTimeout(resolve, milliseconds));
  });
  await Promise.all([t.test('concurrent: leaky, long', () => waits(40)), t.test('concurrent: leaky, short', () => waits(10))]);
});
