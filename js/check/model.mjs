// A model that someone brought, of layers or a graph: opened, and asked for predictions.

/** @param {number[]} shape */
export const sizeOf = shape => shape.reduce((size, each) => size * each, 1);

/** @param {any} tf @param {{shape: number[], dtype: string, values: any}} stored */
export const tensor = (tf, {shape, dtype, values}) => tf.tensor(values, shape, dtype);

/** @param {any} context */
export const openModel = ({models, params: {format, folder}}) => (format === 'graph' ? models.loadGraph(folder) : models.load(folder));

/**
 * What belongs to some names, in the order of others; as it is where the names are not the same.
 * @template T @param {string[] | undefined} wanted @param {string[] | undefined} names @param {T[]} all
 */
const inOrder = (wanted, names, all) => (
  wanted?.length === all.length && names?.length === all.length && wanted.every(name => names.includes(name)) && new Set(names).size === all.length
    ? wanted.map(name => all[names.indexOf(name)]) : all);

/**
 * One tensor for each output, in the reference's order.
 * @param {any} model @param {any[]} feed @param {{format: string, inputs: string[], outputs: string[]}} params
 * @returns {Promise<any[]>}
 */
export async function predictions(model, feed, {format, inputs, outputs}) {
  if (format !== 'graph') {
    const ordered = inOrder(model.inputNames, inputs, feed);
    return inOrder(outputs, model.outputNames, [model.predict(ordered.length === 1 ? ordered[0] : ordered)].flat());
  }
  const named = Object.fromEntries(inputs.map((name, index) => [name, feed[index]]));
  const before = new Set(feed);
  let said;
  try {
    said = model.execute(named, outputs);
  } catch (error) {
    // Loops, such as recurrent layers have, take waiting.
    if (!/executeAsync/.test(/** @type {Error} */ (error).message)) throw error;
    said = await model.executeAsync(named, outputs);
  }
  return [said].flat().map(one => (before.has(one) ? one.clone() : one));
}
