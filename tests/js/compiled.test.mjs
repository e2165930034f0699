// What V8 compiled of a package is kept, and is used again for the very same source alone.

import assert from 'node:assert/strict';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import test from 'node:test';

import {Compiled} from '../../js/worker/compiled.mjs';

/** @param {(folder: string, load: (compiled: Compiled) => any) => void} body */
function withPackage(body) {
  const folder = mkdtempSync(`${tmpdir()}/compiled-`);
  writeFileSync(`${folder}/package.json`, '{"main": "index.js"}');
  writeFileSync(`${folder}/index.js`, `
    exports.part = require('./part.js');
    exports.is = [module.filename, __filename, __dirname, typeof require.resolve('./part.js'), typeof require.cache];`);
  writeFileSync(`${folder}/part.js`, 'module.exports = () => 111;');
  const load = (/** @type {Compiled} */ compiled) => {
    const {cache} = createRequire(import.meta.url);
    for (const name of Object.keys(cache)) if (name.startsWith(folder)) delete cache[name];
    return compiled.load(folder);
  };
  try {
    body(folder, load);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test('a package is loaded as Node.js loads it, with what was kept and without', () => {
  withPackage((folder, load) => {
    const file = `${folder}/kept`;
    for (const kept of [false, true]) {
      assert.equal(existsSync(file), kept);
      const compiled = new Compiled(file);
      const {part, is} = load(compiled);
      assert.equal(part(), 111);
      assert.deepEqual(is, [`${folder}/index.js`, `${folder}/index.js`, folder, 'string', 'object']);
      compiled.save();
    }
  });
});

test('a source that was changed is compiled anew, also when it is as long as before', () => {
  withPackage((folder, load) => {
    const first = new Compiled(`${folder}/kept`);
    load(first);
    first.save();
    const before = readFileSync(`${folder}/kept`);
    writeFileSync(`${folder}/part.js`, 'module.exports = () => 222;');
    const second = new Compiled(`${folder}/kept`);
    assert.equal(load(second).part(), 222);
    second.save();
    assert.deepEqual(readFileSync(`${folder}/kept`), before, 'it is written once');
  });
});

test('a file that is none is taken for nothing, and one that cannot be written is no error', () => {
  withPackage((folder, load) => {
    writeFileSync(`${folder}/kept`, 'nonsense');
    assert.equal(load(new Compiled(`${folder}/kept`)).part(), 111);
    const nowhere = new Compiled(`${folder}/no/such/folder`);
    assert.equal(load(nowhere).part(), 111);
    nowhere.save();
  });
});

test('the way that Node.js compiles is put back', () => {
  withPackage((folder, load) => {
    const {prototype} = /** @type {any} */ (createRequire(import.meta.url)('node:module'));
    const usual = prototype._compile;
    load(new Compiled(`${folder}/kept`));
    assert.equal(prototype._compile, usual);
  });
});
