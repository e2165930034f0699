// tensorflow/tfjs#7983: batch normalization of each frame of a clip is applied as in training, inside a tidy.
let model, clip;

export async function prepare({tf, models}) {
  const each = tf.layers.timeDistributed({layer: tf.layers.batchNormalization({}), inputShape: [2, 3]});
  model = models.make(() => tf.sequential({layers: [each]}));
  clip = tf.ones([1, 2, 3]);
}

export default async function* ({tf}) {
  tf.tidy(() => {
    model.apply(clip, {training: true});
  });
  yield 'applied';
}
