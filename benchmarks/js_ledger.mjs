// What the JavaScript ledger costs: each kind of work without it, with counting alone, and with stacks at escape, in turns
// in one process, by CPU time. node --expose-gc benchmarks/js_ledger.mjs [TURNS] [RELEASE]

import {createRequire} from 'node:module';

import {Ledger} from '../js/ledger/ledger.mjs';
import {classifier} from '../js/models/classifier.mjs';

const [turns = 30, release = '4.22.0'] = process.argv.slice(2);
console.warn = () => {};
/** @type {any} */
const tf = createRequire(import.meta.url)(`tfjs-${release}`);
await tf.setBackend('cpu');
await tf.ready?.();
const engine = tf.engine();

const collect = /** @type {() => void} */ (globalThis.gc);
const MODES = /** @type {const} */ ([null, 'none', 'escaped']);
const model = classifier(tf);
const one = tf.ones([1, 784]);
const tiny = tf.sequential({layers: [tf.layers.dense({units: 2, inputShape: [4]})]});
const four = tf.ones([1, 4]);

/** Each kind of work: what is done once, and how often in a turn. @type {Record<string, [() => void, number]>} */
const WORK = {
  'predict of the classifier, batch 1': [() => model.predict(one).dispose(), 40],
  'tiny predictions': [() => tiny.predict(four).dispose(), 400],
  'tensors made and disposed': [() => tf.scalar(1).dispose(), 4000],
};

/** @param {() => void} work @param {number} times @param {typeof MODES[number]} mode */
function cpu(work, times, mode) {
  const ledger = mode === null ? null : new Ledger(engine, {stacks: mode});
  for (let i = 0; i < times; i += 1) work(); // beginning and stopping make V8 compile again what it had compiled
  collect();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) work();
  const {user, system} = process.cpuUsage(before);
  ledger?.stop();
  return (user + system) / times;
}

/** @param {number[]} values */
const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

console.log(`TensorFlow.js ${release} on cpu, Node.js ${process.versions.node}: medians of ${turns} turns, CPU µs each`);
for (const [name, [work, times]] of Object.entries(WORK)) {
  for (const mode of MODES) cpu(work, times, mode);
  /** @type {Map<typeof MODES[number], number[]>} */
  const spent = new Map(MODES.map(mode => [mode, []]));
  for (let turn = 0; turn < Number(turns); turn += 1) {
    for (const mode of MODES) spent.get(mode)?.push(cpu(work, times, mode));
  }
  const [without, counting, escaped] = MODES.map(mode => spent.get(mode) ?? []);
  const ratio = (/** @type {number[]} */ mode) => median(mode.map((value, turn) => value / without[turn])).toFixed(2);
  console.log(`${name}: ${median(without).toFixed(1)} without, ×${ratio(counting)} counting, ×${ratio(escaped)} with stacks at escape`);
}

// What a live tensor costs the ledger: its bytes are those that are free once the ledger has stopped.
for (const count of [1_000, 10_000, 100_000]) {
  const [without] = make(count, null);
  const [withIt, bytes] = make(count, 'escaped');
  console.log(`${count} live tensors: ${(withIt - without).toFixed(1)} µs and ${bytes.toFixed(0)} bytes each for the ledger`);
}

/** @param {number} count @param {typeof MODES[number]} mode  @returns {[number, number]} CPU µs and bytes of each */
function make(count, mode) {
  const ledger = mode === null ? null : new Ledger(engine, {stacks: mode});
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
