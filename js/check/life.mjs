// A model that someone brought is loaded, predicts, is trained, as far as `usage` says, and is released.

import {targetsOf} from '../recipes/subject.mjs';
import {openModel, predictions, tensor} from './model.mjs';

/** @type {any[]} */
let feed;

/** @param {any} context */
export async function prepare({tf, models, params}) {
  const stored = await models.tensors(params.reference);
  feed = Array.from({length: params.inputs.length}, (_, index) => tensor(tf, stored.get(`random/input/${index}`)));
}

/** @param {any} context */
export default async function* life(context) {
  const {params, release} = context;
  let model = await openModel(context);
  yield 'loaded';
  if (params.usage === 'predicted') {
    const said = await predictions(model, feed, params);
    yield 'predicted';
    for (const prediction of said) prediction.dispose();
  }
  if (params.usage === 'trained') {
    await fit(context.tf, model);
    yield 'trained';
  }
  model = null;
  await release();
  yield 'released';
}

/** In a function of its own, so that none of its names refers to the model any more. @param {any} tf @param {any} model */
async function fit(tf, model) {
  const rows = feed[0].shape[0];
  const sparse = [model.loss].flat().includes('sparseCategoricalCrossentropy');
  const targets = sparse ? [tf.zeros([rows, 1])] : targetsOf(tf, model);
  try {
    await model.fit(feed.length === 1 ? feed[0] : feed, targets.length === 1 ? targets[0] : targets, {batchSize: rows, epochs: 1, verbose: 0});
  } finally {
    for (const target of targets) target.dispose();
  }
}
