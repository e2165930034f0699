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

/** @param {any} model @param {any} x @returns {Float32Array} */
function predict(model, x) {
  const prediction = model.predict(x), values = prediction.dataSync().slice();
  prediction.dispose();
  return values;
}

export default async function* ({tf, models, data, release, params}) {
  const twin = models.narrow(), expected = predict(twin, data.x);
  yield 'the twin predicts';
  const model = made(tf, () => models.narrow(), params.how);
  if (!model) throw new Error('the tidy returned no model');
  model.setWeights(twin.getWeights());
  const found = predict(model, data.x);
  yield found.every((value, index) => value === expected[index]) ? 'predicts as one made outside' : 'predicts otherwise';
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield predict(model, data.x).every(Number.isFinite) ? 'trains' : 'trains to what is not finite';
  await release();
}
