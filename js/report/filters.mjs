// What of the grid is shown, and in which order.
/// <reference lib="dom" />

import {START} from './address.mjs';
import {html} from './html.mjs';
import {count, number} from './words.mjs';
import {Verdict} from './verdict.mjs';

/** @typedef {(change: Partial<import('./address.mjs').Address>, silently?: boolean) => void} Go */

const LANGUAGES = [['', 'both languages'], ['js', 'JavaScript'], ['py', 'Python']];
const ORDERS = [['name', 'by name'], ['verdict', 'worst first'], ['seconds', 'longest first']];
const FILTERS = /** @type {const} */ (['scenario', 'target', 'verdict', 'language']);

/**
 * @param {{ledger: import('./ledger.mjs').Ledger, view: import('./ledger.mjs').View,
 *   address: import('./address.mjs').Address, go: Go}} props
 */
export function Filters({ledger, view, address, go}) {
  const languages = new Set([...ledger.cells.values()].map(cell => cell.language));
  const filtered = FILTERS.some(name => address[name] !== START[name]);
  const shown = view.rows.reduce((sum, row) => sum + row.cells.filter(Boolean).length, 0);
  return html`
    <div class="filters" role="search" aria-label="Filter the grid">
      <${Words} name="scenario" address=${address} go=${go} />
      <${Words} name="target" address=${address} go=${go} />
      ${languages.size > 1 && html`<${Choice} name="language" choices=${LANGUAGES} address=${address} go=${go} />`}
      <${Choice} name="sort" choices=${ORDERS} address=${address} go=${go} />
      <${Verdicts} ledger=${ledger} view=${view} address=${address} go=${go} />
      <p class="shown" role="status">
        ${filtered ? `${number(shown)} of ${count(ledger.cells.size, 'cell')} shown` : count(shown, 'cell')}
        ${filtered && html` <button type="button" class="clear" onClick=${() => go(
    Object.fromEntries(FILTERS.map(name => [name, START[name]])))}>Show all</button>`}
      </p>
    </div>`;
}

/** @param {{name: 'scenario' | 'target', address: import('./address.mjs').Address, go: Go}} props */
function Words({name, address, go}) {
  const typed = (/** @type {InputEvent} */ event) => (
    go({[name]: /** @type {HTMLInputElement} */ (event.target).value}, true));
  return html`
    <label class="field"><span>${name}</span>
      <input type="search" value=${address[name]} onInput=${typed} placeholder="any" spellcheck=${false} autocomplete="off" /></label>`;
}

/** @param {{name: 'language' | 'sort', choices: string[][], address: import('./address.mjs').Address, go: Go}} props */
function Choice({name, choices, address, go}) {
  const chose = (/** @type {Event} */ event) => go({[name]: /** @type {HTMLSelectElement} */ (event.target).value}, true);
  return html`
    <label class="field"><span>${name === 'sort' ? 'rows' : name}</span>
      <select value=${address[name]} onChange=${chose}>
        ${choices.map(([value, said]) => html`<option value=${value} selected=${value === address[name]}>${said}</option>`)}
      </select></label>`;
}

/**
 * A button for each verdict that there is: which are shown, how many there are, and what the marks mean.
 * @param {{ledger: import('./ledger.mjs').Ledger, view: import('./ledger.mjs').View,
 *   address: import('./address.mjs').Address, go: Go}} props
 */
function Verdicts({ledger, view, address, go}) {
  const there = new Set([...ledger.cells.values()].map(cell => cell.verdict));
  const pressed = address.verdict ? address.verdict.split(',') : [];
  const toggle = (/** @type {string} */ verdict) => go({
    verdict: (pressed.includes(verdict) ? pressed.filter(one => one !== verdict) : [...pressed, verdict]).join(),
  }, true);
  return html`
    <div class="verdicts" role="group" aria-label="Verdicts">
      ${ledger.verdicts.filter(verdict => there.has(verdict)).map(verdict => html`
        <button type="button" class="chip" data-verdict=${verdict} aria-pressed=${pressed.includes(verdict)} onClick=${() => toggle(verdict)}>
          <${Verdict} verdict=${verdict} marks=${ledger.data.marks} /> <span class="count">${number(view.counts[verdict] ?? 0)}</span>
        </button>`)}
    </div>`;
}
