import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {classifier} from '../../js/models/classifier.mjs';
import {makeData} from '../../js/models/data.mjs';
import {fileHandler, loadGraph, loadLayers} from '../../js/models/load.mjs';
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
    return {tfjs: '/models/one', graph: '/nowhere', predictions: [], bound: 0};
  };
  const {models} = makeZoo({tf, held, host: hostWith(files), ask, release: '4.22.0'});
  const one = await models.load('/models/one');
  assert.deepEqual(asked, []);
  const two = await models.load('classifier', {from: 'tf-keras'});
  const three = await models.load('classifier');
  assert.deepEqual(asked, [
    {method: 'saved_model', model: 'classifier', source: 'tf-keras', release: '4.22.0'},
    {method: 'saved_model', model: 'classifier', source: 'keras', release: '4.22.0'},
  ]);
  assert.deepEqual(held, [one, two, three]);
  for (const each of [model, ...held]) each.dispose();
});

test('a release that has no loadLayersModel loads by loadModel, and one without io through fetch, which is put back', async () => {
  const files = {'/m/model.json': '{"a": "model"}', '/m/shard.bin': Buffer.from([1, 2, 3])};
  const usual = globalThis.fetch;
  const old = {
    async loadModel(/** @type {any} */ address) {
      assert.equal(typeof address, 'string');
      const model = await (await fetch(address)).json();
      const shard = await (await fetch(address.replace('model.json', 'shard.bin'))).arrayBuffer();
      return {model, shard: [...new Uint8Array(shard)]};
    },
  };
  assert.deepEqual(await loadLayers(old, '/m', hostWith(files)), {model: {a: 'model'}, shard: [1, 2, 3]});
  assert.equal(globalThis.fetch, usual);
  await assert.rejects(loadLayers(old, '/elsewhere', hostWith(files)), /no file \/elsewhere\/model\.json/);
  assert.equal(globalThis.fetch, usual);

  const newer = {io: {}, loadModel: async (/** @type {any} */ handler) => ({made: (await handler.load()).modelTopology})};
  const manifest = {'/m/model.json': '{"modelTopology": 3, "weightsManifest": []}'};
  assert.deepEqual(await loadLayers(newer, '/m', hostWith(manifest)), {made: 3});
  const own = {load: async () => ({modelTopology: 4})};
  assert.deepEqual(await loadLayers(newer, own, hostWith({})), {made: 4});
  assert.equal(await loadLayers({loadModel: async (/** @type {any} */ handler) => handler}, own, hostWith({})), own);
});

test('a release that has no graph models says so', async () => {
  await assert.rejects(loadGraph({}, '/m', hostWith({})), /this release has no tf\.loadGraphModel/);
});

const CACHE = process.env.TENSORLEDGER_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tensorledger');
const OLD = ['0.6.1', '0.8.0'].map(release => [release, join(CACHE, 'releases', release, 'node_modules', '@tensorflow', 'tfjs')]);

for (const [release, folder] of OLD) {
  const skip = existsSync(folder) ? false : `it is not in the cache: tensorledger install tfjs@${release}`;
  test(`${release}, which takes nothing but an address, loads from a folder and predicts what it should`, {skip}, () => {
    const home = mkdtempSync(join(tmpdir(), 'tensorledger-'));
    try {
      const dense = {
        class_name: 'Dense',
        config: {name: 'd', units: 2, activation: 'linear', use_bias: true, batch_input_shape: [null, 3], dtype: 'float32'},
      };
      const modelTopology = {keras_version: '2.1.6', backend: 'tensorflow', model_config: {class_name: 'Sequential', config: [dense]}};
      const weights = [{name: 'd/kernel', shape: [3, 2], dtype: 'float32'}, {name: 'd/bias', shape: [2], dtype: 'float32'}];
      const weightsManifest = [{paths: ['shard.bin'], weights}];
      writeFileSync(join(home, 'model.json'), JSON.stringify({modelTopology, weightsManifest}));
      writeFileSync(join(home, 'shard.bin'), Buffer.from(Float32Array.from([1, 2, 3, 4, 5, 6, 10, 20]).buffer));
      const fixture = fileURLToPath(new URL('fixtures/load-old.mjs', import.meta.url));
      const said = execFileSync(process.execPath, ['--no-warnings', '--expose-gc', fixture, folder, home], {encoding: 'utf8'});
      const {version, predicted, tensors, fetch} = JSON.parse(/** @type {string} */ (said.trim().split('\n').at(-1)));
      assert.deepEqual([version, predicted, fetch], [release, [1 + 3 + 5 + 10, 2 + 4 + 6 + 20], true]);
      assert.ok(tensors >= 2);
    } finally {
      rmSync(home, {recursive: true});
    }
  });
}
