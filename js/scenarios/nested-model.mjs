// A model inside a model: disposing of the outer one releases both; of the inner one, only that; of both, both.
export default async function* ({models, held}) {
  models.nested().dispose();
  yield 'outer disposed';
  const model = models.nested();
  model.layers[0].dispose();
  yield 'inner disposed';
  model.dispose();
  yield 'both disposed';
  held.length = 0;
}
