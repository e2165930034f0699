// The models that scenarios live through, by name. Each call makes a new one and lists it in `held`.

import {classifier} from './classifier.mjs';
import {extractor} from './extractor.mjs';
import {loadGraph, loadLayers, loadTensors} from './load.mjs';
import {convolutional, dropout, narrow, nested, normalized, recurrent, shared} from './shapes.mjs';

/** @type {Record<string, (tf: any) => any>} */
const NATIVE = {classifier, extractor, narrow, shared, nested, recurrent, dropout, normalized, convolutional};

/** The models that there are files of. */
const SAVED = ['classifier', 'extractor'];

/**
 * @param {object} parts
 * @param {any} parts.tf
 * @param {any[]} parts.held
 * @param {import('../worker/host.mjs').Host} parts.host
 * @param {(method: string, params: object) => Promise<any>} parts.ask
 * @param {string} parts.release  of TensorFlow.js
 * @param {<T>(tf: any, make: () => T) => T} [parts.making]  how the recipe makes a model
 */
export function makeZoo({tf, held, host, ask, release, making = (_, make) => make()}) {
  /** @type {Map<string, any>} largest difference so far, by model and source */
  const agreements = new Map();
  /** @type {Map<string, any>} what the harness told of a saved model */
  const saved = new Map();

  const hold = (/** @type {any} */ model) => {
    held.push(model);
    return model;
  };

  /** @param {string} model @param {string} source */
  const lookUp = async (model, source) => {
    const key = `${source}/${model}`;
    if (!saved.has(key)) saved.set(key, await ask('saved_model', {model, source, release}));
    return saved.get(key);
  };

  const models = {
    ...Object.fromEntries(Object.entries(NATIVE).map(([name, make]) => [name, () => models.make(make)])),

    /**
     * Makes a model of the scenario's own, as the run's recipe makes models.
     * @param {(tf: any) => any} make  synchronous
     */
    make: make => hold(making(tf, () => make(tf))),

    /**
     * Loads a saved model of layers: one of the zoo by its name, as `from` ("keras" or "tf-keras") made it, a folder, or
     * an object with `load`, as TensorFlow.js takes it.
     * @param {string | {load: () => Promise<object>}} source
     * @param {{from?: string}} [options]
     */
    async load(source, {from = 'keras'} = {}) {
      const folder = typeof source === 'string' && SAVED.includes(source) ? (await lookUp(source, from)).tfjs : source;
      return hold(await loadLayers(tf, folder, host));
    },

    /**
     * Loads a model of layers from an address, as TensorFlow.js itself does: over HTTP, or from the browser's storage.
     * @param {string} address
     */
    async loadFrom(address) {
      return hold(await (tf.loadLayersModel ?? tf.loadModel)(address));
    },

    /**
     * Loads a saved model as a graph: one of the zoo by its name, as Keras 3 made it, or a folder.
     * @param {string} source
     */
    async loadGraph(source) {
      const folder = SAVED.includes(source) ? (await lookUp(source, 'keras')).graph : source;
      return hold(await loadGraph(tf, folder, host));
    },

    /**
     * The address that TensorFlow.js itself loads a model of the zoo from, as `from` made it.
     * @param {string} model
     * @param {{from?: string}} [options]
     */
    address: async (model, {from = 'keras'} = {}) => host.address(`${(await lookUp(model, from)).tfjs}/model.json`),

    /**
     * The tensors in a folder, by name, as plain arrays: what a model is to be given, and what it is to predict.
     * @param {string} folder
     */
    tensors: folder => loadTensors(folder, host),

    /**
     * Holds a loaded zoo model's prediction for its `data[name].x` against what its Keras predicts.
     * @param {string} name
     * @param {any} prediction
     * @param {{from?: string}} [options]
     */
    async compare(name, prediction, {from = 'keras'} = {}) {
      const {predictions, bound} = await lookUp(name, from);
      const differences = difference(await prediction.data(), predictions);
      const before = agreements.get(`${from}/${name}`);
      agreements.set(`${from}/${name}`, {
        model: name, source: from, bound,
        max_abs: larger(before?.max_abs, differences.max_abs, before),
        max_rel: larger(before?.max_rel, differences.max_rel, before),
      });
    },
  };
  return {models, agreements};
}

/**
 * The largest absolute and relative difference; null where a value is not a finite number or one is missing.
 * @param {ArrayLike<number>} values
 * @param {number[]} reference
 */
export function difference(values, reference) {
  if (values.length !== reference.length) return {max_abs: null, max_rel: null};
  let max_abs = 0, max_rel = 0;
  for (let i = 0; i < reference.length; i += 1) {
    if (!Number.isFinite(values[i])) return {max_abs: null, max_rel: null};
    const off = Math.abs(values[i] - reference[i]);
    max_abs = Math.max(max_abs, off);
    if (off > 0) max_rel = Math.max(max_rel, off / Math.abs(reference[i]));
  }
  return {max_abs, max_rel: Number.isFinite(max_rel) ? max_rel : null};
}

/** @param {number | null} before @param {number | null} now @param {unknown} any */
function larger(before, now, any) {
  if (any === undefined) return now;
  return before === null || now === null ? null : Math.max(before, now);
}
