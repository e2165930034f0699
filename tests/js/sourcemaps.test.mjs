import assert from 'node:assert/strict';
import {mkdtempSync, mkdirSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import test from 'node:test';

import {frames, fromUser} from '../../js/worker/frames.mjs';
import {nodeHost} from '../../js/worker/host.mjs';
import {SourceMaps} from '../../js/worker/sourcemaps.mjs';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tensorledger ')));
process.on('exit', () => rmSync(folder, {recursive: true}));
const host = nodeHost();

/** @param {string} name @param {string} text */
function write(name, text) {
  const path = join(folder, name);
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, text);
  return path;
}

// Line 1, column 1 of the generated file is line 4, column 3 of src/app.ts; column 11 is line 9 of the library's file.
const MAP = {version: 3, sources: ['src/app.ts', 'node_modules/@tensorflow/tfjs-core/engine.ts'], names: [], mappings: 'AAGE,UCKA'};
const GENERATED = 'aaaaaaaaaabbbbbbbbbb\n';

/** @param {string} path */
const traced = path => frames([`    at minified (${path}:1:12)`, `    at e (${path}:1:3)`, `    at f (${path}:7:1)`], host);

/** @param {string} comment @param {string} name */
const generated = (comment, name) => write(name, `${GENERATED}${comment}\n`);

test('a place in a bundle is traced back to what was written, and whose it is follows from that', () => {
  write('dist/app.js.map', JSON.stringify({...MAP, sourceRoot: '../'}));
  const found = traced(generated('//# sourceMappingURL=app.js.map', 'dist/app.js'));
  assert.deepEqual(found.slice(0, 2).map(({file, line, column, of}) => [file, line, column, of]), [
    [join(folder, 'node_modules/@tensorflow/tfjs-core/engine.ts'), 9, 3, 'library'],
    [join(folder, 'src/app.ts'), 4, 3, 'user'],
  ]);
  assert.equal(fromUser(found)[0].file, join(folder, 'src/app.ts'));
});

test('a map can be in the file itself', () => {
  const data = Buffer.from(JSON.stringify(MAP)).toString('base64');
  const plain = encodeURIComponent(JSON.stringify(MAP));
  for (const [name, url] of [['a.js', `data:application/json;base64,${data}`], ['b.js', `data:application/json,${plain}`]]) {
    const found = traced(generated(`//# sourceMappingURL=${url}`, name));
    assert.deepEqual([found[1].file, found[1].line], [join(folder, 'src/app.ts'), 4]);
  }
});

test('a map that is not a file here is read by whoever has it, and has the text of its sources', () => {
  const maps = new SourceMaps(url => (url.endsWith('app.js')
    ? {text: JSON.stringify({...MAP, sources: ['../src/app.ts', 'webpack://shop/./b.ts'], sourcesContent: ['one\ntwo', null]}), url: `${url}.map`} : null));
  const at = maps.original('http://shop.example/dist/app.js', {place: 'http://shop.example/dist/app.js', line: 1, column: 3});
  assert.deepEqual(at, {place: 'http://shop.example/src/app.ts', line: 4, column: 3});
  assert.equal(maps.textOf(at.place), 'one\ntwo');
  const other = maps.original('http://shop.example/dist/app.js', {place: 'http://shop.example/dist/app.js', line: 1, column: 12});
  assert.deepEqual([other.place, maps.textOf(other.place)], ['webpack://shop/b.ts', null]);
  const unknown = {place: 'http://shop.example/other.js', line: 1, column: 1};
  assert.equal(maps.original(unknown.place, unknown), unknown);
});

test('without a map, with one that is missing or broken, a place stays what it is', () => {
  write('broken.js.map', '{"version": 3, "sources": [');
  for (const [name, comment] of [['plain.js', ''], ['missing.js', '//# sourceMappingURL=nowhere.map'], ['broken.js', '//# sourceMappingURL=broken.js.map']]) {
    const path = generated(comment, name);
    assert.deepEqual(traced(path).map(({file, line, column}) => [file, line, column]), [[path, 1, 12], [path, 1, 3], [path, 7, 1]]);
  }
});

test('a library\'s own map is not read: it says nothing that its user could change', () => {
  const path = generated('//# sourceMappingURL=x.js.map', 'node_modules/lib/x.js');
  write('node_modules/lib/x.js.map', JSON.stringify(MAP));
  const found = traced(path);
  assert.deepEqual([found[0].file, found[0].of], [path, 'library']);
});

test('a source that is no URL is shown as the map says, and none breaks the frame', () => {
  for (const source of ['webpack://my app/./src/a.ts', 'webpack://app:dev/a.ts', 'a%2Fb.ts', 'a%zz.ts', 'a#b.ts', '//cdn/a.ts']) {
    write('odd.js.map', JSON.stringify({...MAP, sources: [source, source]}));
    const name = `odd-${source.replace(/\W/g, '')}.js`;
    const [, app] = traced(generated('//# sourceMappingURL=odd.js.map', name));
    assert.ok(app.file.endsWith(source.replace(/^.*\//, '')), `${source}: ${app.file}`);
    assert.equal(app.line, 4);
  }
});

test('a line without a mapping is not taken for the one before it', () => {
  write('footer.js.map', JSON.stringify(MAP));
  const path = generated('//# sourceMappingURL=footer.js.map', 'footer.js');
  assert.deepEqual(frames([`    at f (${path}:2:1)`], host).map(({file, line}) => [file, line]), [[path, 2]]);
});

test('what eval made has no place, and who called it has', () => {
  const path = write('evals.mjs', '');
  const found = frames([`    at eval (eval at outer (${path}:1:75), <anonymous>:1:4)`, `    at outer (${path}:1:75)`], host);
  assert.deepEqual(found.map(({file, line}) => [file, line]), [[path, 1]]);
});

test('a source that is no file is shown as the map says', () => {
  const map = {...MAP, sources: ['webpack://shop/./src/cart.js', 'webpack://shop/./node_modules/x/y.js']};
  write('packed.js.map', JSON.stringify(map));
  const found = traced(generated('//# sourceMappingURL=packed.js.map', 'packed.js'));
  assert.deepEqual(found.slice(0, 2).map(({file, of}) => [file, of]), [
    ['webpack://shop/node_modules/x/y.js', 'library'], ['webpack://shop/src/cart.js', 'user']]);
});
