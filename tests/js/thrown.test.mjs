import assert from 'node:assert/strict';
import {mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {RECIPES} from '../../js/lifecycle/recipes.mjs';
import {nodeHost} from '../../js/worker/host.mjs';
import {describe} from '../../js/worker/thrown.mjs';
import {tf} from './tfjs.mjs';

const host = nodeHost();
Error.stackTraceLimit = 100;  // as serve.mjs has it

/** @param {string} content @param {(path: string) => unknown} use  given a file with it that is the user's */
async function withFile(content, use) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tensorledger ')));
  try {
    const path = join(folder, 'theirs.mjs');
    writeFileSync(path, content);
    return await use(path);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

/** @param {() => unknown} act  @returns {Promise<any>} what it throws */
async function thrownBy(act) {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

test('a file is the user\'s, a library\'s or the harness\'s', () => {
  const here = fileURLToPath(new URL('../../', import.meta.url));
  for (const [place, whose] of [
    ['/home/someone/mine.mjs', 'user'],
    [`${here}js/scenarios/create-dispose.mjs`, 'user'],
    [`file://${here}js/scenarios/create-dispose.mjs`, 'user'],
    [`${here}js/lifecycle/cycles.mjs`, 'harness'],
    [`file://${here}js/worker/serve.mjs`, 'harness'],
    [`${here}node_modules/tfjs-4.22.0/dist/tf.node.js`, 'library'],
    ['/home/someone/node_modules/other/index.js', 'library'],
  ]) assert.equal(host.of(place), whose, place);
  assert.equal(host.shown(`file://${here}js/worker/serve.mjs`), 'js/worker/serve.mjs');
  assert.equal(host.shown('file:///home/some%20one/mine.mjs?again=1'), '/home/some one/mine.mjs');
});

test('a stack starts with the user\'s innermost frame, and tells the library\'s and the harness\'s after it', async () => {
  const content = [
    'export default function ({tf}) {',
    '  tf.tidy(function inner() {',
    '    tf.matMul(tf.ones([2, 3]), tf.ones([2, 3]));',
    '  });',
    '}',
  ].join('\n');
  await withFile(content, async path => {
    const {default: scenario} = await host.importModule(path);
    const {type, message, checkpoint, stack} = describe(await thrownBy(() => RECIPES.tidy.around?.(tf, () => scenario({tf}))), host);
    assert.equal(type, 'Error');
    assert.match(message, /matMul/);
    assert.equal(checkpoint, null);
    const {column, ...innermost} = stack[0];
    assert.deepEqual(innermost, {function: 'inner', file: path, line: 3, of: 'user'});
    assert.equal(column, 8);
    const whose = stack.map(frame => frame.of);
    assert.ok(whose.includes('library'), 'tf.tidy itself');
    const harness = stack.filter(frame => frame.of === 'harness');
    assert.ok(harness.length && harness.every(frame => frame.file === 'js/lifecycle/recipes.mjs'), 'the recipe');
    assert.ok(stack.every(frame => !frame.file.startsWith('node:')));
  });
});

test('each form of a frame is understood', () => {
  const error = new Error('on purpose');
  error.stack = [
    'Error: on purpose',
    '    at inner (file:///u/a.mjs:1:2)',
    '    at async outer (file:///u/a.mjs:3:4)',
    '    at async file:///u/a.mjs:5:6',
    '    at /u/b.cjs:7:8',
    '    at new Model (/u/with space (1)/b.cjs:9:10)',
    '    at Array.map (<anonymous>)',
    '    at Thing.run [as go] (/u/b.cjs:11:12)',
    '    at node:internal/timers:1:1',
    '    at process.x (node:internal/process:1:1)',
  ].join('\n');
  assert.deepEqual(describe(error, host).stack.map(frame => [frame.function, frame.file, frame.line, frame.column]), [
    ['inner', '/u/a.mjs', 1, 2],
    ['outer', '/u/a.mjs', 3, 4],
    ['', '/u/a.mjs', 5, 6],
    ['', '/u/b.cjs', 7, 8],
    ['new Model', '/u/with space (1)/b.cjs', 9, 10],
    ['Thing.run [as go]', '/u/b.cjs', 11, 12],
  ]);
});

test('a stack that a message quotes is not the error\'s own', () => {
  const error = new Error('it said:\n/u/log:3\n    at inner (/u/other.mjs:1:2)');
  const {stack} = describe(error, host);
  assert.equal(stack[0].file, 'tests/js/thrown.test.mjs');
});

test('where no frame is the user\'s, all are told', () => {
  const error = new Error('on purpose');
  error.stack = 'Error: on purpose\n    at a (/u/node_modules/x/a.js:1:2)\n    at b (/u/node_modules/x/b.js:3:4)';
  assert.deepEqual(describe(error, host).stack.map(({of, line}) => [of, line]), [['library', 1], ['library', 3]]);
});

test('what is no error is told all the same', () => {
  for (const [value, type, message] of /** @type {[unknown, string, string][]} */ ([
    ['text', 'String', 'text'],
    [undefined, 'undefined', 'undefined'],
    [null, 'object', 'null'],
    [3, 'Number', '3'],
    [Symbol('s'), 'Symbol', 'Symbol(s)'],
    [Object.create(null), 'object', '[object Object]'],
    [Object.assign(new Error('x'), {message: 5}), 'Error', '5'],
    [new (class TooMany extends RangeError {})('many'), 'TooMany', 'many'],
  ])) {
    const told = describe(value, host);
    assert.deepEqual([told.type, told.message, told.checkpoint], [type, message, null]);
    assert.ok(Array.isArray(told.stack));
  }
});

test('a file that cannot be parsed is told with the line', async () => {
  await withFile('export default function* () {\n  yield "here";\n  const x = ;\n}\n', async path => {
    const {type, message, stack} = describe(await thrownBy(() => host.importModule(path)), host);
    assert.deepEqual([type, message], ['SyntaxError', 'Unexpected token \';\'']);
    assert.deepEqual(stack[0], {function: '', file: path, line: 3, column: null, of: 'user'});
  });
});

test('an import that does not exist in what is imported from is told with the line', async () => {
  await withFile('\nimport {nothing} from \'node:fs\';\nexport default nothing;\n', async path => {
    const {type, stack} = describe(await thrownBy(() => host.importModule(path)), host);
    assert.equal(type, 'SyntaxError');
    assert.deepEqual(stack[0], {function: '', file: path, line: 2, column: null, of: 'user'});
  });
});

test('a syntax error that a scenario meets at run time is told where it was met', async () => {
  await withFile('export default () => {\n  JSON.parse("{");\n};\n', async path => {
    const {default: scenario} = await host.importModule(path);
    const {type, stack} = describe(await thrownBy(() => scenario()), host);
    assert.equal(type, 'SyntaxError');
    assert.deepEqual([stack[0].file, stack[0].line], [path, 2]);
  });
});

test('a module that throws as it is loaded is told where it did', async () => {
  await withFile('const x = 1;\nx.y.z();\n', async path => {
    const {type, stack} = describe(await thrownBy(() => host.importModule(path)), host);
    assert.deepEqual([type, stack[0].file, stack[0].line], ['TypeError', path, 2]);
  });
});
