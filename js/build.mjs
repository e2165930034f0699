// Builds the npm package into a folder, dist/npm by default: the modules as they are, of which only those that an entry needs,
// and beside them CommonJS, a plain script for pages, and types.
//     node js/build.mjs [FOLDER]          then: npm pack ./dist/npm

import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

import {build} from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DIST = resolve(process.argv[2] ?? join(HERE, '../dist/npm'));
/** What tests run in comes from the project that is tested. */
const RUNNERS = ['vitest', '@jest/globals', 'node:*'];
/** What it is written for, as js/ is. */
const TARGET = 'es2022';

/** @param {object} conditions @returns {string[]} */
const files = conditions => Object.entries(conditions).flatMap(([name, file]) => (
  name === 'types' ? [] : typeof file === 'string' ? [file] : files(file)));

const {exports: entries} = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
const modules = files(entries).filter(file => file.endsWith('.mjs')).map(file => join(HERE, file));

rmSync(DIST, {recursive: true, force: true});
const options = /** @type {const} */ ({absWorkingDir: HERE, target: TARGET, charset: 'utf8', legalComments: 'none', logLevel: 'warning'});

const {metafile} = await build({
  ...options, entryPoints: modules, bundle: true, format: 'esm', outdir: DIST, external: RUNNERS, write: false, metafile: true,
});
const needed = Object.keys(metafile.inputs).sort();
for (const file of [...needed, 'package.json', 'README.md']) copy(join(HERE, file), file);
copy(join(HERE, '../LICENSE'), 'LICENSE');

await build({
  ...options, entryPoints: needed.filter(file => !file.endsWith('vitest.mjs')), bundle: true, format: 'cjs', platform: 'node',
  outdir: join(DIST, 'cjs'), outbase: HERE, outExtension: {'.js': '.cjs'}, external: RUNNERS,
  plugins: [{
    name: 'every module for itself',
    setup: ({onResolve}) => onResolve({filter: /^\..*\.mjs$/}, ({path, kind}) => (
      kind === 'entry-point' ? undefined : {path: path.replace(/\.mjs$/, '.cjs'), external: true})),
  }],
});
await build({
  ...options, entryPoints: ['page/page.mjs'], bundle: true, format: 'iife', globalName: 'tensorledger',
  outfile: join(DIST, 'tensorledger.js'),
});

const tsc = spawnSync(process.execPath, [
  createRequire(import.meta.url).resolve('typescript/bin/tsc'), '--allowJs', '--declaration', '--emitDeclarationOnly', '--stripInternal', '--strict',
  '--target', TARGET, '--module', 'nodenext', '--moduleDetection', 'force', '--skipLibCheck', '--types', 'node',
  '--lib', 'es2022,esnext.disposable', '--rootDir', HERE, '--outDir', join(DIST, 'types'),
  join(HERE, 'testing/runners.d.ts'), ...modules,
], {cwd: HERE, stdio: 'inherit'});
if (tsc.status !== 0) throw new Error('the types could not be made');
for (const file of ['testing/vitest.d.ts', 'testing/jest.d.ts']) copy(join(HERE, file), join('types', file));
for (const file of readdirSync(join(DIST, 'types'), {recursive: true})) {
  const path = join(DIST, 'types', String(file));
  if (!path.endsWith('.d.mts')) continue;
  const text = readFileSync(path, 'utf8').replace(/(?<=<reference path=")[^"]+\/(?=[^/"]+")/, './');
  writeFileSync(path, text);
  writeFileSync(path.replace(/\.mts$/, '.cts'), text.replaceAll(/\.mjs(?=['"])/g, '.cjs'));
}
console.log(`${relative(process.cwd(), DIST)}: ${needed.length} modules`);

/** @param {string} from @param {string} to  below dist */
function copy(from, to) {
  mkdirSync(dirname(join(DIST, to)), {recursive: true});
  cpSync(from, join(DIST, to));
}
