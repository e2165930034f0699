// tensorflow/tfjs#1517 and #1549: a model is trained on a dataset that makes its tensors as it goes.
let model;

export async function prepare({tf, models}) {
  const layers = [tf.layers.dense({inputShape: [3], units: 2, activation: 'softmax'})];
  model = models.make(() => tf.sequential({layers}));
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
}

export default async function* ({tf}) {
  const dataset = tf.data.array([0, 1, 0, 1, 0, 1])
    .mapAsync(async label => ({
      xs: tf.ones([3]),
      ys: tf.tidy(() => tf.oneHot(tf.tensor1d([label], 'int32'), 2).reshape([2]).toFloat()),
    }))
    .batch(2);
  await model.fitDataset(dataset, {epochs: 2, verbose: 0});
  yield 'trained';
}
