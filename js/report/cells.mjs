// A list of cells: their scenarios, and links to open them on each target.
/// <reference lib="dom" />

import {useState} from 'preact/hooks';

import {written} from './address.mjs';
import {html} from './html.mjs';

/** @param {{cells: import('./ledger.mjs').Cell[]}} props */
export function Cells({cells}) {
  /** @type {Map<string, import('./ledger.mjs').Cell[]>} */
  const rows = new Map();
  for (const cell of cells) rows.set(cell.scenario, [...rows.get(cell.scenario) ?? [], cell]);
  return html`<dl class="cells">${[...rows].map(([scenario, row]) => html`
    <div><dt>${scenario}</dt><dd>${row.map(cell => html`<a href=${written({cell: cell.key})}>${cell.target}</a> `)}</dd></div>`)}</dl>`;
}

/** What is made only once it is opened, for there may be much of it. @param {{summary: unknown, make: () => unknown}} props */
export function Later({summary, make}) {
  const [open, setOpen] = useState(false);
  const toggled = (/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open);
  return html`<details onToggle=${toggled}><summary>${summary}</summary>${open && make()}</details>`;
}
