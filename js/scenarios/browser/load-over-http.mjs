// The classifier that Keras 3 saved, loaded over HTTP by TensorFlow.js itself, held against Keras's predictions, and released.
export default async function* ({models, data, release}) {
  let model = await models.loadFrom(await models.address('classifier'));
  yield 'loaded';
  const prediction = model.predict(data.x);
  await models.compare('classifier', prediction);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
