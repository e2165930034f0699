// The training data: 8 rows in one batch, defined by arithmetic so that both runtimes have the very same numbers
// without a file (py/tensorledger/data/samples.py is the other half).

export const ROWS = 8;

/** @param {number} features  @returns {Float32Array} of 8 rows of `features`, uniform in [0, 1) */
export function inputs(features) {
  // Math.imul is exact modulo 2 ** 32, where a plain product would be rounded.
  return Float32Array.from({length: ROWS * features}, (_, k) => (Math.imul(k, 2654435761) >>> 0) / 2 ** 32);
}

/** @param {number} outputs  @returns {Float32Array} one-hot rows, or a column of 0 and 1 for one output */
export function labels(outputs) {
  const values = new Float32Array(ROWS * outputs);
  for (let row = 0; row < ROWS; row += 1) {
    if (outputs > 1) values[row * outputs + row % outputs] = 1;
    else values[row] = row % 2;
  }
  return values;
}

/** @type {Record<string, {features: number, outputs: number}>} */
const SHAPES = {classifier: {features: 784, outputs: 10}, extractor: {features: 64, outputs: 1}};

/**
 * For each model of the zoo its x and y, as tensors that stay for the worker's life.
 * @param {any} tf
 */
export function makeData(tf) {
  return Object.fromEntries(Object.entries(SHAPES).map(([model, {features, outputs}]) => [model, {
    x: tf.tensor2d(inputs(features), [ROWS, features]),
    y: tf.tensor2d(labels(outputs), [ROWS, outputs]),
  }]));
}
