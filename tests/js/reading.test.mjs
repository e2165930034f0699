import assert from 'node:assert/strict';
import test from 'node:test';

import {read} from '../../js/lifecycle/reading.mjs';
import {nodeHost} from '../../js/worker/host.mjs';
import {ledger, tf} from './tfjs.mjs';

const host = nodeHost();

test('a reading has what the engine, the ledger and the process say', async () => {
  const x = tf.zeros([2, 3]), y = x.clone();
  const {heap, process: {resident}, ...exact} = await read(tf, ledger, host);
  assert.deepEqual(exact, {tensors: 2, bytes: 48, buffers: 1, buffer_bytes: 24, backend: {}});
  assert.deepEqual(Object.keys(heap), ['used', 'external', 'array_buffers']);
  for (const value of [...Object.values(heap), resident]) assert.ok(Number(value) > 0);
  tf.dispose([x, y]);
});

test('a reading throws where the engine counts other tensors than are alive', async () => {
  const {state} = tf.engine();
  state.numTensors += 1;
  await assert.rejects(read(tf, ledger, host), /counts \d+ tensors, \d+ are alive/);
  state.numTensors -= 1;
  await read(tf, ledger, host);
});

test('what a release does not tell is null, never 0', async () => {
  const old = {memory: () => ({numTensors: 1, numBytes: 4})};
  assert.equal((await read(old, ledger, host)).buffers, null);
});

test('the memory of the wasm backend is read where the backend shows it', async () => {
  const wasm = (/** @type {object} */ backend) => ({memory: () => ({}), getBackend: () => 'wasm', backend: () => backend});
  assert.deepEqual((await read(wasm({wasm: {HEAPU8: new Uint8Array(65536)}}), ledger, host)).backend, {wasm: 65536});
  assert.deepEqual((await read(wasm({}), ledger, host)).backend, {wasm: null});
});

test('TensorFlow\'s handles are read where the addon of tfjs-node counts them', async () => {
  const node = (/** @type {object} */ binding) => ({memory: () => ({}), getBackend: () => 'tensorflow', backend: () => ({binding})});
  assert.deepEqual((await read(node({handlesAlive: () => 3}), ledger, host)).backend, {handles: 3});
  assert.deepEqual((await read(node({}), ledger, host)).backend, {handles: null});
});
