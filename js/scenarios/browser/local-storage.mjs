// A model is saved to the page's localStorage and loaded from there: there are two models then, and each is released.
export default async function* ({tf, models, data, release}) {
  let model = models.classifier();
  await model.save('localstorage://tensorledger');
  yield 'saved';
  let loaded = await models.loadFrom('localstorage://tensorledger');
  yield 'loaded';
  loaded.predict(data.x).dispose();
  await tf.io.removeModel('localstorage://tensorledger');
  yield 'removed';
  model = null;
  loaded = null;
  await release();
  yield 'released';
}
