// WebGL textures after a model is released, where TensorFlow.js was told to keep none: all are deleted.
export default async function* ({tf, models, data, release}) {
  tf.env().set('WEBGL_DELETE_TEXTURE_THRESHOLD', 0);
  let model = models.classifier();
  const prediction = model.predict(data.x);
  await prediction.data();
  yield 'predicted';
  prediction.dispose();
  model = null;
  await release();
  yield 'released';
}
