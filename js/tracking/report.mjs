// What is left, for people: by the line that made it, which is shown, the most bytes first.

import {at, sourceOf} from './places.mjs';

/** Places that are shown before the rest is counted. */
const PLACES = 8;
/** Groups of tensors that are shown of one place. */
const TENSORS = 6;
/** Frames above the innermost that are shown: how that line was come to. */
const CALLERS = 3;

/** @typedef {import('./track.mjs').Left} Left */

/** @param {number} count @param {number | null} bytes */
export function amount(count, bytes) {
  const tensors = `${count.toLocaleString('en')} tensor${count === 1 ? '' : 's'}`;
  return bytes === null ? tensors : `${tensors}, ${bytes.toLocaleString('en')} bytes`;
}

/**
 * What is left, in lines that are indented; nothing where nothing is.
 * @param {Left[]} live  the most bytes first
 * @returns {string[]}
 */
export function listed(live) {
  /** @type {Map<string, Left[]>} */
  const places = new Map();
  for (const left of live) {
    const key = JSON.stringify(users(left));
    places.set(key, [...places.get(key) ?? [], left]);
  }
  const all = [...places.values()];
  const lines = all.slice(0, PLACES).flatMap(here => [
    ...place(here[0]),
    ...here.slice(0, TENSORS).map(left => `    ${one(left)}`),
    ...more(here.slice(TENSORS), '    '),
  ]);
  return [...lines, ...more(all.slice(PLACES).flat(), '  ')];
}

/** @param {Left} left */
function users({stack}) {
  const mine = stack.filter(({of}) => of === 'user');
  return mine.length > 0 ? mine : stack.slice(0, 1);
}

/** @param {Left} left @returns {string[]} */
function place(left) {
  const [here, ...callers] = users(left);
  if (here === undefined) return ['  made in a tf.tidy that has not ended, or where this browser tells no stack'];
  if (here.of !== 'user') return [`  made with no line of yours on the stack, as after an await within the library, at ${at(here)}`];
  const source = sourceOf(here);
  return [
    `  made at ${at(here)}`,
    ...source ? [`  > ${source}`] : [],
    ...callers.slice(0, CALLERS).map(frame => `    called from ${at(frame)}`),
  ];
}

/** @param {Left} left */
function one({count, shape, dtype, bytes, name, kept, reachable}) {
  const size = bytes === null ? '' : `, ${bytes.toLocaleString('en')} bytes${count > 1 ? ' each' : ''}`;
  return [
    `${count} × ${dtype} [${shape.join(', ')}]`, name ? ` ${name}` : '', size, kept ? ', kept' : '',
    reachable === false ? ', to which nothing refers any more' : '',
  ].join('');
}

/** @param {Left[]} rest @param {string} indent */
function more(rest, indent) {
  return rest.length > 0 ? [`${indent}… and ${rest.reduce((sum, {count}) => sum + count, 0)} more`] : [];
}
