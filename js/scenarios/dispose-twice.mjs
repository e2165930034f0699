// Disposing of a model a second time is a mistake, and says so.
export default async function* ({models, held}) {
  const model = models.classifier();
  model.dispose();
  held.length = 0;
  yield 'disposed';
  model.dispose();
  yield 'disposed twice';
}
