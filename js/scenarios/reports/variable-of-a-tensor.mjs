// tensorflow/tfjs#133: leaks on purpose, for disposing of a variable leaves the tensor that it began with.
export default async function* ({tf}) {
  const weights = tf.variable(tf.ones([4, 2]));
  yield 'made';
  weights.dispose();
  yield 'disposed';
}
