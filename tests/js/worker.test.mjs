import assert from 'node:assert/strict';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {Peer} from './peer.mjs';

const WORKER = fileURLToPath(new URL('../../js/worker/node.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const HELLO = {protocol: 3, name: 'tfjs', version: '4.22.0', backend: 'cpu', package: `${MODULES}/tfjs-4.22.0`, backend_package: null};

/** A worker, asked as the harness asks. */
class Asked extends Peer {
  #count = 0;
  /** @type {string[]} */
  reached = [];

  /** @param {string} method @param {object} params @param {(params: any) => object} [answer]  to what it asks back */
  async ask(method, params, answer) {
    this.#count += 1;
    const id = this.#count;
    /** @type {any[]} */
    const cycles = [];
    this.send({jsonrpc: '2.0', id, method, params});
    for (;;) {
      const message = await this.receive();
      if (message.method === 'reached') {
        this.reached.push(`${message.params.cycle} ${message.params.name}`);
      } else if (message.method === 'ended') {
        cycles.push(message.params.cycle);
        this.send({jsonrpc: '2.0', id: message.id, result: {go_on: true}});
      } else if (message.method) {
        this.send({jsonrpc: '2.0', id: message.id, ...answer?.(message)});
      } else {
        assert.equal(message.id, id);
        if (method !== 'run' || !message.result) return message;
        assert.deepEqual(message.result.cycles, [], 'they were told as they ended');
        return {...message, result: {...message.result, cycles}};
      }
    }
  }
}

/**
 * A worker that has shaken hands, and a way to run a scenario's text in it.
 * @param {(worker: Asked, run: (text: string, how?: object) => Promise<any>) => Promise<void>} body
 * @param {object} [hello]  what is said otherwise in the handshake
 */
async function withWorker(body, hello = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tensorledger-'));
  const worker = new Asked(['--expose-gc', WORKER, MODULES]);
  let files = 0;
  try {
    const {result} = await worker.ask('hello', {...HELLO, ...hello});
    assert.deepEqual(result, {protocol: 3, versions: {node: process.versions.node, tfjs: '4.22.0'}});
    await body(worker, async (text, how = {}) => {
      files += 1;
      const path = join(folder, `scenario${files}.mjs`);
      writeFileSync(path, text);
      return worker.ask('run', {scenario: path, model: 'classifier', recipe: '', cycles: 1, throws: false, params: {}, ...how});
    });
  } finally {
    worker.stop();
    rmSync(folder, {recursive: true});
  }
}

test('a worker of which the counts alone are wanted counts the same, collects nothing and tells of no places', async () => {
  const text = `
    let collected = 0;
    const registry = new FinalizationRegistry(() => { collected += 1; });
    registry.register({}, 0);
    export default async function* ({tf, params}) {
      const kept = tf.ones([2, 3]);
      yield 'made';
      tf.ones([5]);
      if (params.throws) throw new Error('after ' + collected + (registry ? '' : '?'));
    }`;
  /** @type {any[]} */
  const found = [];
  for (const counts_only of [false, true]) {
    await withWorker(async (_worker, run) => {
      const {result: {cycles}} = await run(text, {cycles: 2});
      found.push(cycles.map((/** @type {any} */ {baseline, checkpoints}) => [baseline, ...checkpoints.map((/** @type {any} */ one) => one.reading)]
        .map(({tensors, bytes, buffers, buffer_bytes}) => [tensors, bytes, buffers, buffer_bytes])));
      const stacks = cycles.at(-1).leaks.map((/** @type {any} */ leak) => leak.stack.length > 0);
      assert.deepEqual(stacks, [!counts_only, !counts_only]);
      const {result} = await run(text, {cycles: 3, throws: true, params: {throws: true}});
      const message = result.cycles.at(-1).thrown.message;
      assert.equal(message, counts_only ? 'after 0' : 'after 1');
    }, {counts_only});
  }
  assert.deepEqual(found[0], found[1]);
});

test('a scenario is run, and what it prints stays out of the channel', () => withWorker(async (worker, run) => {
  const {result} = await run(`
    export default async function* ({tf, models, data, target, params, held, release}) {
      console.log('to be or', params.word);
      models.classifier();
      yield 'created ' + held.length + target.backend + data.x.shape + data.extractor.x.shape;
      await release();
      yield 'released ' + held.length;
    }`, {params: {word: 'not'}});
  assert.deepEqual([result.recipe, result.error, result.not_applicable, result.agreements], ['dispose', null, null, []]);
  const names = ['created 1cpu8,7848,64', 'released 0', 'end'];
  assert.deepEqual(worker.reached, [0, 1].flatMap(cycle => names.map(name => `${cycle} ${name}`)));
  for (const {baseline, checkpoints, thrown, leaks} of result.cycles) {
    assert.deepEqual([thrown, leaks], [null, []]);
    assert.deepEqual(checkpoints.map((/** @type {any} */ {reading}) => reading.tensors - baseline.tensors), [4, 0, 0]);
    assert.deepEqual(checkpoints.map((/** @type {any} */ {reading}) => reading.buffer_bytes - baseline.buffer_bytes), [814120, 0, 0]);
  }
  assert.equal(await worker.hangUp(), 0);
  assert.match(worker.printed, /to be or not/);
}));

test('a promise that is rejected and handled by nobody is the scenario\'s', () => withWorker(async (_, run) => {
  const {result} = await run(`
    export default function* () {
      yield 'before';
      Promise.reject(new RangeError('lost'));
    }`);
  assert.equal(result.cycles.length, 1);
  const {type, message, checkpoint, stack} = result.cycles[0].thrown;
  assert.deepEqual([type, message, checkpoint], ['RangeError', 'lost', 'before']);
  assert.equal(stack[0].line, 4);
}));

test('the user\'s line is found under a deep stack of the library\'s', () => withWorker(async (_, run) => {
  const {result} = await run(`
    export default function* ({tf, models}) {
      const model = models.classifier();
      const {kernelFunc} = tf.getKernel('_FusedMatMul', 'cpu');
      tf.unregisterKernel('_FusedMatMul', 'cpu');
      tf.registerKernel({kernelName: '_FusedMatMul', backendName: 'cpu', kernelFunc() { throw new Error('broken'); }});
      try {
        model.predict(tf.zeros([8, 784]));
      } finally {
        tf.unregisterKernel('_FusedMatMul', 'cpu');
        tf.registerKernel({kernelName: '_FusedMatMul', backendName: 'cpu', kernelFunc});
      }
    }`);
  const {message, stack} = result.cycles[0].thrown;
  assert.equal(message, 'broken');
  assert.deepEqual([stack[0].line, stack[0].of], [6, 'user']);
  const caller = stack.find((/** @type {any} */ {line, of}) => of === 'user' && line === 8);
  assert.ok(caller, 'the line that called predict');
}));

test('what a scenario leaves running is told, by its kind', () => withWorker(async (_, run) => {
  assert.deepEqual((await run('export default () => {}')).result.running, []);
  assert.deepEqual((await run('export default () => { setInterval(() => {}, 1000); }')).result.running, ['Timeout', 'Timeout']);
  assert.deepEqual((await run('export default () => {}')).result.running, [], 'what ran before is not this one\'s');
}));

test('what keeps a scenario from running is told as its error', () => withWorker(async (_, run) => {
  const unparsed = (await run('export default () => {\n  const;\n};')).result;
  assert.deepEqual([unparsed.error.type, unparsed.error.stack[0].line, unparsed.cycles], ['SyntaxError', 2, []]);
  const formless = (await run('export default 3;')).result;
  assert.match(formless.error.message, /exports its function as default/);
  const generator = (await run('export default function* () {}', {recipe: 'tidy'})).result;
  assert.match(generator.not_applicable, /this scenario is a generator/);
  assert.deepEqual(generator.cycles, []);
}));

test('a saved model is asked for, and an answer that is an error is the scenario\'s', () => withWorker(async (worker, run) => {
  await run('export default () => {}');
  /** @type {any[]} */
  const asked = [];
  worker.send({jsonrpc: '2.0', id: 'own', method: 'nothing', params: {}});
  const {error} = await worker.receive();
  assert.deepEqual([error.code, error.message], [-32601, 'no method "nothing"']);
  const folder = mkdtempSync(join(tmpdir(), 'tensorledger-'));
  try {
    const path = join(folder, 'loads.mjs');
    writeFileSync(path, 'export default async function ({models}) {\n  await models.load("classifier");\n}');
    const {result} = await worker.ask('run', {scenario: path, model: 'classifier', recipe: '', cycles: 1, throws: false, params: {}},
      ({method, params}) => {
        asked.push({method, ...params});
        return {error: {code: 1, message: 'there is none'}};
      });
    assert.equal(result.cycles[0].thrown.message, 'there is none');
    assert.deepEqual(asked, [{method: 'saved_model', model: 'classifier', source: 'keras', release: '4.22.0'}]);
  } finally {
    rmSync(folder, {recursive: true});
  }
}));

test('a scenario that waits for what never comes says so as the worker ends', () => withWorker(async (worker, run) => {
  await assert.rejects(run('export default () => new Promise(() => {});'), /waits for a promise that nothing is left to settle/);
  assert.equal(await worker.ended, 13);
}));

test('requests that are not as agreed are refused, and the worker goes on', () => withWorker(async (worker, run) => {
  const {error} = await worker.ask('run', {scenario: 3});
  assert.equal(error.code, -32602);
  assert.match(error.message, /params of "run"/);
  const unknown = await run('export default () => {}', {recipe: 'magic'});
  assert.match(unknown.result.not_applicable, /none of this name/);
  const protocol = await worker.ask('hello', {...HELLO, protocol: 99});
  assert.match(protocol.error.message, /protocol 3, the harness 99/);
  assert.equal((await run('export default () => {}')).result.error, null);
}));
