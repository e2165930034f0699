// The TensorFlow.js that the tests of js/ run on, and a ledger of its engine that was begun before the first tensor.

import {createRequire} from 'node:module';

import {Ledger} from '../../js/ledger/ledger.mjs';

// It greets with advice about other backends; a test's output is its findings.
console.warn = () => {};

/** @type {any} */
export const tf = createRequire(import.meta.url)('tfjs-4.22.0');

export const ledger = new Ledger(tf.engine());
await tf.setBackend('cpu');
await tf.ready();

/** Lets the event loop turn and collects, twice: what nobody holds is gone afterwards. */
export async function collected() {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise(resolve => setImmediate(resolve));
    /** @type {() => void} */ (globalThis.gc)();
  }
}
