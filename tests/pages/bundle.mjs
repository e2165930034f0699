// Bundles the pages as people ship them: node bundle.mjs FOLDER, in which each has a folder of its own.

import {cpSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {build} from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2];

/** Folder, entry, result, whether there is a clean twin, and what is special. @type {[string, string, string, boolean, import('esbuild').BuildOptions][]} */
const bundles = [
  ['react', 'main.jsx', 'main.js', true, {format: 'esm', minify: true, sourcemap: true}],
  ['bundled', 'main.mjs', 'main.js', false, {format: 'iife', minify: true, sourcemap: true}],
  ['worker', 'module.mjs', 'module.js', false, {format: 'esm', sourcemap: 'inline'}],
  ['worker', 'module.mjs', 'minified.js', false, {format: 'iife', minify: true, sourcemap: true}],
];

for (const folder of ['script', 'frame', 'releases', 'bad']) cpSync(join(here, folder), join(out, folder), {recursive: true});
for (const release of ['0.15.3', '4.22.0']) {
  cpSync(join(here, `../../node_modules/tfjs-${release}/dist/tf.min.js`), join(out, `tf-${release}.js`));
}
for (const [folder, entry, name, hasTwin, options] of bundles) {
  for (const leaks of hasTwin ? [true, false] : [true]) {
    const destination = join(out, `${folder}-${leaks ? 'leaks' : 'clean'}`);
    cpSync(join(here, folder), destination, {recursive: true, filter: file => !/\.(mjs|jsx)$/.test(file)});
    await build({
      absWorkingDir: here, entryPoints: [join(folder, entry)], outfile: join(destination, name), bundle: true, jsx: 'automatic',
      define: {LEAKS: String(leaks), 'process.env.NODE_ENV': '"production"'}, alias: {'@tensorflow/tfjs': 'tfjs-4.22.0'},
      legalComments: 'none', logLevel: 'warning', ...options,
    });
  }
}
const mapped = readFileSync(join(out, 'bundled-leaks/main.js'), 'utf8');
writeFileSync(join(out, 'bundled-leaks/unmapped.js'), mapped.replace(/\n\/\/# sourceMappingURL=.*/, ''));
writeFileSync(join(out, 'bundled-leaks/unmapped.html'), readFileSync(join(here, 'bundled/index.html'), 'utf8').replace('main.js', 'unmapped.js'));
