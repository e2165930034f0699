// A trained model that nobody releases: a recipe must leave it every tensor, and its predictions as they were.

import {engineOf, isOutside} from '../ledger/engine.mjs';
import {layersOf, optimizerOf, tensorsOf, tensorsOfOptimizer} from '../release/owned.mjs';

/** @template T @param {() => T} act @returns {T | null} */
function attempt(act) {
  try {
    const done = act();
    return done instanceof Promise ? /** @type {T} */ (done.catch(() => null)) : done;
  } catch {
    return null;
  }
}

/** @type {{model: any, x: any, tensors: any[], predicted: Float32Array | null} | null} */
let bystander = null;

class BystanderHarmed extends Error {
  name = 'BystanderHarmed';
}

/**
 * Makes it, once for a worker's life.
 * @param {any} context
 */
export async function prepare({tf, models, data}) {
  if (bystander !== null) return;
  const {x, y} = data.classifier;
  const model = models.narrow();
  // In 0.11.2 to 0.11.6, which bring two copies of tfjs-core, no model predicts or can be trained: it has its weights there.
  await attempt(async () => {
    model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy'});
    await model.fit(x, y, {batchSize: 8, epochs: 1, verbose: 0});
  });
  // Early releases leave a scope open where something throws in it.
  while (!isOutside(engineOf(tf))) engineOf(tf).endScope();
  const tensors = [...[...layersOf(model)].flatMap(tensorsOf), ...tensorsOfOptimizer(optimizerOf(model))];
  bystander = {model, x, tensors, predicted: attempt(() => predict(model, x))};
}

/** Throws BystanderHarmed, with what it lost, where it is not as it was. */
export function check() {
  if (bystander === null) throw new Error('there is no bystander');
  const {model, x, tensors, predicted} = bystander;
  const gone = tensors.filter(tensor => tensor.isDisposed).length;
  if (gone > 0) throw new BystanderHarmed(`it lost ${gone} of its ${tensors.length} tensors`);
  if (predicted === null) return;
  let now;
  try {
    now = predict(model, x);
  } catch (error) {
    throw new BystanderHarmed(`it predicts no more: ${/** @type {Error} */ (error).message}`);
  }
  if (now.some((value, index) => !Object.is(value, predicted[index]))) throw new BystanderHarmed('it predicts otherwise');
}

/** @param {any} model @param {any} x @returns {Float32Array} */
function predict(model, x) {
  const prediction = model.predict(x);
  const values = prediction.dataSync().slice();
  prediction.dispose();
  return values;
}
