// The classifier that tf_keras saved: loaded, held against Keras's own predictions, and released.
export default async function* ({models, data, release}) {
  let model = await models.load('classifier', {from: 'tf-keras'});
  yield 'loaded';
  const prediction = model.predict(data.x);
  await models.compare('classifier', prediction, {from: 'tf-keras'});
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
