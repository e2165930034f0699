// A tidy does not release a model that is made inside it: its weights are variables, which no scope owns.
export default async function* ({tf, models, release}) {
  tf.tidy(() => {
    models.classifier();
  });
  yield 'tidied';
  await release();
  yield 'released';
}
