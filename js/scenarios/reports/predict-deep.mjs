// tensorflow/tfjs#4457 and #5007: one deep model predicts in a tidy, again and again.
let model, x;

export async function prepare({tf, models}) {
  const hidden = Array.from({length: 40}, () => tf.layers.dense({units: 16, activation: 'relu'}));
  model = models.make(() => tf.sequential({
    layers: [tf.layers.flatten({inputShape: [9, 9, 3]}), ...hidden, tf.layers.dense({units: 10})],
  }));
  x = tf.ones([4, 9, 9, 3]);
}

export default async function* ({tf}) {
  for (let time = 0; time < 3; time += 1) {
    tf.tidy(() => {
      model.predict(x).dataSync();
    });
  }
  yield 'predicted';
}
