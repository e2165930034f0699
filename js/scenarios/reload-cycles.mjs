// A saved model is loaded and released, three times over in one cycle.
export default async function* ({models, release}) {
  for (const time of ['first', 'second', 'third']) {
    await models.load('classifier');
    yield `loaded the ${time} time`;
    await release();
  }
  yield 'released';
}
