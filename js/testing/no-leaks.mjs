// Test functions, wrapped so that what they leave fails them.

import {holdOf, judge} from '../tracking/hold.mjs';

/**
 * Returns a test function that does what another does, and fails where that leaves tensors. One that takes a callback as its
 * last parameter is waited for as the runner would.
 * @param {Function} fn
 * @param {import('../tracking/hold.mjs').Options} options
 * @param {{parameters: number, above: Function}} runner  how many parameters a runner gives before the callback
 */
export function held(fn, options, {parameters, above}) {
  /** @this {any} @param {any[]} given */
  return async function(...given) {
    const body = async () => (fn.length <= parameters ? fn.apply(this, given) : new Promise((resolve, reject) => {
      fn.call(this, ...given.slice(0, parameters), (/** @type {unknown} */ error) => (error ? reject(error) : resolve(undefined)));
    }));
    const {leak} = await judge(holdOf(fn, options, above), body);
    if (leak) throw leak;
  };
}
