// Releases all that a model of layers owns, on any release of TensorFlow.js, and nothing else.

import {engineOf, permanentScope} from '../ledger/engine.mjs';
import {shared} from '../ledger/shared.mjs';
import {keptByFit, watchFit} from './fit.mjs';
import {forget, isLayer, isModel, layersOf, optimizerOf, ownsOptimizer, tensorsOf, tensorsOfOptimizer} from './owned.mjs';

/**
 * Models that `makeModel` made and that were compiled since: whether the last optimizer was given by its name, and those
 * before it that were.
 * @type {WeakMap<object, {named: boolean, former: any[]}>}
 */
const compiled = shared('compiled', () => new WeakMap());

/** @type {WeakSet<object>} */
const released = shared('released', () => new WeakSet());

/** @param {any[]} tensors */
const alive = tensors => tensors.filter(tensor => !tensor.isDisposed);

/**
 * Whether a model's optimizer is its own; null where that is not known. An early Sequential shares its optimizer with the model
 * inside it, of which nothing was noted.
 * @param {any} model @param {any[]} models  it and those inside it
 */
function isOwned(model, models) {
  const optimizer = optimizerOf(model);
  const known = models.filter(other => optimizerOf(other) === optimizer).map(other => compiled.get(other)?.named ?? ownsOptimizer(other));
  return known.find(owned => owned !== null) ?? null;
}

/**
 * Releases a model: its weights and its layers' states, those of models inside it, what the initializers of its weights
 * left, and its optimizer if it made that itself. `model.dispose()` is called too, where there is one, so that the model
 * knows that it is released. A layer, or a model inside it, that another model calls as well stays until that is released; so
 * does what `keep` names. To release a model again does nothing.
 *
 * What TensorFlow.js does not tell apart goes: a layer that a wrapper has and somebody else too, and layers whose one call
 * belongs to two models, as where one is cut out of the other. Name in `keep` what is to stay then. Up to 1.0.4 the last
 * prediction of a stateful layer is its state, and goes with it.
 *
 * 0.7.0 to 1.0.0 do not record whether an optimizer was given by its name. There the optimizer stays, and is told in
 * `kept`, unless the model was made by `makeModel`, or `optimizer` says otherwise.
 * @param {any} model
 * @param {{optimizer?: boolean, keep?: any[]}} [options]  `optimizer`: whether it goes too, by default if the model made it
 *   itself; `keep`: models and layers that stay, with all that is inside them
 * @returns {{tensors: number, kept: string[]}}  how many tensors were released, and what the model has that was not
 */
export function releaseModel(model, {optimizer, keep = []} = {}) {
  if (!isLayer(model) || !isModel(model)) throw new TypeError('releaseModel takes a model of layers');
  const layers = released.has(model) ? [model] : [...layersOf(model, keep)];
  if (layers.length === 0) return {tensors: 0, kept: ['the model: another one calls it, or it is to be kept']};
  const models = layers.filter(isModel);
  const owners = models.map(each => ({state: alive(tensorsOfOptimizer(optimizerOf(each))), owned: optimizer ?? isOwned(each, models)}));
  const all = new Set(alive([
    ...released.has(model) ? [] : layers.flatMap(tensorsOf),
    ...models.flatMap(keptByFit),
    ...models.flatMap(each => compiled.get(each)?.former ?? []).flatMap(tensorsOfOptimizer),
    ...owners.flatMap(({state, owned}) => (owned ? state : [])),
  ]));
  const kept = owners.some(({state, owned}) => owned === null && state.length > 0)
    ? ['the optimizer: this release does not record whether the model made it; releaseModel(model, {optimizer: true})'] : [];
  if (!released.has(model)) {
    forget(model);
    if (keep.length === 0) disposeBy(model, layers);
    for (const each of models) released.add(each);
  }
  for (const tensor of alive([...all])) tensor.dispose();
  return {tensors: all.size, kept};
}

/** @param {any} model @param {any[]} layers */
function disposeBy(model, layers) {
  if (typeof model.dispose !== 'function') return;
  // From 0.15.0 to 1.0.4 a Dropout layer disposes of a scalar that the library has in its cache, so that the next such model
  // cannot be trained: it is given a copy.
  const copied = layers.filter(layer => layer.rateScalar?.isDisposed === false);
  for (const layer of copied) layer.rateScalar = layer.rateScalar.clone();
  try {
    model.dispose();
  } catch {
    // From 1.0.1 to 1.2.2 that of a Sequential throws before it was compiled, and on most releases a second one does. What it
    // leaves is released afterwards.
  }
  for (const {rateScalar} of copied) if (!rateScalar.isDisposed) rateScalar.dispose();
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
  if (typeof make !== 'function') throw new TypeError('makeModel takes TensorFlow.js and a function that returns a model of layers');
  const engine = engineOf(tf);
  engine.startScope('makeModel');
  /** @type {any} */
  let model;
  try {
    model = make();
  } finally {
    engine.endScope(); // by itself: up to 0.12.3 tf.tidy leaves its scope open where something throws
  }
  if (!isLayer(model) || !isModel(model)) throw new TypeError('makeModel takes a function that returns a model of layers, at once');
  const {compile} = model;
  model.compile = (/** @type {any} */ config) => {
    const before = compiled.get(model);
    const former = before?.named ? [...before.former, optimizerOf(model)] : before?.former ?? [];
    compiled.set(model, {named: typeof config?.optimizer === 'string', former});
    return compile.call(model, config);
  };
  if (permanentScope(engine)) watchFit(model, engine);
  return model;
}
