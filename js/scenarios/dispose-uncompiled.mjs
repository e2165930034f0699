// A model that was never compiled has no optimizer to dispose of; dispose() is to do without.
export default async function* ({models, held}) {
  const model = models.classifier();
  yield 'created';
  model.dispose();
  held.length = 0;
  yield 'disposed';
}
