// Markup in templates: what is put into one is text, never markup.

import htm from 'htm';
import {h} from 'preact';

// htm's types take it for CommonJS.
export const html = /** @type {typeof htm.default} */ (/** @type {unknown} */ (htm)).bind(h);
