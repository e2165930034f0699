// Traces stacks that were taken in a page back to what people wrote: node trace.mjs, a Request as JSON on stdin, a Traced on stdout.

import {readFileSync} from 'node:fs';

import {LIBRARY} from '../tracking/places.mjs';
import {frames, fromUser} from '../worker/frames.mjs';
import {SourceMaps, inline} from '../worker/sourcemaps.mjs';

/**
 * @typedef {object} Script  that the page has run
 * @property {string} url
 * @property {number} line  from 0, of its first in the document that it is in
 * @property {number} last  of its last one
 * @property {string | null} text
 * @property {string} where  the URL that it says its map has; empty where it says none
 * @property {string | null} map  the map's text, where that is a file of its own that could be read
 *
 * @typedef {object} Request
 * @property {string} page  its URL
 * @property {Script[]} scripts
 * @property {string[]} stacks  where tensors were made, as V8 has written them
 * @property {string[]} libraries  stacks of TensorFlow.js as it made each engine
 *
 * @typedef {{function: string, file: string, line: number, column: number | null, of: string}} Frame
 *
 * @typedef {object} Traced
 * @property {{frames: Frame[], source: string, bundled: boolean}[]} stacks  each from the user's innermost frame on, with that one's
 *   line of source; `bundled`: all are in one script without a map that has the library in it
 * @property {(string | null)[]} releases  of each library
 */

/** Characters around a place in a line that is too long to be shown. */
const BEFORE = 60, WIDTH = 160;

/** Frameworks and what else is installed are no more the user's than TensorFlow.js is. */
const INSTALLED = /(?:^|\/)node_modules\//;

/** TensorFlow.js's own builds, of which nothing is the user's. */
const BUILD = /\/@tensorflow\/tfjs|\/tfjs@|\/tf(?:[-.][\w-]+)*\.js$/;

/** How TensorFlow.js says its releases, in any build of it: {"tfjs-core": …, tfjs: "4.22.0"}, or by the name of a variable. */
const UNION = /["']?tfjs-converter["']?\s*:[^{}]*?[,{\s]["']?tfjs["']?\s*:\s*(?:["'](?<release>\d+\.\d+\.\d+[\w.-]*)["']|(?<name>[\w$]+))/g;

/** @type {Request} */
const request = JSON.parse(readFileSync(0, 'utf8'));
const {scripts} = request;
const origin = URL.canParse?.(request.page) ? new URL(request.page).origin : '';

/** The script that a place is in: a document may have several. @param {string} url @param {number} [line]  from 1 */
function scriptAt(url, line) {
  const all = scripts.filter(script => script.url === url);
  return all.find(script => line !== undefined && script.line < line && line <= script.last + 1) ?? all[0];
}

const maps = new SourceMaps(url => {
  const script = scriptAt(url);
  if (!script?.where) return null;
  if (script.where.startsWith('data:')) return {text: inline(script.where), url};
  return script.map === null ? null : {text: script.map, url: new URL(script.where, url).href};
});

/** @param {string} place */
function shown(place) {
  const path = origin && place.startsWith(`${origin}/`) && place.length > origin.length + 1 ? place.slice(origin.length + 1) : place;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** @param {string} place @param {number} line  from 1 */
function lineOf(place, line) {
  const text = maps.textOf(place);
  if (text !== null) return text.split('\n')[line - 1] ?? '';
  const script = scriptAt(place, line);
  return script?.text?.split('\n')[line - 1 - script.line] ?? '';
}

/** A line of source as it is shown: all of it, or what is around a column. @param {string} line @param {number | null} column */
function cut(line, column) {
  if (line.length <= WIDTH) return line.trim();
  const from = Math.max(0, (column ?? 1) - 1 - BEFORE), to = from + WIDTH;
  return `${from > 0 ? '… ' : ''}${line.slice(from, to).trim()}${to < line.length ? ' …' : ''}`;
}

/** A function's name; none where it is one that a minifier has given. @param {string} name @param {string} place */
function nameIn(name, place) {
  const text = maps.textOf(place);
  if (text === null) return name;
  const last = name.split(/[. ]/).at(-1) ?? '';
  return last.length > 2 && new RegExp(`(?<![\\w$])${last.replaceAll('$', '\\$')}(?![\\w$])`).test(text) ? last : '';
}

/** @param {string} stack */
function traced(stack) {
  const lines = stack.split('\n').filter(line => /^\s*at /.test(line));
  /** @type {Map<string, string>} */
  const places = new Map();
  /** What called the engine. @type {string | null} */
  let library = null;
  const all = /** @type {Frame[]} */ (frames(lines, {
    original: at => maps.original(at.place, at),
    of(place) {
      library ??= place;
      if (INSTALLED.test(place) || LIBRARY.test(place)) return 'library';
      // A file that a map names is one that somebody wrote.
      return place === library && maps.textOf(place) === null ? 'library' : 'user';
    },
    shown(place) {
      places.set(shown(place), place);
      return shown(place);
    },
  }));
  const found = fromUser(all).map(frame => ({...frame, function: nameIn(frame.function, places.get(frame.file) ?? frame.file)}));
  const [here] = found;
  const called = /** @type {string | null} */ (library);
  const isAlone = called !== null && all.every(frame => frame.of === 'library' && places.get(frame.file) === called);
  const bundled = isAlone && maps.textOf(called) === null && !BUILD.test(called.replace(/[?#].*/, ''));
  return {frames: found, source: here ? cut(lineOf(places.get(here.file) ?? here.file, here.line), here.column) : '', bundled};
}

/** The release of the TensorFlow.js that made an engine, as its script says; null where that does not, or says several. @param {string} stack */
function releaseOf(stack) {
  const [made] = frames(stack.split('\n'), {original: at => at, of: () => 'library', shown: place => place});
  const script = made && scriptAt(made.file, made.line ?? undefined);
  if (!script) return null;
  const texts = /** @type {string[]} */ ([script.text, ...maps.payloadOf(script.url)?.sourcesContent ?? []].filter(Boolean));
  const said = new Set(texts.flatMap(text => [...text.matchAll(UNION)].map(({groups}) => groups?.release ?? valueOf(groups?.name, text))));
  for (const all of [said, new Set(parts(script.url))]) if (all.size === 1) return [...all][0] ?? null;
  return null;
}

/** What a script says is a variable's text. @param {string | undefined} name @param {string} text */
function valueOf(name, text) {
  if (name === undefined) return null;
  return text.match(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}\\s*=\\s*["'](\\d+\\.\\d+\\.\\d+[\\w.-]*)["']`))?.[1] ?? null;
}

/** The releases of parts of TensorFlow.js, such as tfjs-core, whose sources a map has. @param {string} url @returns {string[]} */
function parts(url) {
  const {sources = [], sourcesContent = []} = maps.payloadOf(url) ?? {};
  return sources.flatMap((/** @type {string} */ source, /** @type {number} */ index) => (
    /tfjs-[\w-]+\/(?:dist|src)\/version\.[jt]s$/.test(source) ? sourcesContent[index]?.match(/["'](\d+\.\d+\.\d+[\w.-]*)["']/)?.[1] ?? [] : []));
}

process.stdout.write(JSON.stringify({stacks: request.stacks.map(traced), releases: request.libraries.map(releaseOf)}));
