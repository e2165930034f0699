// What is not as in the run before.

import {written} from './address.mjs';
import {html} from './html.mjs';
import {keyOf} from './ledger.mjs';
import {number} from './words.mjs';

const KINDS = [
  ['worse', '✗', 'Worse'], ['better', '✓', 'Better'], ['otherwise', '≠', 'Otherwise'], ['new', '+', 'New'], ['gone', '−', 'Gone'],
];

/** @param {{ledger: import('./ledger.mjs').Ledger}} props */
export function Changes({ledger}) {
  const {changes} = ledger.data;
  if (!changes) return null;
  return html`
    <section id="changes" class="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">Changes</h2>
      ${!changes.length && html`<p>Every cell is as it was before.</p>`}
      ${KINDS.map(([kind, mark, title]) => {
        const found = changes.filter(change => change.kind === kind);
        return found.length > 0 && html`
          <details data-kind=${kind} open=${kind === 'worse' || found.length <= 20}>
            <summary><span class=${`mark c-${kind}`} aria-hidden="true">${mark}</span> ${title} <span class="count">${number(found.length)}</span></summary>
            <ul>${found.map(({scenario, target, said}) => html`
              <li>${ledger.cells.has(keyOf(scenario, target))
                ? html`<a href=${written({cell: keyOf(scenario, target)})}>${scenario} <span class="on">on ${target}</span></a>`
                : html`<span>${scenario} <span class="on">on ${target}</span></span>`} <span class="said">${said}</span></li>`)}</ul>
          </details>`;
      })}
    </section>`;
}
