// Jest: expect(fn).toReleaseAllTensors(), and holding every test to releasing every tensor that it makes.
/// <reference path="./jest.d.ts" preserve="true" />

import {afterEach, beforeEach, expect} from '@jest/globals';

import {holdOfTest} from '../tracking/hold.mjs';
import {toReleaseAllTensors} from './matcher.mjs';

/** @typedef {import('../tracking/hold.mjs').Options} Options */

expect.extend({toReleaseAllTensors});

/**
 * Holds every test of a file, from before its hooks to after them; called in a file of `setupFilesAfterEnv`, those of all
 * files. Not those of `test.concurrent`: Jest runs no hooks for them.
 * @param {Options} [options]
 */
export function holdAllTests(options = {}) {
  /** @type {ReturnType<typeof holdOfTest> | null} */
  let hold = null;
  const begin = () => {
    hold = holdOfTest(options);
  };
  const end = async () => {
    await hold?.settle();
    const leak = hold?.end() ?? null;
    hold = null;
    return leak;
  };
  // Hooks that are made here would end before those of a file that are in the same place; Jest's runner has told of its events
  // since 30.
  const handlers = /** @type {any} */ (globalThis)[Symbol.for('EVENT_HANDLERS')];
  if (!Array.isArray(handlers)) {
    beforeEach(begin);
    afterEach(async () => {
      const leak = await end();
      if (leak) throw leak;
    });
    return;
  }
  handlers.push(async (/** @type {{name: string, test: any}} */ {name, test}) => {
    if (name === 'test_started' && !test.concurrent) begin();
    if (name !== 'test_done') return;
    const leak = await end();
    if (leak) test.errors.push(leak);
  });
}
