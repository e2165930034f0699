// What a model of layers owns, on any release: found by looking at its own fields, because no release tells all of it.

import {permanentScope} from '../ledger/engine.mjs';
import {shared} from '../ledger/shared.mjs';
import {watchEngines} from '../ledger/watch.mjs';

/** The fields of recurrent layers and their cells that hold tensors which are not weights. */
const STATES = ['states', 'states_', 'keptStates', 'dropoutMask', 'recurrentDropoutMask'];

/** How deep an optimizer holds its tensors: Optimizer → core optimizer → moments → entry → variable. */
const DEPTH = 5;

/** @param {any} layer */
export const isModel = layer => layer.containerNodes instanceof Set;

/** @param {any} value */
export const isLayer = value => typeof value?.addWeight === 'function' && typeof value.getWeights === 'function';

/** @param {any} value */
export const isTensor = value => typeof value?.dispose === 'function' && typeof value.dataId === 'object' && Array.isArray(value.shape);

/**
 * The fields in which models, wrappers and recurrent layers have what is inside them. Others may hold what is somebody's: a
 * teacher, a peer. Early releases' Sequential has a model of its own layers in `model`.
 */
const INSIDE = ['layers', 'model', 'layer', 'forwardLayer', 'backwardLayer', 'cell', 'cells'];

/** Applications of layers, in models that were released: they keep no layer any more. @type {WeakSet<object>} */
const over = shared('over', () => new WeakSet());

/** The calls of a layer; the nodes that inputs and models have by themselves have nothing before them. @param {any} layer @returns {any[]} */
const calls = layer => (layer.inboundNodes ?? []).filter((/** @type {any} */ node) => node.inboundLayers.length > 0);

/** @param {any} layer @param {any[]} models */
const isAmong = (layer, models) => models.some(
  ({layers, inputs}) => layers.includes(layer) || inputs?.some((/** @type {any} */ input) => input.sourceLayer === layer));

/**
 * The layers that a model owns, each once however often it is called: the model itself, those of models and wrappers inside
 * it, the cells of recurrent ones. Not those that are called in another model too, which is not released yet.
 * @param {any} model
 * @param {any[]} [keep]  models and layers that stay, with all that is inside them
 * @returns {Set<any>}
 */
export function layersOf(model, keep = []) {
  const kept = new Set(keep.flatMap(each => [...reach(each, () => true)]));
  const models = [...reach(model, () => true)].filter(isModel);
  return reach(model, layer => !kept.has(layer) && users(layer, models) === 0);
}

/**
 * Remembers that a model is released, so that layers which it shares with others are only theirs.
 * @param {any} model
 */
export function forget(model) {
  const models = [...reach(model, () => true)].filter(isModel);
  for (const layer of models.flatMap(each => each.layers)) {
    for (const node of callsIn(layer, models)) over.add(node);
  }
}

/** @param {any} model @param {(layer: any) => boolean} wanted  what is not wanted is not looked into either */
function reach(model, wanted) {
  const found = new Set();
  const waiting = [model];
  for (let layer = waiting.pop(); layer !== undefined; layer = waiting.pop()) {
    if (found.has(layer) || !wanted(layer)) continue;
    found.add(layer);
    waiting.push(...INSIDE.flatMap(field => layer[field] ?? []).filter(isLayer));
  }
  return found;
}

/**
 * In how many places outside of some models a layer is called. TensorFlow.js counts from 0.12.5 on how often it is called
 * at all, and takes a disposed model off; a model counts itself too.
 * @param {any} layer @param {any[]} models
 */
function users(layer, models) {
  const mine = callsIn(layer, models).filter(node => !over.has(node)).length;
  const others = calls(layer).filter(node => !over.has(node)).length - mine;
  const counted = layer._refCount ?? null;
  if (counted === null) return others;
  // A model that was disposed of by itself has taken its calls off already.
  const still = models[0]?._refCount === 0 ? 0 : mine;
  return Math.max(0, Math.min(others, counted - still - (isModel(layer) ? 1 : 0)));
}

/** The calls of a layer in some models. @param {any} layer @param {any[]} models @returns {any[]} */
function callsIn(layer, models) {
  const homes = models.filter(model => model.layers.includes(layer));
  return calls(layer).filter(node => homes.some(model => (
    model.containerNodes.size > 0
      ? model.containerNodes.has(`${layer.name}_ib-${layer.inboundNodes.indexOf(node)}`)
      // Early releases' Sequential knows its calls only once it was compiled or has predicted: they follow its own layers.
      : node.inboundLayers.every((/** @type {any} */ previous) => isAmong(previous, models)))));
}

/**
 * The tensors of one layer: its weights, its states, and what the initializers of its weights left.
 * @param {any} layer
 * @returns {any[]}
 */
export function tensorsOf(layer) {
  const weights = [...layer._trainableWeights ?? [], ...layer._nonTrainableWeights ?? []].map(weight => weight.val ?? weight);
  const states = STATES.flatMap(field => [layer[field]].flat(Infinity));
  return [...weights, ...states, ...initializerOutputs(weights, 'recurrentKernel' in layer)].filter(isTensor);
}

/**
 * The tensors that an optimizer holds: its scalars, and what it has accumulated.
 * @param {any} optimizer
 * @returns {any[]}
 */
export function tensorsOfOptimizer(optimizer) {
  const found = new Set();
  const look = (/** @type {any} */ value, /** @type {number} */ depth) => {
    if (isTensor(value)) found.add(value);
    else if (value !== null && typeof value === 'object' && depth > 0) Object.values(value).forEach(inner => look(inner, depth - 1));
  };
  look(optimizer, DEPTH);
  return [...found];
}

/**
 * The optimizer of a model; undefined where it has none.
 * @param {any} model
 */
export function optimizerOf(model) {
  try {
    return model.optimizer ?? undefined;
  } catch {
    return undefined; // 1.0.1 to 1.2.2: a Sequential that was never compiled
  }
}

/**
 * Whether a model made its optimizer itself, of a name; null where the release does not record it (0.7.0 to 1.0.0).
 * @param {any} model
 * @returns {boolean | null}
 */
export function ownsOptimizer(model) {
  const wrapped = optimizerOf(model)?.createdFromCoreOptimizer;
  return typeof wrapped === 'boolean' ? !wrapped : model.isOptimizerOwned ?? model.model?.isOptimizerOwned ?? null;
}

/**
 * What the initializers of weights left beside them. Up to 0.14.0 each leaves its output, whose id is the one before the
 * weight's, and a recurrent layer's also what it was computed from. Nothing refers to them but the engine's permanent
 * scope, where they are if they were made outside of any other.
 * @param {any[]} weights  of one layer
 * @param {boolean} recurrent
 * @returns {any[]}
 */
function initializerOutputs(weights, recurrent) {
  const outputs = tensorsOutside();
  if (outputs.length === 0) return [];
  const ids = weights.map(weight => weight.id).sort((one, other) => one - other);
  return outputs.filter(tensor => ids.some((id, index) => {
    const previous = recurrent && index > 0 ? ids[index - 1] : id - 2;
    return previous < tensor.id && tensor.id < id;
  }));
}

/**
 * What was made outside of every scope that ends, by engines that keep a list of it.
 * @returns {any[]}
 */
function tensorsOutside() {
  /** @type {any[]} */
  const engines = [];
  watchEngines(engine => engines.push(engine))();
  return engines.flatMap(engine => permanentScope(engine)?.track ?? []);
}
