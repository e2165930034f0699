// The whole page: what it is of, the grid, the other sections, and beside them what is open.
/// <reference lib="dom" />

import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';

import {read, useAddress} from './address.mjs';
import {Atlases, Releases, rangeOf} from './atlas.mjs';
import {CellDetails} from './cell.mjs';
import {Changes} from './changes.mjs';
import {Checks} from './checks.mjs';
import {Deviations, Failures, Skips} from './explained.mjs';
import {Filters} from './filters.mjs';
import {Grid} from './grid.mjs';
import {Head} from './head.mjs';
import {html} from './html.mjs';
import {chosen} from './ledger.mjs';
import {Panel} from './panel.mjs';
import {Recipes} from './recipes.mjs';

/** @param {{ledger: import('./ledger.mjs').Ledger, printed: boolean}} props */
export function App({ledger, printed}) {
  const [address, go] = useAddress();
  const {scenario, target, language, verdict, sort} = address;
  const view = useMemo(() => chosen(ledger, address), [scenario, target, language, verdict, sort]);
  const cell = ledger.cells.get(address.cell);
  const range = rangeOf(ledger.data, address.atlas);
  const narrow = useNarrow();
  const open = Boolean(cell || range);
  useReturn(open);
  const close = () => go({cell: '', run: '', atlas: ''});

  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === 'Escape' && !event.defaultPrevented && document.querySelector('.panel')) close();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);

  // A link changes what it names of the address, and leaves the rest; opened elsewhere, it says all that it shows.
  const follow = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const {cell: key, run, atlas} = read(link.getAttribute('href') ?? '');
    go({cell: key, run, atlas});
  };

  // What does not depend on the address is made once.
  const sections = useMemo(() => html`
    <${Failures} ledger=${ledger} />
    <${Deviations} ledger=${ledger} />
    <${Skips} ledger=${ledger} />
    <${Recipes} data=${ledger.data} />
    <${Atlases} data=${ledger.data} />
    <${Checks} data=${ledger.data} />`, []);
  const head = useMemo(() => html`<${Head} ledger=${ledger} /><${Changes} ledger=${ledger} />`, []);
  const grid = useMemo(() => html`
    <${Grid} view=${view} sort=${sort} marks=${ledger.data.marks} open=${cell?.key} printed=${printed} go=${go} />`, [view, cell, printed]);

  return html`
    <div class=${open ? 'page opened' : 'page'} onClick=${follow}>
      <div class="sheet" inert=${narrow && open}>
        ${head}
        <main>
          ${ledger.cells.size > 0 && html`
            <section id="grid" aria-labelledby="grid-title">
              <h2 id="grid-title">Scenarios by targets</h2>
              <p class="about">A mark opens its cell. In the grid the arrow keys walk, Enter opens and Escape closes.</p>
              <${Filters} ledger=${ledger} view=${view} address=${address} go=${go} />
              ${grid}
            </section>`}
          ${sections}
        </main>
      </div>
      ${cell && html`
        <${Panel} key=${cell.key} close=${close} title=${cell.scenario} on=${cell.target}>
          <${CellDetails} cell=${cell} place=${address.run} data=${ledger.data} />
        <//>`}
      ${!cell && range && html`
        <${Panel} key=${address.atlas} close=${close} title=${range.scenario} on=${range.on}>
          <${Releases} range=${range.found} marks=${ledger.data.marks} />
        <//>`}
    </div>`;
}

/** Takes the focus back to where it was before something was opened. @param {boolean} open */
function useReturn(open) {
  const from = /** @type {{current: Element | null}} */ (useRef(null));
  // Asked before the page is made anew, and takes the focus away.
  if (open) from.current ??= document.activeElement;
  useLayoutEffect(() => {
    if (open) return;
    if (from.current instanceof HTMLElement) from.current.focus({preventScroll: true});
    from.current = null;
  }, [open]);
}

/** Whether there is no room beside the page, so that what is open lies over it. */
function useNarrow() {
  const query = matchMedia('(max-width: 63.99rem)');
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return narrow;
}
