// A model is made and released; nothing else happens to it.
export default async function* ({models, release}) {
  models.classifier();
  yield 'created';
  await release();
  yield 'released';
}
