// Copies of TensorFlow.js that nobody hands over: minified, and two at once. Each pair has a process of its own.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const TWO = fileURLToPath(new URL('fixtures/two-copies.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** @param {string} release  @param {string} [file] */
const copy = (release, file = 'tf.min.js') => `${MODULES}/tfjs-${release}/dist/${file}`;

/** @param {string[]} files  @returns {Promise<any>} */
async function tell(...files) {
  const {stdout} = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', TWO, ...files], {maxBuffer: 2 ** 24});
  return JSON.parse(/** @type {string} */ (stdout.trim().split('\n').at(-1)));
}

for (const [older, newer] of [['0.12.4', '4.22.0'], ['1.0.4', '2.8.6']]) {
  test(`${older} and ${newer} in one process each have an engine, and a ledger of their own`, async () => {
    const {seen, disagreements} = await tell(copy(older), copy(newer));
    assert.equal(seen.length, 2);
    const [first, second] = seen.map((/** @type {any} */ {more}) => more.indexOf(1));
    assert.ok(first >= 0 && second >= 0 && first !== second, JSON.stringify(seen));
    for (const {more, shape, line} of seen) {
      assert.equal(more.filter(Boolean).length, 1, 'the other ledger sees nothing of it');
      assert.deepEqual([shape, line], [[3], true]);
    }
    assert.ok(disagreements.every((/** @type {unknown} */ told) => told === null), String(disagreements));
  });
}

test('copies from 1.1 on share one engine, and one ledger counts for both', async () => {
  const {seen, disagreements} = await tell(copy('1.7.4'), copy('1.7.4', 'tf.js'));
  assert.deepEqual(seen.map((/** @type {any} */ {more}) => more), [[1], [1]]);
  assert.deepEqual(disagreements, [null]);
});
