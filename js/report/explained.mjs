// What is not as plainly expected and has a reason: failures by it, deviations by what documents them, skips by why.

import {Cells, Later} from './cells.mjs';
import {html} from './html.mjs';
import {BROKEN} from './ledger.mjs';
import {Verdict} from './verdict.mjs';
import {count} from './words.mjs';

/** @typedef {import('./ledger.mjs').Cell} Cell */

/** @param {{ledger: import('./ledger.mjs').Ledger}} props */
export function Failures({ledger}) {
  const groups = by(ledger, BROKEN, cell => `${cell.verdict}\n${bodyOf(cell).reason}`);
  if (!groups.length) return null;
  return html`
    <section id="failures" aria-labelledby="failures-title">
      <h2 id="failures-title">Failures</h2>
      <ul class="explained">${groups.map(cells => html`
        <li><h3><${Verdict} verdict=${cells[0].verdict} marks=${ledger.data.marks} /></h3>
          <p>${bodyOf(cells[0]).reason}</p><${Where} cells=${cells} /></li>`)}</ul>
    </section>`;
}

/** @param {{ledger: import('./ledger.mjs').Ledger}} props */
export function Deviations({ledger}) {
  const groups = by(ledger, ['deviates'], cell => `${bodyOf(cell).deviation}\n${bodyOf(cell).reason}`);
  if (!groups.length) return null;
  return html`
    <section id="deviations" aria-labelledby="deviations-title">
      <h2 id="deviations-title">Deviations</h2>
      <p class="about">Documented exceptions, each met exactly. A target that no longer deviates, or deviates otherwise, fails.</p>
      <ul class="explained">${groups.map(cells => html`
        <li><h3><code>${bodyOf(cells[0]).deviation}</code></h3><p>${bodyOf(cells[0]).reason}</p><${Where} cells=${cells} /></li>`)}</ul>
    </section>`;
}

/** @param {{ledger: import('./ledger.mjs').Ledger}} props */
export function Skips({ledger}) {
  const groups = by(ledger, ['skip'], cell => bodyOf(cell).reason ?? '');
  if (!groups.length) return null;
  return html`
    <section id="skips" aria-labelledby="skips-title">
      <h2 id="skips-title">Skips</h2>
      <ul class="explained">${groups.map(cells => html`
        <li><p>${bodyOf(cells[0]).reason ?? 'no reason was told'}</p><${Where} cells=${cells} /></li>`)}</ul>
    </section>`;
}

/** @param {{cells: Cell[]}} props */
function Where({cells}) {
  return html`<${Later} summary=${count(cells.length, 'cell')} make=${() => html`<${Cells} cells=${cells} />`} />`;
}

/** @param {Cell} cell */
function bodyOf(cell) {
  return cell.runs[cell.shown].body;
}

/**
 * Returns the cells of some verdicts, those that are alike together, the most first.
 * @param {import('./ledger.mjs').Ledger} ledger
 * @param {string[]} verdicts
 * @param {(cell: Cell) => string} alike
 */
function by({cells}, verdicts, alike) {
  /** @type {Map<string, Cell[]>} */
  const groups = new Map();
  for (const cell of cells.values()) {
    if (!verdicts.includes(cell.verdict)) continue;
    const group = groups.get(alike(cell));
    if (group) group.push(cell);
    else groups.set(alike(cell), [cell]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}
