// tensorflow/tfjs#584: leaks on purpose, a tensor of 128 bytes, so that it shows if some are taken off the count of
// bytes while a loss that has a maximum in it is minimized.
let weight, optimizer;

const leaky = tf => tf.maximum(weight, tf.mul(weight, tf.scalar(0.1))).sum();

export async function prepare({tf}) {
  weight = tf.variable(tf.ones([4, 4]), true);
  optimizer = tf.train.sgd(0.01);
  optimizer.minimize(() => tf.tidy(() => leaky(tf)), true, [weight]).dispose();
}

export default async function* ({tf}) {
  tf.ones([32]);
  yield 'made';
  optimizer.minimize(() => tf.tidy(() => leaky(tf)), true, [weight]).dispose();
  yield 'stepped';
}
