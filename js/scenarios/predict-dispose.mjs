// A prediction is the caller's: it lives beside the weights until the caller disposes of it.
export default async function* ({models, data, release}) {
  let model = models.classifier();
  yield 'created';
  const prediction = model.predict(data.x);
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
