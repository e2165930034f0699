// What the JavaScript ledger costs: each kind of work without it, with counting alone, with stacks at escape, and without it
// again, in turns in one process; and what it takes for each live tensor. js_ledger.py starts it and reads the JSON it prints.
//
// node --expose-gc js_ledger.mjs TURNS RELEASE

import {createRequire} from 'node:module';

import {Ledger} from '../js/ledger/ledger.mjs';
import {classifier} from '../js/models/classifier.mjs';

const [turns, release] = process.argv.slice(2);
console.warn = () => {};
/** @type {any} */
const tf = createRequire(import.meta.url)(`tfjs-${release}`);
await tf.setBackend('cpu');
await tf.ready?.();
const engine = tf.engine();

/** @typedef {'none' | 'escaped' | null} Stacks */
const collect = /** @type {() => void} */ (globalThis.gc);
/** @type {Record<string, Stacks>} */
const WAYS = {without: null, counting: 'none', 'stacks at escape': 'escaped', 'without, again': null};
const model = classifier(tf);
const one = tf.ones([1, 784]);
const tiny = tf.sequential({layers: [tf.layers.dense({units: 2, inputShape: [4]})]});
const four = tf.ones([1, 4]);

/** Each kind of work: what is done once, and how often in a turn. @type {Record<string, [() => void, number]>} */
const WORK = {
  'predictions of the classifier, batch 1': [() => model.predict(one).dispose(), 40],
  'tiny predictions': [() => tiny.predict(four).dispose(), 4000],
  'tensors made and disposed': [() => tf.scalar(1).dispose(), 40000],
};

/** @param {() => void} work @param {number} times @param {Stacks} stacks  @returns {number} CPU µs of each */
function cpu(work, times, stacks) {
  const ledger = stacks === null ? null : new Ledger(engine, {stacks});
  for (let i = 0; i < times; i += 1) work(); // beginning and stopping make V8 compile again what it had compiled
  collect();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) work();
  const {user, system} = process.cpuUsage(before);
  ledger?.stop();
  return (user + system) / times;
}

/** @type {Record<string, Record<string, number[]>>} */
const loops = {};
for (const [name, [work, times]] of Object.entries(WORK)) {
  for (const stacks of Object.values(WAYS)) cpu(work, times, stacks);
  const spent = loops[name] = Object.fromEntries(Object.keys(WAYS).map(way => [way, /** @type {number[]} */ ([])]));
  const ways = Object.entries(WAYS);
  for (let turn = 0; turn < Number(turns); turn += 1) {
    for (const [way, stacks] of ways) spent[way].push(cpu(work, times, stacks));
    ways.push(.../** @type {[[string, Stacks]]} */ (ways.splice(0, 1)));
  }
}

// What a live tensor costs the ledger: its bytes are those that are free once the ledger has stopped.
const alive = [1_000, 10_000, 100_000].map(count => {
  const [without] = make(count, null);
  const [withIt, bytes] = make(count, 'escaped');
  return {count, without, withIt, bytes};
});
process.stdout.write(JSON.stringify({loops, alive, node: process.versions.node}));

/** @param {number} count @param {Stacks} stacks  @returns {[number, number]} CPU µs and bytes of each */
function make(count, stacks) {
  const ledger = stacks === null ? null : new Ledger(engine, {stacks});
  const before = process.cpuUsage();
  const made = Array.from({length: count}, (_, i) => tf.scalar(i));
  ledger?.settle();
  const {user, system} = process.cpuUsage(before);
  const heap = used();
  ledger?.stop();
  const bytes = heap - used();
  tf.dispose(made);
  return [(user + system) / count, bytes / count];
}

function used() {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
