// What is there after each cycle, above the end of the warm-up, and the line through it.

import {Chart, growthChart} from './charts.mjs';
import {html} from './html.mjs';
import {number, signed} from './words.mjs';

/** @param {{body: import('./types.d.mts').Body, units: Record<string, string>}} props */
export function Growth({body, units}) {
  const {levels = {}, fits = {}, confidence = {}, retained = {}} = body;
  const names = Object.keys(levels);
  const moved = names.filter(name => levels[name].some(value => value !== 0));
  const flat = names.filter(name => !moved.includes(name));
  /** @param {string} name */
  const called = name => (units[name] ? `${name}, ${units[name]}` : name);
  return html`
    <section data-section="growth"><h3>Over cycles, above the warm-up</h3>
      ${flat.length > 0 && html`<p class="flat">After every cycle as after the warm-up: ${flat.join(', ')}.</p>`}
      ${moved.length > 0 && html`<div class="multiples">${moved.map(name => html`
        <figure data-chart="growth" data-level=${name} key=${name}>
          <figcaption>${called(name)} <span class="slope">${slope(fits[name], name in units)}</span></figcaption>
          <${Chart} of=${body} label=${`${name} after each cycle; the table has the numbers`}
            draw=${(/** @type {number} */ width) => growthChart(levels[name], fits[name], width)} />
        </figure>`)}</div>`}
      ${Object.keys(confidence).length > 0 && html`<p>Sure that it grows: ${
        Object.entries(confidence).map(([name, value]) => `${name} ${(100 * value).toFixed(1)} %`).join(', ')}.</p>`}
      ${Object.entries(retained).map(([name, said]) => html`<p>${name}: ${said}</p>`)}
      <details><summary>The numbers of each cycle</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Levels after each cycle"><table class="numbers" data-table="growth">
          <thead><tr><th scope="col">after cycle</th>${names.map(name => html`<th scope="col">${called(name)}</th>`)}</tr></thead>
          <tbody>${(levels[names[0]] ?? []).map((_, place) => html`
            <tr><th scope="row">${place + 1}</th>${names.map(name => html`
              <td data-level=${name} data-value=${levels[name][place]}>${number(levels[name][place])}</td>`)}</tr>`)}</tbody>
          <tfoot>
            <tr><th scope="row">per cycle, fitted</th>${names.map(name => html`
              <td data-level=${name} data-rate=${fits[name]?.rate}>${fits[name] ? signed(fits[name].rate) : ''}</td>`)}</tr>
            <tr><th scope="row">± standard error</th>${names.map(name => html`
              <td data-level=${name} data-error=${fits[name]?.error}>${fits[name]?.error === undefined ? '' : number(fits[name].error)}</td>`)}</tr>
          </tfoot>
        </table></div></details>
    </section>`;
}

/**
 * @param {{rate: number, error?: number} | undefined} fit
 * @param {boolean} noisy  whether the level moves by itself, so that a line through few cycles says little
 */
function slope(fit, noisy) {
  if (!fit) return '';
  if (fit.error !== undefined) return `${signed(fit.rate)} ± ${number(fit.error)} per cycle`;
  return `${signed(fit.rate)} per cycle${noisy ? ', in too few to be sure of' : ''}`;
}
