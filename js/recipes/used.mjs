// A model is made at once, predicts if it is to, and is released. A plain function, so that every recipe applies to it.

import * as bystander from './bystander.mjs';
import {ModelNotUsed, bare, collect, inputsOf, subject} from './subject.mjs';

/** @type {() => any} */
let make;

/** @param {any} context */
export async function prepare(context) {
  const found = await subject(context);
  if (!found.make) throw new Error('the model is loaded, which takes an asynchronous scenario');
  make = found.make;
  await bystander.prepare(context);
}

/** @param {any} context */
export default function used({tf, params, held, release}) {
  try {
    use(tf, params.usage);
  } finally {
    release();
    held.length = 0; // release() has still to come to it
    if (params.collect) collect();
  }
  bystander.check();
}

/** In a function of its own, so that none of its names refers to the model any more when it is released. @param {any} tf @param {string} usage */
function use(tf, usage) {
  const model = make();
  if (usage === 'made') return;
  const x = inputsOf(tf, model);
  try {
    for (const prediction of [model.predict(bare(x))].flat()) prediction.dispose();
  } catch (error) {
    throw new ModelNotUsed(error);
  } finally {
    for (const tensor of x) tensor.dispose();
  }
}
