// tensorflow/tfjs#69: an inner tidy keeps a tensor that was made in the outer one.
export default async function* ({tf}) {
  let kept;
  tf.tidy(() => {
    const made = tf.scalar(7);
    tf.tidy(() => {
      kept = tf.keep(made);
    });
  });
  yield 'tidied';
  kept.dispose();
  yield 'disposed';
}
