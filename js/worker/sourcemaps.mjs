// Traces places in generated code (bundled, minified, compiled) back to what people wrote, as its source map says. Node.js
// reads the maps.

import {existsSync, readFileSync} from 'node:fs';
import {SourceMap} from 'node:module';
import {resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

/** Where a file says that its map is; the last one counts. */
const COMMENT = /^\s*\/\/[#@] sourceMappingURL=(\S+)\s*$/gm;

/**
 * @typedef {import('./frames.mjs').Place} Place
 *
 * @typedef {object} Given  the map of a file
 * @property {string} text
 * @property {string} url  that its sources are relative to: its own, or where it is in the file, that file's
 */

/** Maps of generated files, each read when it is first asked for. */
export class SourceMaps {
  #read;
  /** @type {Map<string, {map: SourceMap, base: URL, payload: any} | null>} by URL */
  #maps = new Map();
  /** @type {Map<string, string>} what maps say that is in their sources, by place */
  #texts = new Map();

  /** @param {(url: string) => Given | null} read  finds the map of the file at a URL; it may throw where it is broken */
  constructor(read) {
    this.#read = read;
  }

  /**
   * What a place in a generated file was made of; the place itself where that is not known.
   * @param {string} url  of the file
   * @param {Place} at
   * @returns {Place}
   */
  original(url, at) {
    const found = this.#mapOf(url);
    if (!found) return at;
    const entry = /** @type {any} */ (found.map.findEntry(at.line - 1, (at.column ?? 1) - 1));
    // On a line without a mapping, the last one of a line before is found.
    if (!entry.originalSource || entry.generatedLine !== at.line - 1) return at;
    const place = placeOf(entry.originalSource, found.base);
    if (!this.#texts.has(place)) {
      const text = contentOf(found.payload, entry.originalSource);
      if (text !== null) this.#texts.set(place, text);
    }
    return {place, line: entry.originalLine + 1, column: entry.originalColumn + 1};
  }

  /** What a map says is in one of its sources, once a place in that was asked for. @param {string} place */
  textOf(place) {
    return this.#texts.get(place) ?? null;
  }

  /** The map of a file as it is written; null where there is none. @param {string} url @returns {any} */
  payloadOf(url) {
    return this.#mapOf(url)?.payload ?? null;
  }

  /** @param {string} url */
  #mapOf(url) {
    let found = this.#maps.get(url);
    if (found === undefined) {
      found = this.#parsed(url);
      this.#maps.set(url, found);
    }
    return found;
  }

  /** @param {string} url */
  #parsed(url) {
    try {
      const given = this.#read(url);
      if (given === null) return null;
      const payload = JSON.parse(given.text);
      const root = payload.sourceRoot ? `${payload.sourceRoot.replace(/\/$/, '')}/.` : '.';
      return {map: new SourceMap(payload), base: new URL(root, given.url), payload};
    } catch {
      return null; // a broken map leaves the places as they are
    }
  }
}

/** The text of a source, where a map has it. @param {any} payload @param {string} source @returns {string | null} */
function contentOf(payload, source) {
  for (const {sources = [], sourcesContent} of [payload, .../** @type {any[]} */ (payload.sections ?? []).map(({map}) => map)]) {
    const text = sourcesContent?.[sources.indexOf(source)];
    if (typeof text === 'string') return text;
  }
  return null;
}

/** The text of a map that is in a URL, of the form data:application/json;base64,… @param {string} url */
export function inline(url) {
  const comma = url.indexOf(',');
  const data = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(';base64') ? Buffer.from(data, 'base64').toString('utf8') : decodeURIComponent(data);
}

/**
 * Where a source is: a path or a URL, or what the map says where it is neither, such as webpack://shop/./src/cart.js.
 * @param {string} source @param {URL} base
 */
function placeOf(source, base) {
  if (!/^[a-z][a-z\d+.-]*:/i.test(source)) {
    return base.protocol === 'file:' ? resolve(fileURLToPath(base), source) : new URL(source, base).href;
  }
  try {
    const url = new URL(source);
    return url.protocol === 'file:' ? fileURLToPath(url) : url.href;
  } catch {
    return source;
  }
}

const files = new SourceMaps(url => {
  const where = [...readFileSync(fileURLToPath(url), 'utf8').matchAll(COMMENT)].at(-1)?.[1];
  if (where === undefined) return null;
  if (where.startsWith('data:')) return {text: inline(where), url};
  const map = new URL(where, url);
  return existsSync(map) ? {text: readFileSync(map, 'utf8'), url: map.href} : null;
});

/**
 * What a place in a file on this machine was made of.
 * @param {Place} at
 * @returns {Place}
 */
export function original(at) {
  const url = at.place.startsWith('/') ? pathToFileURL(at.place).href : at.place;
  // A library's own map tells nothing that its user could change.
  return url.startsWith('file:') && !url.includes('/node_modules/') ? files.original(url, at) : at;
}
