// tensorflow/tfjs#8459: a model is loaded, predicts and is disposed of, again and again.
export default async function* ({models, data, release}) {
  let model = await models.load('classifier');
  model.predict(data.x).dispose();
  yield 'predicted';
  model = null;
  await release();
  yield 'released';
}
