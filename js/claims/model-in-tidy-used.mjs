// A model that is made inside a tidy, or returned from one, beside a twin made outside that has the same weights (early
// releases pay no heed to seeds): predictions, training, release.
/** @param {any} tf @param {any} make @param {string} how */
function made(tf, make, how) {
  if (how === 'returned') return tf.tidy(make);
  let model;
  tf.tidy(() => {
    model = make();
  });
  return model;
}

export default async function* ({tf, models, data, release, params}) {
  const twin = models.narrow(), model = made(tf, () => models.narrow(), params.how);
  if (!model) throw new Error('the tidy returned no model');
  model.setWeights(twin.getWeights());
  const [one, other] = [twin, model].map(each => each.predict(data.x));
  const same = one.dataSync().every((value, index) => value === other.dataSync()[index]);
  one.dispose();
  other.dispose();
  yield same ? 'predicts as one made outside' : 'predicts otherwise';
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  const changed = model.predict(data.x);
  const finite = changed.dataSync().every(Number.isFinite);
  changed.dispose();
  yield finite ? 'trains' : 'trains to what is not finite';
  await release();
}
