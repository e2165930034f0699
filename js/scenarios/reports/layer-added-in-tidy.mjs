// tensorflow/tfjs#3619: a layer joins a sequential model inside a tidy, and the model is released outside of it.
export default async function* ({models, release}) {
  models.make(tf => {
    const model = tf.sequential();
    tf.tidy(() => {
      model.add(tf.layers.dense({inputShape: [3], units: 6}));
    });
    return model;
  });
  yield 'made';
  await release();
  yield 'released';
}
