// tensorflow/tfjs#4647: an optimizer that trains nothing is disposed of.
export default async function* ({tf}) {
  const optimizer = tf.train.momentum(0.01, 0.5);
  yield 'made';
  optimizer.dispose();
  yield 'disposed';
}
