// A converted model is loaded and predicts for the inputs that its reference was made with (py/tensorledger/predictions):
// how far each output is off, how many weights there are. No cycle lives through anything; it is all done before.

import {difference} from '../models/zoo.mjs';
import {optimizerOf} from '../release/owned.mjs';
import {openModel, predictions, sizeOf, tensor} from './model.mjs';

/** @param {{shape: number[], dtype: string}} weight */
const bytesOf = ({shape, dtype}) => sizeOf(shape) * (dtype === 'bool' ? 1 : 4);

/**
 * How many times what is explained the difference is, where it is most; null where something is not a finite number.
 * @param {ArrayLike<number>} found @param {ArrayLike<number>} expected @param {ArrayLike<number>} explained
 * @param {ArrayLike<number>} [error]  what quantized weights explain besides
 */
function largestShare(found, expected, explained, error) {
  let most = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const off = Math.abs(found[i] - expected[i]);
    if (!Number.isFinite(off)) return null;
    if (off > 0) most = Math.max(most, off / (explained[i] + (error?.[i] ?? 0)));
  }
  return Number.isFinite(most) ? most : Number.MAX_VALUE;
}

/** @param {any} context */
export async function prepare(context) {
  const {tf, models, params, tell} = context;
  const model = await openModel(context);
  const weights = params.format === 'graph' ? Object.values(model.weights).flat() : model.weights;
  tell('weights', {count: weights.length, bytes: weights.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + bytesOf(one), 0)});
  tell('compiled', Boolean(optimizerOf(model)));
  tell('trainable', (model.trainableWeights ?? []).length);
  const stored = await models.tensors(params.reference);
  /** @type {object[]} */
  const differences = [];
  for (const {inputs, outputs} of params.sets) {
    const feed = Array.from({length: params.inputs.length}, (_, index) => tensor(tf, stored.get(`${inputs}/input/${index}`)));
    const said = await predictions(model, feed, params);
    if (said.length !== outputs.length) throw new Error(`it gives ${said.length} outputs, and not ${outputs.length}`);
    for (const [index, prediction] of said.entries()) {
      const {shape, values} = stored.get(`${inputs}/output/${index}`);
      const found = await prediction.data();
      const explained = stored.get(`${inputs}/bound/${index}`).values;
      const error = stored.get(`${inputs}/error/${params.format}/${index}`)?.values;
      const times = largestShare(found, values, explained, error);
      differences.push({inputs, output: index, shape: prediction.shape, expected: shape, ...difference(found, values), times});
    }
    for (const one of [...feed, ...said]) one.dispose();
  }
  tell('differences', differences);
}

export default async function parity() {}
