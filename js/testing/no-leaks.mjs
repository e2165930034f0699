// Test functions, wrapped so that what they leave fails them.

import {Hold, canBeHeld, judge} from '../tracking/hold.mjs';

/**
 * Returns a test function that does what another does, and fails where that leaves tensors. One that takes a callback as its
 * last parameter is waited for as the runner would.
 * @param {Function} fn
 * @param {import('../tracking/hold.mjs').Options} options
 * @param {number} parameters  how many a runner gives before the callback
 */
export function held(fn, options, parameters) {
  if (!canBeHeld(fn)) throw new TypeError('noLeaks takes a test\'s function');
  /** @this {any} @param {any[]} given */
  return async function(...given) {
    const body = async () => (fn.length <= parameters ? fn.apply(this, given) : new Promise((resolve, reject) => {
      fn.call(this, ...given.slice(0, parameters), (/** @type {unknown} */ error) => (error ? reject(error) : resolve(undefined)));
    }));
    const {leak} = await judge(new Hold(options, {of: 'this test'}), body);
    if (leak) throw leak;
  };
}
