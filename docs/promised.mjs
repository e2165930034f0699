// Lists what each entry of the npm package exports, as JSON: what `docs/promised.py` asks for.

import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

import {build} from 'esbuild';

const js = fileURLToPath(new URL('../js/', import.meta.url));
const {exports: entries} = JSON.parse(readFileSync(`${js}package.json`, 'utf8'));

/** @param {any} conditions @returns {string | undefined} */
const moduleOf = conditions => (
  typeof conditions === 'string' ? conditions : conditions.import ? moduleOf(conditions.import) : moduleOf(conditions.default));

/** @type {Record<string, string[]>} */
const names = {};
for (const [path, conditions] of Object.entries(entries)) {
  const file = moduleOf(conditions);
  names[path] = [];
  if (!file?.endsWith('.mjs')) continue;
  const {metafile} = await build({
    absWorkingDir: js, entryPoints: [file], bundle: true, packages: 'external', format: 'esm', platform: 'node', write: false,
    metafile: true, outdir: 'out', logLevel: 'warning',
  });
  names[path] = Object.values(metafile.outputs)[0].exports.sort();
}
console.log(JSON.stringify(names));
