// Loads a TensorFlow.js release, whatever its age, and makes it ready on a backend.

import {engineOf} from '../ledger/engine.mjs';

/**
 * @param {(folder: string) => any} load  loads the package in a folder
 * @param {{package: string, backend: string, backend_package: string | null}} wanted  as the harness said hello
 * @param {Pick<import('./host.mjs').Host, 'starting'>} host
 * @returns {Promise<{tf: any, engine: any}>}
 */
export async function startLibrary(load, {package: folder, backend, backend_package}, host) {
  const tf = await load(folder);
  const chosen = await host.starting(async () => {
    if (backend_package !== null) await load(backend_package);
    // Up to 0.x, choosing a backend makes another engine: ask for it afterwards.
    const done = await tf.setBackend(backend);
    await tf.ready?.();
    return done;
  });
  if (chosen === false || tf.getBackend() !== backend) throw new Error(`the backend ${backend} could not be started`);
  return {tf, engine: engineOf(tf)};
}

/**
 * The class of models that are made of layers; it was renamed in 1.0.
 * @param {any} tf
 */
export function modelClass(tf) {
  return tf.LayersModel ?? tf.Model;
}
