// A scenario as a bare script would have it: no worker, no ledger, no generator. It reads memory and collects where the
// harness does, and keeps what it read to itself. For each line on its input it runs one cell, or times the readings.
//
// node --expose-gc bare.mjs TFJS_FOLDER [BACKEND]

import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

import {Ledger} from '../js/ledger/ledger.mjs';
import {read as readAll} from '../js/lifecycle/reading.mjs';
import {classifier} from '../js/models/classifier.mjs';
import {makeData} from '../js/models/data.mjs';
import {nodeHost} from '../js/worker/host.mjs';
import {registered} from '../js/worker/library.mjs';

const folder = process.argv[2];
console.warn = () => {};
/** @type {any} */
const tf = createRequire(`${folder}/package.json`)(folder);
await tf.setBackend(registered(process.argv[3] ?? 'cpu'));
await tf.ready();
const {classifier: {x}} = makeData(tf);
const collect = /** @type {() => void} */ (globalThis.gc);

/** @type {object[]} */
let readings = [];
const read = () => readings.push({...tf.memory(), ...process.memoryUsage()});

async function settle() {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise(resolve => setImmediate(resolve));
    collect();
  }
}

/** @type {Record<string, () => void>} */
const SCENARIOS = {
  'create-dispose'() {
    const model = classifier(tf);
    read();
    model.dispose();
    read();
  },
  'predict-dispose'() {
    const model = classifier(tf);
    read();
    const prediction = model.predict(x);
    read();
    prediction.dispose();
    model.dispose();
    read();
  },
};

/** @param {{scenario: string, cycles: number}} request */
async function cell({scenario, cycles}) {
  readings = [];
  await settle();
  for (let cycle = 0; cycle <= cycles; cycle += 1) {
    read();
    SCENARIOS[scenario]();
    await settle();
    read();
  }
  return {readings: readings.length};
}

/**
 * Seconds of one reading while a model is alive: the bare script's, and the harness's, which adds up the ledger.
 * @param {number} count
 */
function timeReadings(count) {
  // From now on the engine is wrapped; a process that is asked this is asked nothing else.
  const ledger = new Ledger(tf.engine());
  const host = nodeHost();
  const model = classifier(tf);
  const bare = each(count, read);
  const harness = each(count, () => readings.push(readAll(tf, ledger, host)));
  model.dispose();
  return {bare, harness, collection: each(20, collect)};
}

/** @param {number} count @param {() => unknown} act  @returns {number} seconds of one */
function each(count, act) {
  const started = performance.now();
  for (let i = 0; i < count; i += 1) act();
  return (performance.now() - started) / count / 1000;
}

for await (const line of createInterface({input: process.stdin})) {
  const request = JSON.parse(line);
  const started = performance.now();
  const answer = request.scenario ? await cell(request) : timeReadings(request.count);
  const wall = (performance.now() - started) / 1000;
  process.stdout.write(JSON.stringify({...answer, wall}) + '\n');
}
