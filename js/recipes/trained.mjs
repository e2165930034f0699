// A model is made or loaded, predicts or is trained, and is released. Asynchronous, as loading and training are.

import * as bystander from './bystander.mjs';
import {ModelNotUsed, bare, collect, inputsOf, subject, targetsOf} from './subject.mjs';

/** @type {{make?: () => any, load?: () => Promise<any>}} */
let found;

/** @param {any} context */
export async function prepare(context) {
  found = await subject(context);
  await bystander.prepare(context);
}

/** @param {any} context */
export default async function trained({tf, params, release}) {
  try {
    await use(tf, params.usage);
  } finally {
    await release();
    if (params.collect) collect();
  }
  bystander.check();
}

/** In a function of its own, as in used.mjs. @param {any} tf @param {string} usage */
async function use(tf, usage) {
  const model = await (found.make ?? found.load)?.();
  const x = inputsOf(tf, model), y = usage === 'trained' ? targetsOf(tf, model) : [];
  try {
    if (usage === 'predicted') for (const prediction of [model.predict(bare(x))].flat()) prediction.dispose();
    if (usage === 'trained') {
      for (const layer of model.layers) layer.trainable = true; // the extractor's are not
      model.compile({optimizer: 'adam', loss: 'meanSquaredError'});
      await model.fit(bare(x), bare(y), {batchSize: 8, epochs: 1, verbose: 0});
    }
  } catch (error) {
    throw new ModelNotUsed(error);
  } finally {
    for (const tensor of [...x, ...y]) tensor.dispose();
  }
}
