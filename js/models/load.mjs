// Hands TensorFlow.js a model from a folder. In plain Node.js it cannot open files by itself.

/** A made-up address; releases before 0.11 take nothing but one. */
const ADDRESS = 'http://model.invalid/';

/** @param {string} folder @param {import('../worker/host.mjs').Host} host  @returns {Promise<any>}  its model.json */
const described = async (folder, host) => JSON.parse(new TextDecoder().decode(await host.readFile(`${folder}/model.json`)));

/**
 * The models that were loaded. Their optimizer, if the file says how they were compiled, is their own, and no release says so.
 * @type {WeakSet<object>}
 */
const loaded = new WeakSet();

/** Whether a model was loaded from a file. @param {object} model */
export const isLoaded = model => loaded.has(model);

/**
 * @param {any} tf
 * @param {string | object} source  a folder, or an object with `load`
 * @param {import('../worker/host.mjs').Host} host
 */
export async function loadLayers(tf, source, host) {
  const model = await read(tf, source, host);
  loaded.add(model);
  return model;
}

/** @param {any} tf @param {string | object} source @param {import('../worker/host.mjs').Host} host */
async function read(tf, source, host) {
  const load = tf.loadLayersModel ?? tf.loadModel;
  if (typeof source !== 'string') return load(source);
  if (tf.io !== undefined) return load(fileHandler(source, host));
  const usual = globalThis.fetch;
  globalThis.fetch = async address => new Response(/** @type {any} */ (await host.readFile(String(address).replace(ADDRESS, `${source}/`))));
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
      const {
        modelTopology, weightsManifest, trainingConfig, format, generatedBy, convertedBy, signature, modelInitializer, initializerSignature,
      } = await described(folder, host);
      const {weightSpecs, weightData} = await weightsOf(folder, weightsManifest, host);
      return {
        modelTopology, weightSpecs, weightData, trainingConfig, format, generatedBy, convertedBy, signature, modelInitializer, initializerSignature,
      };
    },
  };
}

/** @param {string} folder @param {any[]} manifest @param {import('../worker/host.mjs').Host} host */
async function weightsOf(folder, manifest, host) {
  /** @type {Uint8Array[]} */
  const shards = [];
  /** @type {any[]} */
  const weightSpecs = [];
  for (const {paths, weights} of manifest) {
    weightSpecs.push(...weights);
    for (const path of paths) shards.push(await host.readFile(`${folder}/${path}`));
  }
  return {weightSpecs, weightData: joined(shards)};
}

/** @param {Uint8Array[]} shards  @returns {ArrayBuffer}  which is theirs alone: Node.js lets small files share one */
function joined(shards) {
  const all = new Uint8Array(shards.reduce((sum, {length}) => sum + length, 0));
  let at = 0;
  for (const shard of shards) {
    all.set(shard, at);
    at += shard.length;
  }
  return all.buffer;
}

/** What a tensor of each type lies in a file as; of a bool, in bytes. */
const ARRAYS = {float32: Float32Array, int32: Int32Array, bool: Uint8Array};

/**
 * The tensors that a folder holds in the form of a model's weights, by name, as plain arrays.
 * @param {string} folder
 * @param {import('../worker/host.mjs').Host} host
 * @returns {Promise<Map<string, {shape: number[], dtype: string, values: any}>>}
 */
export async function loadTensors(folder, host) {
  const {weightSpecs, weightData} = await weightsOf(folder, (await described(folder, host)).weightsManifest, host);
  const found = new Map();
  let at = 0;
  for (const {name, shape, dtype} of weightSpecs) {
    const kind = ARRAYS[/** @type {keyof typeof ARRAYS} */ (dtype)];
    const size = shape.reduce((/** @type {number} */ product, /** @type {number} */ each) => product * each, 1);
    const end = at + size * kind.BYTES_PER_ELEMENT;
    found.set(name, {shape, dtype, values: new kind(weightData.slice(at, end))});
    at = end;
  }
  return found;
}
