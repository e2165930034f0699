// tensorflow/tfjs#1167: a convolutional model with pooling is trained for some more epochs.
let model, x;

export async function prepare({tf, models, data}) {
  model = models.make(() => tf.sequential({layers: [
    tf.layers.conv2d({inputShape: [28, 28, 1], filters: 2, kernelSize: 5, activation: 'relu'}),
    tf.layers.averagePooling2d({poolSize: 2, strides: 2}),
    tf.layers.flatten(),
    tf.layers.dense({units: 10, activation: 'softmax'}),
  ]}));
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  x = data.x.reshape([8, 28, 28, 1]);
}

export default async function* ({data}) {
  await model.fit(x, data.y, {batchSize: 4, epochs: 2, verbose: 0});
  yield 'trained';
}
