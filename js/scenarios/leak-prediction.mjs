// Leaks on purpose: the prediction is never disposed of. The suite asserts that this is caught.
export default async function* ({models, data, release}) {
  let model = models.classifier();
  model.predict(data.x);
  yield 'predicted';
  model = null;
  await release();
  yield 'released';
}
