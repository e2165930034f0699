// Whatever the worker is asked, it answers: with what was asked for, or with an error that says what is wrong. It goes
// on, prints nothing, and ends when the harness hangs up. FUZZ=20 looks twenty times as deep, somewhere else each time.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import fc from 'fast-check';

import {checker} from '../../js/protocol/check.mjs';
import {parsed} from '../../js/protocol/message.mjs';
import {serve} from '../../js/worker/serve.mjs';
import {Peer} from './peer.mjs';

const WORKER = fileURLToPath(new URL('../../js/worker/node.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const {Validator} = createRequire(`${MODULES}/`)('@cfworker/json-schema');
const schema = JSON.parse(readFileSync(new URL('../../js/protocol/schema.json', import.meta.url), 'utf8'));
const check = checker(schema, Validator);
const DEEPER = Number(process.env.FUZZ ?? 0);
/** @param {number} numRuns */
const runs = numRuns => (DEEPER ? {numRuns: numRuns * DEEPER} : {numRuns, seed: 1});

const HELLO = {protocol: schema.protocol, name: 'tfjs', version: '4.22.0', backend: 'cpu', package: '/nowhere', backend_package: null};
const RUN = {scenario: '/nowhere.mjs', model: 'classifier', recipe: '', cycles: 2, throws: false, params: {}};
const GOOD = [
  {jsonrpc: '2.0', id: 1, method: 'hello', params: HELLO},
  {jsonrpc: '2.0', id: 'two', method: 'run', params: RUN},
  {jsonrpc: '2.0', id: 3, method: 'saved_model', params: {model: 'classifier', source: 'keras', release: null}},
  {jsonrpc: '2.0', id: 'w1', result: {go_on: true}},
];
const ODD = [
  null, true, 0, -1, 1.5, 2 ** 53, 1e308, -0, '', 'x', '__proto__', 'constructor', 'toString', '\u001b[2J', '\ud800', [], {}, [[]],
  {__proto__: null}, JSON.parse('{"__proto__": {"polluted": true}}'), {constructor: {prototype: {polluted: true}}},
];

/** The places in what JSON can say. @param {any} value @returns {[any, string | number][]} */
function places(value) {
  if (value === null || typeof value !== 'object') return [];
  return Object.keys(value).flatMap(key => [[value, key], ...places(value[key])]);
}

/** A message with some of it replaced, left out, added or wrapped. */
const changed = fc.tuple(
  fc.constantFrom(...GOOD), fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...ODD)), {minLength: 1, maxLength: 3}),
).map(([message, changes]) => {
  const copy = JSON.parse(JSON.stringify(message));
  for (const [at, how, value] of changes) {
    const all = places(copy);
    if (!all.length) break;
    const [holder, key] = all[at % all.length];
    if (how === 0) delete holder[key];
    else if (how === 1) holder[key] = [holder[key]];
    else if (how === 2) Object.defineProperty(holder, '__proto__', {value, enumerable: true, configurable: true, writable: true});
    else holder[key] = value;
  }
  return JSON.stringify(copy);
});

/** Lines that are messages, nearly, or not at all. None has an end of line in it. */
const line = fc.oneof(
  {weight: 4, arbitrary: changed},
  {weight: 2, arbitrary: fc.json()},
  {weight: 1, arbitrary: fc.string()},
  {weight: 1, arbitrary: fc.constantFrom(...GOOD).chain(message => fc.nat(60).map(count => JSON.stringify(message).slice(0, -count || undefined)))},
  {weight: 1, arbitrary: fc.constantFrom(0, 10, 5_000).map(depth => `{"jsonrpc":"2.0","id":9,"method":"run","params":${'['.repeat(depth)}${']'.repeat(depth)}}`)},
).map(text => text.replaceAll('\n', ' '));

/** What the worker is to say to a line: one answer with this id, or nothing to a notification. @param {string} text */
function due(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return {id: null};
  }
  const is = message !== null && typeof message === 'object' && !Array.isArray(message);
  if (is && message.jsonrpc === '2.0' && typeof message.method === 'string' && message.id === undefined) return null;
  return {id: is && (typeof message.id === 'string' || typeof message.id === 'number') ? message.id : null};
}

/** Sees that answers are what is due. @param {any[]} answers @param {string[]} lines */
function rightly(answers, lines) {
  assert.deepEqual(answers.map(answer => answer.id), lines.map(due).filter(one => one !== null).map(({id}) => id));
  for (const answer of answers) {
    assert.equal(answer.jsonrpc, '2.0');
    assert.equal(answer.result, undefined, 'nothing here can be done');
    assert.ok(Number.isInteger(answer.error.code) && answer.error.code < 0);
    assert.match(answer.error.message, /\S/);
    assert.ok(answer.error.message.length < 4000);
    assert.doesNotMatch(answer.error.message, /\n\s+at /);
  }
}

/** A worker in this process, with nothing to load. @param {string[]} lines @returns {Promise<any[]>} */
async function answered(lines) {
  /** @type {any[]} */
  const sent = [];
  const rest = [...lines];
  const host = {
    versions: {}, running: () => [], lacks: async () => null, starting: (/** @type {any} */ start) => start(),
    of: () => 'user', shown: (/** @type {string} */ place) => place, original: (/** @type {any} */ place) => place,
    importModule: async () => assert.fail('it was run before hello'),
  };
  await serve({
    channel: {send: message => sent.push(JSON.parse(JSON.stringify(message))), receive: () => (rest.length ? parsed(/** @type {string} */ (rest.shift())) : undefined)},
    host: /** @type {any} */ (host),
    loadLibrary: () => {
      throw new Error('there is none');
    },
    check,
    protocol: schema.protocol,
  });
  return sent;
}

test('whatever a line says, the worker answers it once, says what is wrong, and goes on', async () => {
  await fc.assert(fc.asyncProperty(fc.array(line, {minLength: 1, maxLength: 12}), async lines => {
    rightly(await answered(lines), lines);
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
  }), runs(1500));
});

test('what is as agreed passes the check, and what was changed in it does not, or is as agreed still', () => {
  fc.assert(fc.property(changed, text => {
    const {method, params} = JSON.parse(text) ?? {};
    if (typeof method !== 'string' || !Object.hasOwn(schema.methods, method)) return;
    try {
      assert.deepEqual(check(method, 'params', params), params);
    } catch (error) {
      assert.match(String(error), /^TypeError: protocol: the params of "\w+" are not as agreed: |Maximum call stack/);
      return;
    }
    const known = new Set(Object.keys(schema.$defs[schema.methods[method].params.$ref.split('/').at(-1)].properties));
    assert.deepEqual(Object.keys(params).filter(key => !known.has(key)), [], 'an unknown field passed');
  }), runs(1500));
});

test('the worker itself, over its channel: bytes that are no text, and lines of any kind', async () => {
  const worker = new Peer(['--expose-gc', WORKER, MODULES]);
  let round = 0;
  try {
    const bytes = fc.uint8Array({maxLength: 60}).map(found => Buffer.from(found.map(byte => (byte === 10 ? 0 : byte))));
    const either = fc.oneof({weight: 3, arbitrary: line.map(text => Buffer.from(text))}, {weight: 1, arbitrary: bytes});
    await fc.assert(fc.asyncProperty(fc.array(either, {maxLength: 20}), async lines => {
      round += 1;
      for (const one of lines) worker.write(Buffer.concat([one, Buffer.from('\n')]));
      worker.send({jsonrpc: '2.0', id: `end ${round}`, method: 'nothing'});
      const answers = [];
      for (let answer = await worker.receive(); answer.id !== `end ${round}`; answer = await worker.receive()) answers.push(answer);
      const texts = lines.map(one => one.toString());
      // What is no UTF-8 is no message, though what it is read as might be one.
      rightly(answers, texts.map((text, at) => (Buffer.from(text).equals(lines[at]) ? text : 'none')));
    }), runs(60));
    assert.equal(worker.process.exitCode, null);
    assert.equal(await worker.hangUp(), 0);
    assert.equal(worker.printed, '');
  } finally {
    worker.stop();
  }
});

test('a hole in the checks is found', async () => {
  const holes = [
    (/** @type {any[]} */ answers) => answers.slice(1),
    (/** @type {any[]} */ answers) => [...answers, ...answers],
    (/** @type {any[]} */ answers) => answers.map(answer => ({...answer, result: {}})),
    (/** @type {any[]} */ answers) => answers.map(answer => ({...answer, error: {code: -1, message: ''}})),
    (/** @type {any[]} */ answers) => answers.map(answer => ({...answer, error: {code: -1, message: 'no\n    at serve'}})),
  ];
  for (const hole of holes) {
    await assert.rejects(fc.assert(fc.asyncProperty(fc.array(line, {minLength: 1, maxLength: 12}), async lines => {
      rightly(hole(await answered(lines)), lines);
    }), {numRuns: 300, seed: 1}));
  }
});
