// A trained model that nobody releases: a recipe must leave it every tensor, and its predictions as they were.

import {layersOf, tensorsOf, tensorsOfOptimizer} from '../release/owned.mjs';

/** @type {{model: any, x: any, tensors: any[], predicted: Float32Array} | null} */
let bystander = null;

class BystanderHarmed extends Error {
  name = 'BystanderHarmed';
}

/**
 * Makes it, once for a worker's life.
 * @param {any} context
 */
export async function prepare({models, data}) {
  if (bystander !== null) return;
  const {x, y} = data.classifier;
  const model = models.narrow();
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy'});
  await model.fit(x, y, {batchSize: 8, epochs: 1, verbose: 0});
  const tensors = [...[...layersOf(model)].flatMap(tensorsOf), ...tensorsOfOptimizer(model.optimizer)];
  bystander = {model, x, tensors, predicted: predict(model, x)};
}

/** Throws BystanderHarmed, with what it lost, where it is not as it was. */
export function check() {
  if (bystander === null) throw new Error('there is no bystander');
  const {model, x, tensors, predicted} = bystander;
  const gone = tensors.filter(tensor => tensor.isDisposed).length;
  if (gone > 0) throw new BystanderHarmed(`it lost ${gone} of its ${tensors.length} tensors`);
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
