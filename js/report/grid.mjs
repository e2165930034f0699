// The grid of scenarios by targets: one tab stop, within which the arrow keys walk.
/// <reference lib="dom" />

import {h} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';

import {grouped} from './columns.mjs';
import {html} from './html.mjs';
import {seconds} from './words.mjs';

/** Columns up to which releases are written across; those of more are written upwards. */
const ACROSS = 14;
/** Columns that a group must have for its name to fit above them when they are narrow. */
const NAMED = 5;
/** Rows that a page is. */
const LEAP = 10;
/** Columns that go on a printed page, written across and upwards. */
const PRINTED = {across: 9, upwards: 30};

/** @type {Record<string, [number, number]>} */
const STEPS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  Home: [0, -Infinity], End: [0, Infinity], PageUp: [-LEAP, 0], PageDown: [LEAP, 0],
};

/**
 * @param {{view: import('./ledger.mjs').View, sort: string, marks: Record<string, string>, open?: string,
 *   printed: boolean, go: import('./filters.mjs').Go}} props
 */
export function Grid({view, sort, marks, open, printed, go}) {
  const table = /** @type {{current: HTMLTableElement | null}} */ (useRef(null));
  const upwards = view.columns.length > (printed ? PRINTED.across : ACROSS);

  useLayoutEffect(() => {
    const body = table.current?.tBodies[0];
    if (!body || body.querySelector('td[tabindex="0"]')) return;
    const first = body.querySelector('td[class]');
    if (first instanceof HTMLElement) first.tabIndex = 0;
  }, [view]);

  useLayoutEffect(() => {
    const td = open && table.current && placeOf(table.current, view, open);
    if (!td) return undefined;
    td.setAttribute('aria-selected', 'true');
    stop(td);
    td.scrollIntoView({block: 'nearest', inline: 'nearest'});
    return () => td.removeAttribute('aria-selected');
  }, [view, open]);

  const show = (/** @type {HTMLTableCellElement} */ td) => {
    stop(td);
    td.focus();
    const cell = cellAt(td, view);
    if (cell) go({cell: cell.key, run: '', atlas: ''});
  };
  const clicked = (/** @type {MouseEvent} */ event) => {
    const td = tdOf(event);
    if (td) show(td);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const td = tdOf(event);
    if (!td || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      show(td);
      return;
    }
    if (!Object.hasOwn(STEPS, event.key)) return;
    event.preventDefault();
    const [down, right] = STEPS[event.key];
    const far = event.ctrlKey && (event.key === 'Home' || event.key === 'End');
    const next = at(td, far ? right : down, right);
    stop(next);
    next.focus();
  };
  const pointed = (/** @type {MouseEvent} */ event) => {
    const td = tdOf(event);
    const cell = td && cellAt(td, view);
    if (cell) td.title = `${cell.scenario} on ${cell.target}: ${cell.verdict}, ${seconds(cell.seconds)}`;
  };

  if (!view.rows.length) return html`<p class="none">No cell is like that.</p>`;
  const parts = printed && upwards ? Math.ceil(view.columns.length / PRINTED.upwards) : 1;
  return html`
    <div class=${`grid ${upwards ? 'upwards' : 'across'}${sort === 'seconds' ? ' timed' : ''}`}>
      ${Array.from({length: parts}, (_, part) => {
        const [from, to] = parts > 1 ? [part * PRINTED.upwards, (part + 1) * PRINTED.upwards] : [0, view.columns.length];
        return html`
          <table role="grid" key=${part} ref=${part ? null : table} aria-label=${part ? `Scenarios by targets, part ${part + 1}` : 'Scenarios by targets'}
            onClick=${clicked} onKeyDown=${pressed} onMouseOver=${pointed}>
            <colgroup><col class="scenarios" /></colgroup><colgroup>${view.columns.slice(from, to).map(() => h('col', {}))}</colgroup>
            <${Heads} columns=${view.columns.slice(from, to)} upwards=${upwards} />
            <tbody>${view.rows.map(row => html`
              <tr key=${row.scenario}>
                <th scope="row">${row.scenario}${sort === 'seconds' && html` <span class="seconds">${seconds(sum(row.cells))}</span>`}</th>
                ${row.cells.slice(from, to).map(cell => (cell ? marked(cell, marks) : h('td', {})))}
              </tr>`)}
            </tbody>
          </table>`;
      })}
    </div>`;
}

/** @param {import('./ledger.mjs').Cell} cell @param {Record<string, string>} marks */
function marked({verdict, alike, runs}, marks) {
  return alike === runs.length
    ? h('td', {class: `v-${verdict}`, 'aria-label': verdict}, marks[verdict])
    : h('td', {class: `v-${verdict} divided`, 'aria-label': `${verdict} in ${alike} of ${runs.length} files`}, marks[verdict]);
}

/** @param {{columns: import('./columns.mjs').Column[], upwards: boolean}} props */
function Heads({columns, upwards}) {
  const groups = grouped(columns);
  const named = (/** @type {import('./columns.mjs').Column[]} */ group) => !upwards || group.length >= NAMED;
  const alone = (/** @type {import('./columns.mjs').Column[]} */ group) => !upwards && !group[0].version;
  return html`
    <thead>
      <tr>
        <th scope="col" rowspan="2" class="corner">scenario</th>
        ${groups.map(group => html`
          <th scope=${group.length > 1 ? 'colgroup' : 'col'} colspan=${group.length} rowspan=${alone(group) ? 2 : 1}
            class=${alone(group) ? 'group alone' : 'group'}><span>${named(group) ? group[0].group : ''}</span></th>`)}
      </tr>
      <tr>
        ${groups.filter(group => !alone(group)).flatMap(group => group.map((column, place) => html`
          <th scope="col" class=${place ? 'release' : 'release first'} title=${column.target} aria-label=${column.target}><span>
            ${named(group) ? column.version || column.target : column.target}</span></th>`))}
      </tr>
    </thead>`;
}

/** @param {Event} event */
function tdOf(event) {
  return event.target instanceof Element ? event.target.closest('td') : null;
}

/** @param {HTMLTableCellElement} td @param {import('./ledger.mjs').View} view */
function cellAt(td, view) {
  const row = /** @type {HTMLTableRowElement} */ (td.parentElement);
  return view.rows[row.sectionRowIndex]?.cells[td.cellIndex - 1];
}

/** @param {HTMLTableElement} table @param {import('./ledger.mjs').View} view @param {string} key */
function placeOf(table, view, key) {
  for (const [place, {cells}] of view.rows.entries()) {
    const column = cells.findIndex(cell => cell?.key === key);
    if (column >= 0) return table.tBodies[0].rows[place].cells[column + 1];
  }
  return null;
}

/** The cell so many further on, or the last one there is. @param {HTMLTableCellElement} td @param {number} down @param {number} right */
function at(td, down, right) {
  const row = /** @type {HTMLTableRowElement} */ (td.parentElement);
  const rows = /** @type {HTMLTableSectionElement} */ (row.parentElement).rows;
  const within = (/** @type {number} */ value, /** @type {number} */ least, /** @type {number} */ most) => (
    Math.max(least, Math.min(most, value)));
  return rows[within(row.sectionRowIndex + down, 0, rows.length - 1)]
    .cells[within(td.cellIndex + right, 1, row.cells.length - 1)];
}

/** Makes a cell the tab stop. @param {HTMLTableCellElement} td */
function stop(td) {
  td.closest('tbody')?.querySelector('td[tabindex="0"]')?.removeAttribute('tabindex');
  td.tabIndex = 0;
}

/** @param {(import('./ledger.mjs').Cell | undefined)[]} cells */
function sum(cells) {
  return cells.reduce((total, cell) => total + (cell?.seconds ?? 0), 0);
}
