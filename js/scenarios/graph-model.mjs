// The classifier as a graph model: no layers, only weights and operations.
export default async function* ({models, data, release}) {
  let model = await models.loadGraph('classifier');
  yield 'loaded';
  const prediction = model.predict(data.x);
  await models.compare('classifier', prediction);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
