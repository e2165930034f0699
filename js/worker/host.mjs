// What differs between the places where a worker can run. This one is Node.js; browser.mjs is a page.

import {spawnSync} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {original} from './sourcemaps.mjs';
import {TREE, whose} from './whose.mjs';

/**
 * @typedef {object} Host
 * @property {Record<string, string>} versions
 * @property {() => Promise<void>} turn  lets the event loop turn once
 * @property {() => void} collect  forces a full garbage collection
 * @property {() => Memory | Promise<Memory>} memory
 * @property {() => number} [textures]  the bytes of WebGL's textures, in a page
 * @property {() => string[]} running  what keeps the event loop busy, such as timers
 * @property {unknown[]} rejections  promises that were rejected and that nobody handled
 * @property {(path: string) => Promise<Uint8Array>} readFile
 * @property {(path: string) => string} address  what TensorFlow.js itself can load a file from
 * @property {string[]} scripts  the addresses that a worker of a page's own loads TensorFlow.js from; none in Node.js
 * @property {(path: string) => Promise<any>} importModule
 * @property {(backend: string) => Promise<string | null>} lacks  what this host has not that a backend needs
 * @property {<T>(start: () => Promise<T>) => Promise<T>} starting  starts a backend, with what has to be out of its way
 * @property {(place: import('./frames.mjs').Place) => import('./frames.mjs').Place} original  through source maps
 * @property {(place: string) => string} of  whose a source file is: "user", "library" or "harness"
 * @property {(place: string) => string} shown  a source file as people read it
 *
 * @typedef {object} Memory  in bytes; null what cannot be read
 * @property {Record<string, number | null>} heap
 * @property {Record<string, number | null>} process
 */

const HOME = fileURLToPath(TREE);

/** @returns {Host} */
export function nodeHost() {
  const collect = /** @type {(() => void) | undefined} */ (globalThis.gc);
  if (collect === undefined) throw new Error('Node.js was started without --expose-gc');
  /** @type {unknown[]} */
  const rejections = [];
  process.on('unhandledRejection', reason => rejections.push(reason));
  process.on('uncaughtException', error => rejections.push(error));
  return {
    versions: {node: process.versions.node},
    turn: () => new Promise(resolve => setImmediate(resolve)),
    collect,
    memory() {
      const {heapUsed, external, arrayBuffers, rss} = process.memoryUsage();
      return {heap: {used: heapUsed, external, array_buffers: arrayBuffers}, process: {resident: rss}};
    },
    rejections,
    // Since Node.js 17.3; the types of 18 have forgotten it.
    running: () => /** @type {any} */ (process).getActiveResourcesInfo(),
    readFile: path => readFile(path),
    address: path => pathToFileURL(path).href,
    scripts: [],
    starting: withoutFetch,
    lacks: async () => null,
    async importModule(path) {
      try {
        return await import(pathToFileURL(path).href);
      } catch (error) {
        if (error instanceof SyntaxError) {
          if (path.endsWith('.js')) error.message += ' (a file with import or export ends in .mjs)';
          const place = placeOf(path);
          if (place) error.stack = `${place}\n${error.stack}`;
        }
        throw error;
      }
    },
    original,
    of: place => whose(place.startsWith('file:') ? place : pathToFileURL(place).href),
    shown(place) {
      const path = place.startsWith('file:') ? fileURLToPath(place) : place;
      return path.startsWith(HOME) ? path.slice(HOME.length) : path;
    },
  };
}

/**
 * Where a file cannot be parsed: "file:line", or nothing if it can be. V8 keeps the place of a module's syntax error to
 * itself until the process ends of it, so another one has to.
 * @param {string} path
 */
function placeOf(path) {
  const {stderr} = spawnSync(process.execPath, ['--check', path], {encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000});
  return (stderr ?? '').split('\n', 1)[0];
}

/**
 * Does something without the global fetch of Node.js 18 and later: the wasm backends of 1.7.0 to 3.15.0 take it for a
 * page's, and ask it for a file; that of 3.21.0 does not.
 * @template T
 * @param {() => Promise<T>} act
 */
export async function withoutFetch(act) {
  const fetch = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  if (fetch?.configurable) Reflect.deleteProperty(globalThis, 'fetch');
  try {
    return await act();
  } finally {
    if (fetch?.configurable) Object.defineProperty(globalThis, 'fetch', fetch);
  }
}
