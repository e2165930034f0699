// A model is made, predicts and is released, and `size` bytes of the JavaScript heap stay a cycle. 0: its twin.
const kept = [];

export default async function* ({models, data, params: {size}, release}) {
  let model = models.classifier();
  yield 'created';
  model.predict(data.x).dispose();
  if (size) kept.push(Array.from({length: size / 8}, (_, i) => i + 0.5));
  model = null;
  await release();
  yield 'released';
}
