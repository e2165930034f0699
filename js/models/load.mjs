// Hands TensorFlow.js a model from a folder. In plain Node.js it cannot open files by itself.

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
