// expect(fn).toReleaseAllTensors(), for Vitest and for Jest.

import {holdOf, judge} from '../tracking/hold.mjs';

/**
 * @typedef {import('../tracking/hold.mjs').Options} Options
 * @typedef {import('../tracking/hold.mjs').Outcome<any>} Outcome
 */

/**
 * Passes where a function releases all tensors that it makes, those that it returns too, since nobody gets them here. It judges
 * a function that is not async at once, so that nothing is missed where `await` is forgotten.
 * @this {any}
 * @param {unknown} fn
 * @param {Options} [options]
 */
export function toReleaseAllTensors(fn, options = {}) {
  const hint = this.utils.matcherHint('toReleaseAllTensors', 'fn', '', {isNot: this.isNot, promise: this.promise});
  const result = (/** @type {Outcome} */ {leak}) => ({
    pass: leak === null,
    message: () => `${hint}\n\n${leak?.message ?? 'every tensor that it made was released, and some should be left'}`,
  });
  const outcome = judge(holdOf(fn, options, toReleaseAllTensors), /** @type {() => any} */ (fn));
  return outcome instanceof Promise ? outcome.then(result) : result(outcome);
}
