// track() and expectNoLeaks() on releases of each kind, each in a process of its own: TensorFlow.js is loaded while they run.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const TRACKED = fileURLToPath(new URL('fixtures/tracked.mjs', import.meta.url));
const LINE = readFileSync(TRACKED, 'utf8').split('\n').findIndex(line => line.endsWith('// LINE leaky')) + 1;
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const CACHE = process.env.TENSORLEDGER_CACHE ?? `${process.env.XDG_CACHE_HOME ?? `${homedir()}/.cache`}/tensorledger`;
const {dependencies} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** Folders by what they are called here. @type {Record<string, string[]>} */
const RELEASES = Object.fromEntries([
  ...['0.6.1', '1.2.11'].map(release => [release, [`${CACHE}/releases/${release}/node_modules/@tensorflow/tfjs`]]),
  ...Object.keys(dependencies).filter(name => /^tfjs-\d/.test(name)).map(name => [name.slice('tfjs-'.length), [`${MODULES}/${name}`]]),
  ['1.7.4, core and layers alone', ['core', 'layers'].map(part => `${MODULES}/tfjs-1.7.4/node_modules/@tensorflow/tfjs-${part}`)],
  ['4.22.0, core and layers alone', ['core', 'layers', 'backend-cpu'].map(part => `${MODULES}/@tensorflow/tfjs-${part}`)],
]);
/** Up to 0.12.5 each weight's initial value is left beside it. */
const DOUBLE = ['0.6.1', '0.12.4', '0.12.5'];

for (const [release, folders] of Object.entries(RELEASES)) {
  test(`${release}: what is left is counted, and told by the line that made it`, {skip: folders.every(existsSync) ? false : `tensorledger install tfjs@${release}`}, async () => {
    const {stdout} = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', TRACKED, ...folders]);
    const told = JSON.parse(/** @type {string} */ (stdout.trim().split('\n').at(-1)));
    assert.deepEqual(told.shared, {before: [2, 64], after: [2, 64]}, 'a buffer that two share counts once');
    const {message, frame, ...error} = told.error;
    assert.deepEqual(error, {name: 'TensorLeakError', count: 1, bytes: 64, shape: [4, 4]});
    assert.match(frame.file, /tracked\.mjs$/);
    assert.deepEqual([frame.function, frame.line, frame.of], ['leaky', LINE, 'user']);
    assert.match(message, /^1 tensor, 64 bytes, is left that was made inside leaky\(\)\n {2}made at leaky \(/);
    assert.equal(told.clean, 2);
    assert.equal(told.model, 'function', 'the weights of a model that is returned are its caller\'s');
    const weights = DOUBLE.includes(release) ? 4 : 2;
    assert.equal(told.lost, weights);
    const left = 1 + 1 + 2 + weights;
    assert.deepEqual(told.counts, [left, left, 1], 'also on an engine that a new backend has');
    assert.deepEqual(told.stopped, [left, left]);
  });
}
