// Hands TensorFlow.js a model from a folder. In plain Node.js it cannot open files by itself.

/** A made-up address; releases before 0.11 take nothing but one. */
const ADDRESS = 'http://model.invalid/';

/**
 * @param {any} tf
 * @param {string | object} source  a folder, or an object with `load`
 * @param {import('../worker/host.mjs').Host} host
 */
export async function loadLayers(tf, source, host) {
  const load = tf.loadLayersModel ?? tf.loadModel;
  if (typeof source !== 'string') return load(source);
  if (tf.io !== undefined) return load(fileHandler(source, host));
  const usual = globalThis.fetch;
  globalThis.fetch = async address => new Response(await host.readFile(String(address).replace(ADDRESS, `${source}/`)));
  try {
    return await load(`${ADDRESS}model.json`);
  } finally {
    globalThis.fetch = usual;
  }
}

/**
 * @param {any} tf
 * @param {string} folder
 * @param {import('../worker/host.mjs').Host} host
 */
export async function loadGraph(tf, folder, host) {
  if (tf.loadGraphModel === undefined) throw new Error('this release has no tf.loadGraphModel');
  return tf.loadGraphModel(fileHandler(folder, host));
}

/**
 * @param {string} folder  with model.json and the weight files that it names
 * @param {import('../worker/host.mjs').Host} host
 */
export function fileHandler(folder, host) {
  return {
    async load() {
      const text = (await host.readFile(`${folder}/model.json`)).toString();
      const {modelTopology, weightsManifest, trainingConfig, format, generatedBy, convertedBy} = JSON.parse(text);
      /** @type {Buffer[]} */
      const shards = [];
      const weightSpecs = [];
      for (const {paths, weights} of weightsManifest) {
        weightSpecs.push(...weights);
        for (const path of paths) shards.push(await host.readFile(`${folder}/${path}`));
      }
      const all = Buffer.concat(shards);
      // Sliced, because Node.js lets small Buffers share one ArrayBuffer.
      const weightData = all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
      return {modelTopology, weightSpecs, weightData, trainingConfig, format, generatedBy, convertedBy};
    },
  };
}
