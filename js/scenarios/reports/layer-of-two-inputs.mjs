// tensorflow/tfjs#7667: one layer is called on two inputs of a model, which is disposed of. (Made in a tidy, as what
// initializers return stays up to 0.14.1 otherwise.)
export default async function* ({tf, models, release}) {
  models.make(() => {
    const inputs = [tf.input({shape: [3]}), tf.input({shape: [3]})];
    const twin = tf.layers.dense({units: 2});
    const outputs = [];
    tf.tidy(() => {
      for (const input of inputs) outputs.push(twin.apply(input));
    });
    return tf.model({inputs, outputs});
  });
  yield 'made';
  await release();
  yield 'released';
}
