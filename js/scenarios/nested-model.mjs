// A model inside a model: disposing of the outer one releases both; of the inner one, only that; of both, both.
export default async function* ({models, held}) {
  const first = models.nested();
  yield 'created';
  first.dispose();
  yield 'outer disposed';
  const second = models.nested();
  second.layers[0].dispose();
  yield 'inner disposed';
  second.dispose();
  yield 'both disposed';
  held.length = 0;
}
