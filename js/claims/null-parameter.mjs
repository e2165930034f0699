// A function that is handed the model sets its own parameter to null, or does not; the caller drops its name either way.
/** @param {any} model @param {any} x @param {boolean} nulled */
function use(model, x, nulled) {
  model.predict(x).dispose();
  if (nulled) model = null;
}

export default async function* ({models, data, params, held}) {
  let model = models.classifier();
  use(model, data.x, params.nulled);
  yield model === null ? 'the caller has no model' : 'the caller has its model';
  model = null;
  held.length = 0;
  yield 'dropped';
}
