// What several copies of this package in one process have in common: its ES modules and its CommonJS build, or what a test
// runner has loaded a second time. They find it on the global object.

const KEY = Symbol.for('tensorledger/1');

/**
 * @template T
 * @param {string} name
 * @param {() => T} make  called by the first copy that asks
 * @returns {T}
 */
export function shared(name, make) {
  const global = /** @type {any} */ (globalThis);
  if (!Object.hasOwn(global, KEY)) Object.defineProperty(global, KEY, {value: {}, configurable: true});
  const all = global[KEY];
  all[name] ??= make();
  return all[name];
}
