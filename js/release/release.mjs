// Releases all that a model of layers owns, on any release of TensorFlow.js, and nothing else.

import {engineOf, permanentScope} from '../ledger/engine.mjs';
import {keptByFit, watchFit} from './fit.mjs';
import {forget, layersOf, optimizerOf, ownsOptimizer, tensorsOf, tensorsOfOptimizer} from './owned.mjs';

/** Models that `makeModel` made and that were compiled since, each with whether it made its optimizer of a name. */
const compiled = new WeakMap();

/**
 * Releases a model: its weights and its layers' states, those of models inside it, what the initializers of its weights
 * left, and its optimizer if it made that itself. `model.dispose()` is called too, where there is one, so that the model
 * knows that it is released. A layer, or a model inside it, that another model calls as well stays until that is released. To
 * release a model again does nothing.
 *
 * 0.7.0 to 1.0.0 do not record whether an optimizer was given by its name. There the optimizer stays, and is told in
 * `kept`, unless the model was made by `makeModel`, or `optimizer` says otherwise.
 * @param {any} model
 * @param {{optimizer?: boolean}} [options]  whether the optimizer goes too; by default if the model made it itself
 * @returns {{tensors: number, kept: string[]}}  how many tensors were released, and what the model has that was not
 */
export function releaseModel(model, {optimizer} = {}) {
  const weights = [...layersOf(model)].flatMap(tensorsOf);
  const state = tensorsOfOptimizer(optimizerOf(model)).filter(tensor => !tensor.isDisposed);
  const owned = optimizer ?? compiled.get(model) ?? ownsOptimizer(model);
  const all = new Set([...weights, ...keptByFit(model), ...(owned ? state : [])].filter(tensor => !tensor.isDisposed));
  forget(model);
  try {
    model.dispose?.();
  } catch {
    // From 1.0.1 to 1.2.2 that of a Sequential throws before it was compiled, and on most releases a second one does. What it leaves
    // is released below.
  }
  for (const tensor of all) if (!tensor.isDisposed) tensor.dispose();
  const kept = owned === null && state.length > 0
    ? ['the optimizer: this release does not record whether the model made it; releaseModel(model, {optimizer: true})'] : [];
  return {tensors: all.size, kept};
}

/**
 * Makes a model so that nothing is left beside it that `releaseModel` could not find: `make` runs inside a scope, which
 * takes what constructors and initializers leave and nothing refers to any more (initializers in 0.14.1; recurrent layers'
 * constructors up to 3.6.0), and what `fit` leaves is remembered (up to 0.11.1). Weights are variables, and stay.
 * @template T
 * @param {any} tf
 * @param {() => T} make  synchronous
 * @returns {T}
 */
export function makeModel(tf, make) {
  const engine = engineOf(tf);
  engine.startScope('makeModel');
  /** @type {any} */
  let model;
  try {
    model = make();
  } finally {
    engine.endScope(); // by itself: up to 0.12.3 tf.tidy leaves its scope open where something throws
  }
  const {compile} = model;
  model.compile = (/** @type {any} */ config) => {
    compiled.set(model, typeof config?.optimizer === 'string');
    return compile.call(model, config);
  };
  if (permanentScope(engine)) watchFit(model, engine);
  return model;
}
