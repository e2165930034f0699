import assert from 'node:assert/strict';
import test from 'node:test';

import {classifier} from '../../js/models/classifier.mjs';
import {makeData} from '../../js/models/data.mjs';
import {fileHandler} from '../../js/models/load.mjs';
import {makeZoo} from '../../js/models/zoo.mjs';
import {ledger, tf} from './tfjs.mjs';

/**
 * A host whose files are these.
 * @param {Record<string, Buffer | string>} files
 * @returns {any}
 */
const hostWith = files => ({
  async readFile(/** @type {string} */ path) {
    if (!Object.hasOwn(files, path)) throw new Error(`no file ${path}`);
    return Buffer.from(files[path]);
  },
});

/**
 * The files that a model is saved as, with its weights in shards of that many bytes.
 * @param {any} model @param {number} shard
 */
async function saved(model, shard) {
  /** @type {any} */
  let artifacts;
  await model.save(tf.io.withSaveHandler(async (/** @type {any} */ all) => {
    artifacts = all;
    return {modelArtifactsInfo: {dateSaved: new Date(0), modelTopologyType: 'JSON'}};
  }));
  const data = Buffer.from(artifacts.weightData);
  /** @type {Record<string, Buffer | string>} */
  const files = {};
  const paths = [];
  for (let start = 0; start < data.length; start += shard) {
    paths.push(`shard${paths.length}.bin`);
    files[`/models/one/${paths.at(-1)}`] = data.subarray(start, start + shard);
  }
  const {modelTopology, weightSpecs, format, generatedBy, convertedBy} = artifacts;
  files['/models/one/model.json'] = JSON.stringify(
    {modelTopology, format, generatedBy, convertedBy, weightsManifest: [{paths, weights: weightSpecs}]});
  return files;
}

test('a saved model is loaded and predicts what it did', async () => {
  const {classifier: {x}} = makeData(tf);
  const model = classifier(tf);
  const expected = model.predict(x).dataSync();
  for (const shard of [2 ** 30, 100_001]) {
    const before = ledger.size;
    const loaded = await tf.loadLayersModel(fileHandler('/models/one', hostWith(await saved(model, shard))));
    assert.equal(ledger.size, before + 4);
    assert.deepEqual(loaded.predict(x).dataSync(), expected);
    loaded.dispose();
  }
  model.dispose();
});

test('weights are joined in the order of the manifest, in a buffer of their own', async () => {
  const weights = (/** @type {string} */ name) => ({name, shape: [2], dtype: 'uint8'});
  const manifest = [{paths: ['b', 'a'], weights: [weights('one'), weights('two')]}, {paths: ['c'], weights: [weights('three')]}];
  const files = {
    '/m/model.json': JSON.stringify({modelTopology: {is: 'a model'}, weightsManifest: manifest, format: 'layers-model', trainingConfig: {loss: 'x'}}),
    '/m/a': Buffer.from([3, 4]), '/m/b': Buffer.from([1, 2]), '/m/c': Buffer.from([5, 6]),
  };
  const {weightData, weightSpecs, modelTopology, format, trainingConfig} = await fileHandler('/m', hostWith(files)).load();
  assert.deepEqual([...new Uint8Array(weightData)], [1, 2, 3, 4, 5, 6]);
  assert.equal(weightData.byteLength, 6);
  assert.deepEqual(weightSpecs.map(({name}) => name), ['one', 'two', 'three']);
  assert.deepEqual({modelTopology, format, trainingConfig}, {modelTopology: {is: 'a model'}, format: 'layers-model', trainingConfig: {loss: 'x'}});
});

test('a missing shard is told by its name', async () => {
  const files = {'/m/model.json': JSON.stringify({weightsManifest: [{paths: ['gone.bin'], weights: []}]})};
  await assert.rejects(fileHandler('/m', hostWith(files)).load(), /no file \/m\/gone\.bin/);
});

test('the zoo loads a folder as it is, and a model of its own from where the harness says', async () => {
  const model = classifier(tf);
  const files = await saved(model, 2 ** 30);
  /** @type {any[]} */
  const asked = [], held = /** @type {any[]} */ ([]);
  const ask = async (/** @type {string} */ method, /** @type {any} */ params) => {
    asked.push({method, ...params});
    return {tfjs: '/models/one', predictions: [], bound: 0};
  };
  const {models} = makeZoo({tf, held, host: hostWith(files), ask});
  const one = await models.load('/models/one');
  assert.deepEqual(asked, []);
  const two = await models.load('classifier', {from: 'tf-keras'});
  const three = await models.load('classifier');
  assert.deepEqual(asked, [
    {method: 'saved_model', model: 'classifier', source: 'tf-keras'},
    {method: 'saved_model', model: 'classifier', source: 'keras'},
  ]);
  assert.deepEqual(held, [one, two, three]);
  for (const each of [model, ...held]) each.dispose();
});
