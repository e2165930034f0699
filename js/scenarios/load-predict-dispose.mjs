// The classifier that Keras 3 saved: loaded, held against Keras's own predictions, and released.
export default async function* ({models, data, release}) {
  let model = await models.load('classifier');
  yield 'loaded';
  const prediction = model.predict(data.x);
  await models.compare('classifier', prediction);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
