// Holding tests of node:test to releasing every tensor that they make.

import * as runner from 'node:test';

import {holdOfTest} from '../tracking/hold.mjs';
import {held} from './no-leaks.mjs';

/**
 * @typedef {import('../tracking/hold.mjs').Options} Options
 * @typedef {import('node:test').TestContext} TestContext
 */

/**
 * Wraps one test's function: `test('predicts', noLeaks(async () => …))`. What the test's hooks dispose of is not waited for.
 * @param {(t: any, done: any) => any} fn
 * @param {Options} [options]
 * @returns {(t: any) => Promise<void>}
 */
export function noLeaks(fn, options = {}) {
  return held(fn, options, 1);
}

/**
 * Holds every test of a file, or of the suite that it is called in, from before its hooks to after them. Needs a Node.js whose
 * tests have `after`: 18.13.
 * @param {Options} [options]
 */
export function holdAllTests(options = {}) {
  if (!('beforeEach' in runner)) throw new Error('holdAllTests needs Node.js 18.13 or newer; noLeaks does not');
  runner.beforeEach((/** @type {any} */ t) => {
    const hold = holdOfTest(options, t.fullName);
    // They run in order, after every hook: the last is one that is only added then.
    t.after(() => t.after(async () => {
      await hold.settle();
      const leak = hold.end();
      if (!leak) return;
      // Of a test that failed already, its own failure is all that is told of errors.
      if (t.passed !== false) throw leak;
      for (const line of `Besides, ${leak.message}`.split('\n')) t.diagnostic(line);
    }));
  });
}
