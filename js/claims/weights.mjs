// How many tensors and bytes the weights of the converted classifier are, at each step of its life.
/** @param {any} model @param {string} step */
const told = (model, step) => {
  const weights = model.getWeights();
  return `${step}: ${weights.length} weights, ${weights.reduce((bytes, {size}) => bytes + 4 * size, 0)} bytes`;
};

export default async function* ({models, data, release}) {
  const model = await models.load('classifier');
  yield told(model, 'loaded');
  model.predict(data.x).dispose();
  yield told(model, 'predicted');
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy'});
  yield told(model, 'compiled');
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield told(model, 'trained');
  await release();
}
