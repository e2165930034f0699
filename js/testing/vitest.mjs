// Vitest: expect(fn).toReleaseAllTensors(), and holding every test to releasing every tensor that it makes.
/// <reference path="./vitest.d.ts" preserve="true" />

import {beforeEach, expect} from 'vitest';

import {holdOfTest} from '../tracking/hold.mjs';
import {toReleaseAllTensors} from './matcher.mjs';

/** @typedef {import('../tracking/hold.mjs').Options} Options */

expect.extend({toReleaseAllTensors});

/**
 * Holds every test of a file, from before its hooks to after them; called in a setup file, those of all files.
 * @param {Options} [options]
 */
export function holdAllTests(options = {}) {
  beforeEach(({onTestFinished}) => {
    const hold = holdOfTest(options);
    // The first of these runs last, and after every hook and fixture.
    onTestFinished(async () => {
      await hold.settle();
      const leak = hold.end();
      if (leak) throw leak;
    });
  });
}
