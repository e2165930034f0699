// A model that was disposed of cannot predict any more, and says so.
export default async function* ({models, data, held}) {
  const model = models.classifier();
  model.dispose();
  held.length = 0;
  yield 'disposed';
  model.predict(data.x).dispose();
  yield 'predicted';
}
