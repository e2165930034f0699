// The same for the deeper model, with dropout and layer normalization, none of it trainable.
export default async function* ({models, data, release}) {
  let model = models.extractor();
  yield 'created';
  const prediction = model.predict(data.x);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
