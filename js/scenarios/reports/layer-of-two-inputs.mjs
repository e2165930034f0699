// tensorflow/tfjs#7667: one layer is called on two inputs of a model, which is disposed of.
export default async function* ({models, release}) {
  models.make(tf => {
    const twin = tf.layers.dense({units: 2});
    const inputs = [tf.input({shape: [3]}), tf.input({shape: [3]})];
    return tf.model({inputs, outputs: inputs.map(input => twin.apply(input))});
  });
  yield 'made';
  await release();
  yield 'released';
}
