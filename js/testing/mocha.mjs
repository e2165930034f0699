// Holding tests of Mocha to releasing every tensor that they make.

import {holdOfTest} from '../tracking/hold.mjs';
import {held} from './no-leaks.mjs';

/** @typedef {import('../tracking/hold.mjs').Options} Options */

/**
 * Wraps one test's function: `it('predicts', noLeaks(async function() { … }))`. What the test's hooks dispose of is not waited for.
 * @param {Function} fn
 * @param {Options} [options]
 * @returns {(this: any) => Promise<void>}
 */
export function noLeaks(fn, options = {}) {
  return held(fn, options, 0);
}

/**
 * Root hooks that hold every test, from before its hooks to after them: `export const mochaHooks = holdAllTests()` in a file that
 * Mocha is told to `--require`.
 * @param {Options} [options]
 */
export function holdAllTests(options = {}) {
  /** @type {ReturnType<typeof holdOfTest> | null} */
  let hold = null;
  return {
    /** @this {any} */
    beforeAll() {
      // Only now, so that it comes after what the files have in the same place.
      this.test.parent.afterEach('tensorledger', /** @this {any} */ async function() {
        await hold?.settle();
        // An error that is noted here, and not thrown, is the test's: were it the hook's, Mocha would run no more tests.
        this.test.error(hold?.end() ?? undefined);
        hold = null;
      });
    },
    beforeEach() {
      hold = holdOfTest(options);
    },
  };
}

/** `mocha --require tensorledger/mocha` holds every test. */
export const mochaHooks = holdAllTests();
