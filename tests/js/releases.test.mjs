// What differs between releases of TensorFlow.js, on each that is pinned. Each has a process of its own: two releases in
// one get in each other's way.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const ONE = fileURLToPath(new URL('fixtures/one-release.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const {dependencies} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const RELEASES = Object.keys(dependencies).filter(name => /^tfjs-\d/.test(name)).map(name => name.slice('tfjs-'.length));

/** What each is, as it was measured. */
const MODEL = {'0.12.4': 'Model', '0.12.5': 'Model', '0.15.3': 'Model'};
const RECIPE = {'0.12.4': 'walk-values'};
/** Of a model of two Dense layers: these also keep what each weight was initialized with, in the same buffer. */
const TENSORS = {'0.12.4': 8, '0.12.5': 8};

/** @type {Map<string, Promise<any>>} */
const told = new Map();

/** @param {string} release  @returns {Promise<any>} what fixtures/one-release.mjs found */
function tell(release) {
  const found = told.get(release) ?? promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', ONE, `${MODULES}/tfjs-${release}`], {maxBuffer: 2 ** 24})
    .then(({stdout}) => JSON.parse(/** @type {string} */ (stdout.trim().split('\n').at(-1))));
  told.set(release, found);
  return found;
}

test('the pinned releases are those of the default targets', () => {
  assert.deepEqual(RELEASES, ['0.12.4', '0.12.5', '0.15.3', '1.0.4', '1.7.4', '2.8.6', '3.21.0', '4.22.0']);
});

for (const release of RELEASES) {
  test(`${release}: each live tensor tells the line of the user's that it escaped at`, async () => {
    const {lines, escapes} = await tell(release);
    for (const [name, {line, kept}] of Object.entries(escapes)) {
      assert.equal(lines[/** @type {number} */ (line) - 1].match(/\/\/ (.*)$/)?.[1], name, `${name}: line ${line}`);
      assert.equal(kept, name.startsWith('kept'), name);
    }
    assert.deepEqual(Object.keys(escapes), [
      'outside', 'returned', 'returned from the inner', 'kept', 'kept in the inner', 'variable', 'variable in a tidy', 'prediction']);
  });

  test(`${release}: its engines are found on the global object, by who comes first and by who comes later`, async () => {
    const {watched} = await tell(release);
    assert.deepEqual(watched, {first: true, late: true, restored: true});
  });

  test(`${release}: the engine is the one that counts, and the class of models is found`, async () => {
    const {version, counted, className, prototype, recipe} = await tell(release);
    assert.equal(version, release);
    assert.deepEqual(counted, {engine: 1, memory: 1}, 'one tensor made is one more in engineOf(tf)');
    assert.equal(className, /** @type {any} */ (MODEL)[release] ?? 'LayersModel');
    assert.ok(prototype, 'a sequential model is one of them');
    assert.equal(recipe, /** @type {any} */ (RECIPE)[release] ?? 'dispose');
  });

  test(`${release}: the ledger's live set is the engine's, step by step`, async () => {
    const {steps} = await tell(release);
    const names = Object.keys(steps);
    assert.deepEqual(names, [
      'plain', 'one disposed', 'all disposed', 'clone', 'clone without the first', 'clones gone', 'variable', 'assigned',
      'variables gone', 'tidy', 'kept', 'kept gone', 'model', 'predicted', 'compiled', 'trained', 'released', 'data gone']);
    for (const name of names) {
      const {live, engine} = steps[name];
      assert.equal(live, engine, `${name}: ${live} in the ledger, ${engine} in the engine`);
    }
    const live = Object.fromEntries(names.map(name => [name, steps[name].live]));
    const bytes = Object.fromEntries(names.map(name => [name, steps[name].bytes]));
    assert.deepEqual([live.plain, live['one disposed'], live['all disposed']], [3, 2, 0]);
    assert.deepEqual([bytes.plain, bytes['one disposed'], bytes['all disposed']], [24 + 12 + 3, 12 + 3, 0]);
    assert.deepEqual([live.clone, live['clone without the first'], live['clones gone']], [3, 2, 0]);
    assert.deepEqual([bytes.clone, bytes['clone without the first']], [64, 64], 'a buffer that is shared counts once');
    assert.deepEqual([live.tidy, live.kept, live['kept gone']], [3, 2, 0], 'what is returned, kept, and a variable');
    assert.equal(live.model, /** @type {any} */ (TENSORS)[release] ?? 4);
    assert.equal(bytes.model, 4 * (784 * 4 + 4 + 4 * 2 + 2));
    assert.ok(live.trained > live.compiled && bytes.trained > bytes.compiled, 'the optimizer\'s slots');
    assert.equal(live['data gone'], live.released - 2);
  });

  test(`${release}: what is left is told with its name, shape and bytes`, async () => {
    const {left} = await tell(release);
    const named = left.find((/** @type {any} */ {name}) => name === 'ledger/named');
    const {stack, ...rest} = named;
    assert.deepEqual(rest, {count: 1, shape: [5], dtype: 'float32', bytes: 20, name: 'ledger/named', kept: false, reachable: true});
    assert.match(stack, /one-release\.mjs/);
    const plain = left.find((/** @type {any} */ {name}) => name === null);
    assert.deepEqual([plain.count, plain.shape, plain.bytes], [2, [3], 12]);
    assert.deepEqual(left.filter((/** @type {any} */ {name}) => name?.includes('kernel')).map((/** @type {any} */ {shape}) => shape), [[784, 4], [4, 2]]);
  });
}
