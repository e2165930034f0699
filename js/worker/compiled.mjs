// Loads CommonJS packages with what V8 compiled of them before, which is kept in a file: half of a start is compiling.
// What runs is the same. Only for workers from which the counts alone are wanted: the heap is another one.

import {createHash} from 'node:crypto';
import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import Module, {createRequire} from 'node:module';
import {dirname} from 'node:path';
import {deserialize, serialize} from 'node:v8';
import {Script} from 'node:vm';

/** What Node.js has there, and its types do not tell. @type {any} */
const internals = Module;

export class Compiled {
  #file;
  /** @type {Map<string, Buffer>} by the digest of the source: V8 itself looks only at its length */
  #kept;
  /** @type {Map<string, Script>} */
  #scripts = new Map();

  /** @param {string} file  where it is kept; it need not be there */
  constructor(file) {
    this.#file = file;
    this.#kept = read(file);
  }

  /**
   * Loads the package in a folder, and all that it requires.
   * @param {string} folder
   */
  load(folder) {
    const usual = internals.prototype._compile;
    const compile = this.#compile.bind(this);
    internals.prototype._compile = function(/** @type {string} */ source, /** @type {string} */ filename) {
      return compile(this, source, filename);
    };
    try {
      return createRequire(`${folder}/package.json`)(folder);
    } finally {
      internals.prototype._compile = usual;
    }
  }

  /** Keeps what is compiled by now, if nothing was kept. What cannot be written is compiled again the next time. */
  save() {
    if (this.#kept.size) return;
    const data = new Map([...this.#scripts].map(([digest, script]) => [digest, script.createCachedData()]));
    const unfinished = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(unfinished, serialize(data));
      renameSync(unfinished, this.#file);
    } catch (error) {
      console.error(`${this.#file} could not be written: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** As Node.js's own Module.prototype._compile. @param {any} module @param {string} source @param {string} filename */
  #compile(module, source, filename) {
    const digest = createHash('sha1').update(filename).update(source).digest('hex');
    const script = new Script(Module.wrap(source), {filename, cachedData: this.#kept.get(digest)});
    this.#scripts.set(digest, script);
    const require = Object.assign((/** @type {string} */ name) => module.require(name), {
      resolve: (/** @type {string} */ name) => createRequire(filename).resolve(name),
      main: process.mainModule,
      cache: internals._cache,
    });
    return script.runInThisContext().call(module.exports, module.exports, require, module, filename, dirname(filename));
  }
}

/** @param {string} file @returns {Map<string, Buffer>} */
function read(file) {
  try {
    return deserialize(readFileSync(file));
  } catch {
    return new Map(); // not there yet, or of another Node.js
  }
}
