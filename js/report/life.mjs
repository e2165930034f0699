// Memory through a model's life: at each checkpoint, what was measured beside what was expected.

import {Chart, lifeChart} from './charts.mjs';
import {html} from './html.mjs';
import {number, signed} from './words.mjs';

/** @typedef {import('./types.d.mts').Checkpoint} Checkpoint */
/** @typedef {import('./types.d.mts').Quantity} Quantity */

const CHARTED = /** @type {const} */ (['tensors', 'bytes']);

/** @param {{checkpoints: Checkpoint[], growth?: Record<string, number>, first?: Checkpoint[]}} props */
export function Life({checkpoints, growth, first}) {
  const expected = checkpoints.some(checkpoint => CHARTED.some(quantity => checkpoint.expected?.[quantity] !== undefined));
  return html`
    <section data-section="life"><h3>Through the model’s life, in the last cycle</h3>
      <p class="key"><span class="measured">measured</span>${expected && html` <span class="expected">expected</span>`}</p>
      ${CHARTED.filter(quantity => checkpoints.some(checkpoint => checkpoint[quantity] !== undefined)).map(quantity => html`
        <figure data-chart=${quantity}>
          <figcaption>${quantity}</figcaption>
          <${Chart} key=${quantity} of=${checkpoints} label=${`${quantity} at each checkpoint; the table has the numbers`}
            draw=${(/** @type {number} */ width) => lifeChart(checkpoints, quantity, width)} />
        </figure>`)}
      <${Numbers} checkpoints=${checkpoints} growth=${growth} />
      ${first && html`<details><summary>In the warm-up</summary><${Numbers} checkpoints=${first} warm=${true} /></details>`}
    </section>`;
}

/** @param {{checkpoints: Checkpoint[], growth?: Record<string, number>, warm?: boolean}} props */
function Numbers({checkpoints, growth, warm}) {
  /** @param {Quantity} quantity */
  const stated = quantity => checkpoints.some(({expected}) => expected?.[quantity] !== undefined);
  const quantities = /** @type {Quantity[]} */ (['tensors', 'bytes', 'buffers']);
  if (stated('buffer_bytes') || warm) quantities.push('buffer_bytes');
  const backend = [...new Set(checkpoints.flatMap(checkpoint => Object.keys(checkpoint.backend ?? {})))];
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${warm ? 'Checkpoints of the warm-up' : 'Checkpoints'}>
      <table class="numbers" data-table=${warm ? 'first' : 'checkpoints'}>
        <thead>
          <tr><th scope="col" rowspan="2">checkpoint</th>
            ${quantities.map(quantity => html`
              <th scope="colgroup" colspan=${stated(quantity) ? 2 : 1} class="over">${quantity.replace('_', ' ')}</th>`)}
            ${backend.map(name => html`<th scope="col" class="over">${name}</th>`)}</tr>
          <tr>${quantities.flatMap(quantity => [
            stated(quantity) && html`<th scope="col">expected</th>`, html`<th scope="col">measured</th>`])}
            ${backend.map(() => html`<th scope="col">bytes</th>`)}</tr>
        </thead>
        <tbody>${checkpoints.map((checkpoint, place) => html`
          <tr data-checkpoint=${place}>
            <th scope="row">${checkpoint.name}</th>
            ${quantities.flatMap(quantity => {
              const measured = checkpoint[quantity], expected = checkpoint.expected?.[quantity];
              const otherwise = expected !== undefined && measured !== undefined && measured !== expected;
              return [
                stated(quantity) && html`<td class="faint" data-quantity=${quantity} data-expected=${expected}>
                  ${expected === undefined ? '' : number(expected)}</td>`,
                html`<td class=${otherwise ? 'otherwise' : ''} data-quantity=${quantity} data-measured=${measured}>
                  ${measured === undefined ? 'not read' : number(measured)}${otherwise && ' ✗'}</td>`,
              ];
            })}
            ${backend.map(name => html`<td data-backend=${name}>${
              checkpoint.backend?.[name] === undefined ? '' : number(checkpoint.backend[name])}</td>`)}
          </tr>`)}</tbody>
        ${growth && html`<tfoot><tr><th scope="row">growth per cycle</th>
          ${quantities.flatMap(quantity => [
            stated(quantity) && html`<td></td>`,
            html`<td data-growth=${quantity}>${growth[quantity] === undefined ? '' : signed(growth[quantity])}</td>`])}
          ${backend.map(() => html`<td></td>`)}</tr></tfoot>`}
      </table>
    </div>`;
}
