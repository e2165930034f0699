// A layer that a model calls twice is one layer: its weights are counted, and released, once.
export default async function* ({models, data, release}) {
  let model = models.shared();
  yield 'created';
  model.predict(data.x).dispose();
  yield 'predicted';
  model = null;
  await release();
  yield 'released';
}
