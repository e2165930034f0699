// Where in the user's code a tensor was made: a stack, read as frames, and the line of source that a frame is at.

import {frames, fromUser} from '../worker/frames.mjs';

/**
 * @typedef {object} Frame
 * @property {string} function  the empty string where it has no name
 * @property {string} file  relative to the present folder where it lies below it
 * @property {number} line  from 1
 * @property {number | null} column  from 1
 * @property {'user' | 'library' | 'tensorledger'} of  whose the file is; a library is what lies in a node_modules folder, and TensorFlow.js
 */

/** Characters of a line of source that are shown: a bundle may be all in one line. */
const WIDTH = 160;

/** What the paths of this package's files begin with, as stacks have them; null where it is bundled with other code. */
const HERE = (() => {
  const place = new Error().stack?.match(/[(\s]((?:[a-z]+:\/\/|[A-Z]:|\/)[^()\s]*):\d+:\d+/)?.[1] ?? '';
  return slashed(pathOf(place)).match(/^.*\/(?=tracking\/places\.[cm]js)|^.*\/tensorledger\.js$/)?.[0] ?? null;
})();

/** What is installed, what a page has from elsewhere, and the sources that TensorFlow.js's own maps name, which are nowhere where it is installed by another name. */
export const LIBRARY = /\/node_modules\/|\/@tensorflow\/tfjs|\/tfjs-(?:core|layers|converter|data|backend-\w+)\/src\//;

/** @param {string} path */
function slashed(path) {
  return path.replaceAll('\\', '/');
}

/** A file's path, where it has one: as it is named in stacks of CommonJS. @param {string} place */
function pathOf(place) {
  if (!place.startsWith('file://')) return place;
  const path = decodeURIComponent(new URL(place).pathname);
  return path.replace(/^\/(?=[A-Za-z]:)/, '');
}

/** @param {string} place */
function shown(place) {
  const path = pathOf(place);
  const {process, location} = /** @type {any} */ (globalThis);
  const folder = process?.cwd?.() ?? location?.origin;
  return folder && /^[\\/]/.test(path.slice(folder.length)) && path.startsWith(folder) ? path.slice(folder.length + 1) : path;
}

/**
 * The frames of a stack, from the user's innermost on; all where none is the user's, and none where no stack was taken.
 * @param {string | null} stack
 * @returns {Frame[]}
 */
export function framesOf(stack) {
  if (stack === null) return [];
  const lines = stack.split('\n').filter(line => /^\s*at /.test(line));
  /** The file that called the engine: TensorFlow.js's own, wherever a page has it from. @type {string | null} */
  let library = null;
  const of = (/** @type {string} */ place) => {
    const path = slashed(pathOf(place));
    if (HERE !== null && path.startsWith(HERE)) return 'tensorledger';
    library ??= path;
    return path === library || LIBRARY.test(path) ? 'library' : 'user';
  };
  const all = /** @type {Frame[]} */ (frames(lines, {original: place => place, of, shown}));
  return fromUser(all);
}

/** A frame's place, as V8 writes it and an editor understands it. @param {Frame} frame */
export function at({function: name, file, line, column}) {
  const place = `${file}:${line}${column === null ? '' : `:${column}`}`;
  return name === '' || name.endsWith('<anonymous>') ? place : `${name} (${place})`;
}

/**
 * The line of source that a frame is at; the empty string where it cannot be read: in a page, and in Node.js before 20.16.
 * @param {Frame} frame
 * @returns {string}
 */
export function sourceOf({file, line}) {
  try {
    const text = /** @type {any} */ (globalThis).process.getBuiltinModule('node:fs').readFileSync(file, 'utf8');
    const found = text.split('\n')[line - 1].trim();
    return found.length > WIDTH ? `${found.slice(0, WIDTH)} …` : found;
  } catch {
    return '';
  }
}
