// Traces places in generated code (bundled, minified, compiled) back to what people wrote, as its source map says. Node.js
// reads the maps.

import {existsSync, readFileSync} from 'node:fs';
import {SourceMap} from 'node:module';
import {resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

/** Where a file says that its map is; the last one counts. */
const COMMENT = /^\s*\/\/[#@] sourceMappingURL=(\S+)\s*$/gm;

/** @type {Map<string, {map: SourceMap, base: URL} | null>} by URL */
const maps = new Map();

/**
 * @param {import('./frames.mjs').Place} at
 * @returns {import('./frames.mjs').Place}
 */
export function original(at) {
  const url = at.place.startsWith('/') ? pathToFileURL(at.place).href : at.place;
  // A library's own map tells nothing that its user could change.
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return at;
  if (!maps.has(url)) maps.set(url, read(url));
  const found = maps.get(url);
  if (!found) return at;
  const entry = /** @type {any} */ (found.map.findEntry(at.line - 1, (at.column ?? 1) - 1));
  // On a line without a mapping, the last one of a line before is found.
  if (!entry.originalSource || entry.generatedLine !== at.line - 1) return at;
  return {place: placeOf(entry.originalSource, found.base), line: entry.originalLine + 1, column: entry.originalColumn + 1};
}

/**
 * Where a source is: a path, or what the map says where that is none, such as webpack://shop/./src/cart.js.
 * @param {string} source @param {URL} base
 */
function placeOf(source, base) {
  if (!/^[a-z][a-z\d+.-]*:/i.test(source)) return resolve(fileURLToPath(base), source);
  try {
    const url = new URL(source);
    return url.protocol === 'file:' ? fileURLToPath(url) : url.href;
  } catch {
    return source;
  }
}

/** @param {string} url */
function read(url) {
  try {
    const path = fileURLToPath(url);
    const where = [...readFileSync(path, 'utf8').matchAll(COMMENT)].at(-1)?.[1];
    if (where === undefined) return null;
    const base = where.startsWith('data:') ? new URL(url) : new URL(where, url);
    if (!where.startsWith('data:') && !existsSync(base)) return null;
    const text = where.startsWith('data:') ? inline(where) : readFileSync(base, 'utf8');
    const payload = JSON.parse(text);
    return {map: new SourceMap(payload), base: new URL(payload.sourceRoot ? `${payload.sourceRoot.replace(/\/$/, '')}/.` : '.', base)};
  } catch {
    return null; // a broken map leaves the places as they are
  }
}

/** @param {string} url  of the form data:application/json;base64,… */
function inline(url) {
  const comma = url.indexOf(',');
  const data = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(';base64') ? Buffer.from(data, 'base64').toString('utf8') : decodeURIComponent(data);
}
