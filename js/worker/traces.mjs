// What a scenario can change beside tensors that the next one in the same worker would meet: globals, the methods of
// TensorFlow.js and of JavaScript itself, a scope that it left open.

import {scopesOf} from '../ledger/engine.mjs';
import {modelClass} from './library.mjs';

/**
 * @param {any} tf
 * @param {any} engine
 * @returns {Map<string, unknown>} by name
 */
export function traces(tf, engine) {
  const found = new Map(/** @type {[string, unknown][]} */ ([['the scopes that are open', scopesOf(engine).length]]));
  const objects = {
    globalThis, tf,
    'tf.Tensor.prototype': tf.Tensor.prototype,
    'tf.Variable.prototype': tf.Variable.prototype,
    'tf.Sequential.prototype': tf.Sequential.prototype,
    'the prototype of models': modelClass(tf).prototype,
    'the engine': engine,
    'the prototype of engines': Object.getPrototypeOf(engine),
    'Object.prototype': Object.prototype, 'Function.prototype': Function.prototype, 'Array.prototype': Array.prototype,
    'Promise.prototype': Promise.prototype, 'Map.prototype': Map.prototype, 'Set.prototype': Set.prototype,
    'WeakMap.prototype': WeakMap.prototype, 'Float32Array.prototype': Float32Array.prototype,
    Object, Array, Promise, Math, JSON, console,
    // Of Node.js alone.
    process: /** @type {any} */ (globalThis).process ?? {},
  };
  for (const [name, object] of Object.entries(objects)) {
    for (const [key, {value, get}] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      // What the engine holds is its own affair; what it does is not.
      if (object !== engine || typeof value === 'function') found.set(`${name}.${key}`, get ?? value);
    }
  }
  return found;
}

/**
 * The names of what is otherwise than before.
 * @param {Map<string, unknown>} before
 * @param {Map<string, unknown>} after
 */
export function changed(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])].filter(name => !Object.is(before.get(name), after.get(name)));
}
