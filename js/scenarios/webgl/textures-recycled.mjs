// WebGL textures after a model is released: none is in use, and all are kept to be used again, which is the default.
export default async function* ({models, data, release}) {
  let model = models.classifier();
  const prediction = model.predict(data.x);
  await prediction.data();
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
