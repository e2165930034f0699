// tensorflow/tfjs#7983: a model for clips is asked, and applied as in training, inside tidies, and is disposed of.
export default async function* ({tf, models, release}) {
  const model = models.make(() => {
    const made = tf.sequential();
    tf.tidy(() => {
      made.add(tf.layers.timeDistributed({layer: tf.layers.batchNormalization({}), inputShape: [2, 3]}));
      made.add(tf.layers.lstm({units: 4, dropout: 0.5, recurrentDropout: 0.5}));
    });
    return made;
  });
  const clip = tf.ones([1, 2, 3]);
  yield 'made';
  tf.tidy(() => {
    model.predict(clip);
  });
  yield 'predicted';
  tf.tidy(() => {
    model.apply(clip, {training: true});
  });
  yield 'applied';
  clip.dispose();
  await release();
  yield 'released';
}
