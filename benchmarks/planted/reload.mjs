// A saved model is loaded again in each cycle, predicts and is released. size = 0: its twin, which loads it once.
let kept;

export default async function* ({models, data, held, params: {size}, release}) {
  const model = kept ?? await models.load('classifier');
  if (!size) {
    kept = model;
    held.length = 0;
  }
  yield 'loaded';
  model.predict(data.x).dispose();
  await release();
  yield 'released';
}
