// Whose a source file is, by its URL: the user's, a library's, or the harness's own.

const HARNESS = new URL('../', import.meta.url).href;
const SCENARIOS = new URL('../scenarios/', import.meta.url).href;

/** The project's files, wherever this host has them. */
export const TREE = new URL('../../', import.meta.url).href;

/** @param {string} url */
export function whose(url) {
  if (url.includes('/node_modules/')) return 'library';
  return url.startsWith(HARNESS) && !url.startsWith(SCENARIOS) ? 'harness' : 'user';
}
