// A stateful layer keeps its states from one prediction to the next; they are the model's, and go with it.
export default async function* ({models, data, release}) {
  let model = models.recurrent();
  yield 'created';
  const x = data.x.reshape([8, 28, 28]);
  model.predict(x).dispose();
  yield 'predicted';
  model.predict(x).dispose();
  yield 'predicted again';
  x.dispose();
  model = null;
  await release();
  yield 'released';
}
