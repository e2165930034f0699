// The extractor that Keras 3 saved: loaded, held against Keras's own predictions, and released.
export default async function* ({models, data, release}) {
  let model = await models.load('extractor');
  yield 'loaded';
  const prediction = model.predict(data.x);
  await models.compare('extractor', prediction);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
