// A model as the return value of a tidy.
export default async function* ({tf, models, release}) {
  let model = tf.tidy(() => models.classifier());
  yield 'returned';
  model = null;
  await release();
  yield 'released';
}
