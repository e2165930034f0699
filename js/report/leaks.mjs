// What is left, by the line that made it.

import {Later} from './cells.mjs';
import {html} from './html.mjs';
import {count} from './words.mjs';

/** Places, and groups of tensors of one place, that are shown before the rest waits to be asked for. */
const SHOWN = 8;

/** @param {{places: import('./types.d.mts').Place[]}} props */
export function Leaks({places}) {
  const rest = places.slice(SHOWN);
  return html`
    <section data-section="leaks"><h3>Left at the end of the last cycle</h3>
      <ol class="places">${places.slice(0, SHOWN).map(place => html`<${Made} place=${place} />`)}</ol>
      ${rest.length > 0 && html`<${Later} summary=${`${count(rest.length, 'place')} more`} make=${() => html`
        <ol class="places">${rest.map(place => html`<${Made} place=${place} />`)}</ol>`} />`}
    </section>`;
}

/** @param {{place: import('./types.d.mts').Place}} props */
function Made({place: {of, stack = [], line, tensors}}) {
  const [at, ...callers] = stack, rest = tensors.slice(SHOWN);
  return html`
    <li>
      ${!at && html`<p>made in a scope that has not ended, or where no stack was taken</p>`}
      ${at && of === 'library' && html`
        <p>made with no line of yours on the stack, as after an await within the library, at <code>${at}</code></p>`}
      ${at && of !== 'library' && html`
        <p>made at <code>${at}</code></p>
        ${line && html`<pre class="source">${line}</pre>`}
        ${callers.length > 0 && html`<ul class="callers">${callers.map(frame => html`<li>called from <code>${frame}</code></li>`)}</ul>`}`}
      <${Tensors} tensors=${tensors.slice(0, SHOWN)} />
      ${rest.length > 0 && html`<${Later} summary=${`${count(rest.length, 'group')} more`} make=${() => html`<${Tensors} tensors=${rest} />`} />`}
    </li>`;
}

/** @param {{tensors: import('./types.d.mts').Place['tensors']}} props */
function Tensors({tensors}) {
  return html`<ul class="tensors">${tensors.map(({said, held = []}) => html`
    <li>${said}${held.map(one => html`<div class="held">held by <code>${one}</code></div>`)}</li>`)}</ul>`;
}
