// A model as the return value of a tidy.
export default async function* ({tf, models, release}) {
  tf.tidy(() => models.classifier());
  yield 'returned';
  await release();
  yield 'released';
}
