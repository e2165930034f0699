// Models that were converted and checked: what was refused, how far predictions are off, how to release them.

import {html} from './html.mjs';
import {Verdict} from './verdict.mjs';
import {difference} from './words.mjs';

/** @typedef {import('./types.d.mts').Check} Check */

/** @param {{data: import('./types.d.mts').Data}} props */
export function Checks({data: {checks, marks}}) {
  if (!checks.length) return null;
  return html`
    <section id="checks" aria-labelledby="checks-title">
      <h2 id="checks-title">Checks</h2>
      ${checks.map(check => html`<${One} check=${check} marks=${marks} />`)}
    </section>`;
}

/** @param {{check: Check, marks: Record<string, string>}} props */
function One({check, marks}) {
  const {model, kind, formats = [], parity = [], refused = [], recipes = [], notes = [], left_out: leftOut = [], error} = check;
  return html`
    <article>
      <h3>${model} <span class="faint">${kind}</span></h3>
      <ul class="lines">
        ${formats.map(format => html`<li><${Verdict} verdict="pass" marks=${marks}>converted to a ${format} model<//></li>`)}
        ${refused.map(({format, reason, instead}) => html`
          <li><${Verdict} verdict="fail" marks=${marks}>refused as a ${format} model<//>: ${reason}${instead && html` <b>Instead: ${instead}.</b>`}</li>`)}
        ${[...leftOut.map(what => `left out: ${what}`), ...notes].map(said => html`<li>${said}</li>`)}
        ${error && html`<li><${Verdict} verdict="error" marks=${marks}>${error}<//></li>`}
      </ul>
      ${parity.length > 0 && html`<${Parity} parity=${parity} marks=${marks} />`}
      ${recipes.length > 0 && html`<${Advice} recipes=${recipes} />`}
    </article>`;
}

/** @param {{parity: NonNullable<Check['parity']>, marks: Record<string, string>}} props */
function Parity({parity, marks}) {
  const why = parity.some(one => !one.ok);
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Predictions beside Python’s"><table class="plain" data-table="parity">
      <caption>predictions beside Python’s</caption>
      <thead><tr><th scope="col">target</th><th scope="col">format</th><th scope="col"></th>
        <th scope="col" class="n">off by</th><th scope="col" class="n">relative</th>${why && html`<th scope="col">why</th>`}</tr></thead>
      <tbody>${parity.map(one => html`
        <tr><th scope="row">${one.target}</th><td>${one.format}</td>
          <td><${Verdict} verdict=${one.ok ? 'pass' : one.error ? 'error' : 'fail'} marks=${marks}>${one.ok ? 'as in Python' : one.error ? 'broke' : 'off'}<//></td>
          <td class="n">${difference(one.max_abs)}</td><td class="n">${difference(one.max_rel)}</td>${why && html`<td>${one.error ?? one.reason}</td>`}</tr>`)}</tbody>
    </table></div>`;
}

/** @param {{recipes: NonNullable<Check['recipes']>}} props */
function Advice({recipes}) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="How to release it"><table class="plain">
      <caption>the plainest way to release it that leaves nothing</caption>
      <thead><tr><th scope="col">target</th><th scope="col">format</th><th scope="col">after it was</th><th scope="col">recipe</th></tr></thead>
      <tbody>${recipes.map(({target, format, usage, recipe}) => html`
        <tr><th scope="row">${target}</th><td>${format}</td><td>${usage}</td><td>${recipe ?? 'each leaves something'}</td></tr>`)}</tbody>
    </table></div>`;
}
