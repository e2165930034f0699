// Loads a TensorFlow.js release, whatever its age, and makes it ready on a backend.

import {engineOf} from '../ledger/engine.mjs';

/**
 * What TensorFlow.js calls a backend that a target names.
 * @param {string} backend
 */
export const registered = backend => (backend === 'node' ? 'tensorflow' : backend);

/**
 * @param {(folder: string) => any} load  loads the package in a folder, or an addon's file
 * @param {{package: string, backend: string, backend_package: string | null}} wanted  as the harness said hello
 * @param {Pick<import('./host.mjs').Host, 'starting'>} host
 * @returns {Promise<{tf: any, engine: any}>}
 */
export async function startLibrary(load, {package: folder, backend, backend_package}, host) {
  const tf = await load(folder);
  let brought;
  const chosen = await host.starting(async () => {
    if (backend_package !== null) brought = await load(backend_package);
    // Up to 0.x, choosing a backend makes another engine: ask for it afterwards.
    const done = await tf.setBackend(registered(backend));
    await tf.ready?.();
    return done;
  });
  if (chosen === false || tf.getBackend() !== registered(backend)) throw new Error(`the backend ${backend} could not be started`);
  // Where two Python environments share a cache, the other one may have handed its own addon to this release meanwhile.
  if (backend === 'node' && tf.backend().binding !== brought) throw new Error('tfjs-node has loaded another addon than its own');
  return {tf, engine: engineOf(tf)};
}

/**
 * The class of models that are made of layers; it was renamed in 1.0.
 * @param {any} tf
 */
export function modelClass(tf) {
  return tf.LayersModel ?? tf.Model;
}
