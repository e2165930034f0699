// The rate that is in force where the regularizer is handed a bare number: by what it makes of a tensor of ones.
export default async function* ({tf, params}) {
  const ones = tf.ones([10]);
  const penalty = tf.regularizers.l2(params.rate).apply(ones);
  const rate = penalty.dataSync()[0] / 10;
  ones.dispose();
  penalty.dispose();
  yield `in force: ${rate.toPrecision(3)}`;
}
