// A worker's host in a page of a browser. Files come from the server of the process that opened the page, under its base
// by their whole path; what a page cannot read of itself, that process reads for it.
/// <reference lib="dom" />

import {countTextures} from './textures.mjs';
import {TREE, whose} from './whose.mjs';

/** The addresses of the scripts that were loaded. @type {string[]} */
const loaded = [];

/**
 * @param {object} parts
 * @param {string} parts.base  the address under which files are
 * @param {string} parts.browser  its version
 * @param {() => Promise<import('./host.mjs').Memory>} parts.memory
 * @param {(why: string) => void} parts.lost  told when this page is of no use any more
 * @returns {import('./host.mjs').Host}
 */
export function browserHost({base, browser, memory, lost}) {
  const collect = /** @type {(() => void) | undefined} */ (globalThis.gc);
  if (collect === undefined) throw new Error('Chromium was started without --js-flags=--expose-gc');
  /** @type {unknown[]} */
  const rejections = [];
  addEventListener('unhandledrejection', event => rejections.push(event.reason));
  addEventListener('error', event => rejections.push(event.error ?? new Error(event.message)));
  const {port1, port2} = new MessageChannel();
  /** @type {(() => void)[]} */
  const turns = [];
  port1.onmessage = () => turns.shift()?.();
  const address = (/** @type {string} */ path) => base + path.split('/').map(encodeURIComponent).join('/');
  return {
    versions: {chromium: browser},
    turn: () => new Promise(resolve => {
      turns.push(() => resolve());
      port2.postMessage(null);
    }),
    collect,
    memory,
    textures: countTextures(),
    rejections,
    running: () => [],
    async readFile(path) {
      const response = await fetch(address(path));
      if (!response.ok) throw new Error(`${path} could not be read: ${response.status} ${await response.text()}`);
      return new Uint8Array(await response.arrayBuffer());
    },
    address,
    scripts: loaded,
    async starting(start) {
      const started = await start();
      watchContext(/** @type {any} */ (globalThis).tf, lost);
      return started;
    },
    lacks,
    async importModule(path) {
      try {
        return await import(address(path));
      } catch (error) {
        const {message} = /** @type {Error} */ (error);
        if (error instanceof TypeError && /dynamically imported module|module specifier/.test(message)) {
          const what = message.replaceAll(base, '');
          throw new TypeError(`${path} cannot be loaded in a page, which takes ES modules and none of Node.js's or npm's: ${what}`, {cause: error});
        }
        throw error;
      }
    },
    original: place => place,
    of: whose,
    shown(url) {
      if (url.startsWith(TREE)) return decodeURIComponent(url.slice(TREE.length));
      return url.startsWith(base) ? decodeURIComponent(url.slice(base.length)) : url;
    },
  };
}

/**
 * Loads the package in a folder as a page does, by its script, which puts it on the global object.
 * @param {string} folder  its address
 */
export async function loadScript(folder) {
  const {unpkg} = /** @type {any} */ (await (await fetch(`${folder}/package.json`)).json());
  // The same, with its names: the types of its errors are told by them.
  const source = `${folder}/${unpkg.replace(/\.min\.js$/, '.js')}`;
  await new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${source} could not be loaded`));
    script.src = source;
    document.head.append(script);
  });
  loaded.push(source);
  return /** @type {any} */ (globalThis).tf;
}

/**
 * What this browser has not that a backend needs; null where it has all.
 * @param {string} backend
 */
async function lacks(backend) {
  if (backend === 'webgl' && !new OffscreenCanvas(1, 1).getContext('webgl')) return 'this browser has no WebGL';
  if (backend !== 'webgpu') return null;
  const adapter = await /** @type {any} */ (navigator).gpu?.requestAdapter();
  return adapter ? null : 'this browser has no WebGPU adapter: chrome://gpu says why; TENSORLEDGER_CHROMIUM names another browser';
}

/**
 * Tells when the GPU is lost to a backend: from then on nothing it says means anything.
 * @param {any} tf
 * @param {(why: string) => void} tell
 */
function watchContext(tf, tell) {
  const backend = tf.backend?.() ?? tf.ENV?.backend;
  backend?.gpgpu?.gl?.canvas?.addEventListener('webglcontextlost', () => tell('the WebGL context was lost'));
  // A device that is destroyed on purpose is lost too.
  backend?.device?.lost?.then((/** @type {any} */ info) => tell(`the WebGPU device was lost: ${info.message || info.reason}`));
}
