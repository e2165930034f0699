// The model that a recipe is tried on, whatever it is: of the zoo, or the user's own; and data that fit it.

import {ROWS, inputs} from '../models/data.mjs';

/** The release has not what the model is made of, or the user's own file cannot make it. */
class ModelNotMade extends Error {
  name = 'ModelNotMade';
}

/** The release cannot do with the model what is asked for. */
export class ModelNotUsed extends Error {
  name = 'ModelNotUsed';

  /** @param {any} error */
  constructor(error) {
    super(error?.message ?? String(error));
  }
}

/**
 * How the model is made. Throws ModelNotMade where it cannot be.
 * @param {any} context
 * @returns {Promise<{make?: () => any, load?: () => Promise<any>}>}  `make` where it is made at once
 */
export async function subject({models, params, importModule}) {
  const {model} = params;
  if (!/[./]/.test(model)) return {make: told(models[model])};
  if (!/\.[mc]?js$/.test(model)) return {load: () => models.load(model).catch(notMade)};
  const own = (await importModule(model).catch(notMade)).default;
  if (typeof own !== 'function') throw new ModelNotMade(`${model} exports no function as default, which is to make the model`);
  return {make: told(() => models.make(own))};
}

/** @param {any} error @returns {never} */
function notMade(error) {
  throw new ModelNotMade(error?.message ?? String(error));
}

/** @param {() => any} make */
function told(make) {
  return () => {
    try {
      return make();
    } catch (error) {
      return notMade(error);
    }
  };
}

/** @param {(number | null)[]} shape  with the batch first */
const sizeOf = shape => shape.slice(1).reduce((/** @type {number} */ size, each) => size * (each ?? 1), 1);

/** @param {any} tf @param {(number | null)[]} shape @param {string} dtype */
const samples = (tf, shape, dtype) => tf.tensor(
  dtype === 'int32' ? new Int32Array(ROWS * sizeOf(shape)) : inputs(sizeOf(shape)), [ROWS, ...shape.slice(1).map(each => each ?? 1)]);

/**
 * Tensors of 8 rows that a model takes.
 * @param {any} tf @param {any} model
 */
export const inputsOf = (tf, model) => model.inputs.map((/** @type {any} */ {shape, dtype}) => samples(tf, shape, dtype));

/**
 * Tensors of 8 rows of what a model could be trained to predict: the first of its classes, each time.
 * @param {any} tf @param {any} model
 */
export const targetsOf = (tf, model) => model.outputs.map((/** @type {any} */ {shape}) => {
  const size = sizeOf(shape);
  const values = Float32Array.from({length: ROWS * size}, (_, index) => (index % shape.at(-1) === 0 ? 1 : 0));
  return tf.tensor(values, [ROWS, ...shape.slice(1)]);
});

/** @param {any[]} all  @returns {any}  a model of one input or output takes and gives it bare */
export const bare = all => (all.length === 1 ? all[0] : all);

/** Collects all garbage, whether or not the worker does so by itself. */
export function collect() {
  const force = /** @type {(() => void) | undefined} */ (globalThis.gc);
  if (force === undefined) throw new Error('Node.js was started without --expose-gc');
  force();
  force();
}
