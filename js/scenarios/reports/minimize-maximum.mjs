// tensorflow/tfjs#584: a loss that has a maximum in it is minimized; then the bytes that are counted go astray.
let weight, optimizer;

export async function prepare({tf}) {
  weight = tf.variable(tf.ones([4, 4]), true);
  optimizer = tf.train.sgd(0.01);
}

export default async function* ({tf}) {
  const leaky = () => tf.maximum(weight, tf.mul(weight, tf.scalar(0.1))).sum();
  const loss = optimizer.minimize(() => tf.tidy(leaky), true, [weight]);
  yield 'stepped';
  loss.dispose();
  yield 'disposed';
}
