// A tidy takes the prediction and all that was made on the way to it, and leaves the model alone.
export default async function* ({tf, models, data, release}) {
  let model = models.classifier();
  yield 'created';
  tf.tidy(() => {
    model.predict(data.x).dataSync();
  });
  yield 'predicted';
  model = null;
  await release();
  yield 'released';
}
