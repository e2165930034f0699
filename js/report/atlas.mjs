// The atlas: what each scenario shows on which releases, those that are alike together.

import {written} from './address.mjs';
import {html} from './html.mjs';
import {Life} from './life.mjs';
import {Verdict} from './verdict.mjs';
import {count, number} from './words.mjs';

/** @typedef {import('./types.d.mts').Range} Range */
/** @typedef {import('./types.d.mts').Walk} Walk */

/** @param {{data: import('./types.d.mts').Data}} props */
export function Atlases({data}) {
  if (!data.atlases.length) return null;
  return html`
    <section id="atlas" aria-labelledby="atlas-title">
      <h2 id="atlas-title">Atlas</h2>
      ${data.atlases.map(atlas => html`<${One} atlas=${atlas} marks=${data.marks} />`)}
    </section>`;
}

/** @param {{atlas: import('./types.d.mts').Atlas, marks: Record<string, string>}} props */
function One({atlas, marks}) {
  const {backend, releases = [], recipes = [], unusable = [], scenarios = {}} = atlas;
  return html`
    <p class="about">What each scenario shows on ${count(releases.length, 'release')} of TensorFlow.js, ${releases[0]} to ${releases.at(-1)}, on ${backend}:
      by exact counts and the plain expectation, without deviations. The number is of the tensors that are left, which is also
      what every further cycle adds. Released by ${recipes.map(({name, first, last}) => `${name} from ${first} to ${last}`).join(', ')}.</p>
    ${unusable.length > 0 && html`<details><summary>${count(unusable.length, 'release')} that cannot be used</summary>
      <ul class="lines">${unusable.map(found => html`<li><b>${found.release}</b> ${found.state}: ${found.why}</li>`)}</ul></details>`}
    <div class="ranges">${Object.entries(scenarios).map(([name, ranges]) => html`
      <h3>${name}</h3>
      <ol>${ranges.map(range => html`
        <li style=${{flexGrow: range.count}}><a class=${`range v-${range.verdict ?? 'none'}`} href=${written({atlas: keyOf(atlas, name, range)})}>
          ${range.verdict && html`<span class="mark" aria-hidden="true">${marks[range.verdict]}</span><span class="unseen">${range.verdict}</span>`}
          <span class="span">${spanOf(range)}</span>
          <span class="left">${leftOf(range)}</span></a></li>`)}</ol>`)}
    </div>`;
}

/** @param {Range} range */
function spanOf({first, last}) {
  return first === last ? first : `${first} – ${last}`;
}

/** @param {Range} range */
function leftOf({shows}) {
  const end = shows.cycle?.points?.at(-1);
  return end?.[1] ? `${number(end[1])} left` : '';
}

/** @param {import('./types.d.mts').Atlas} atlas @param {string} scenario @param {Range} range */
function keyOf({place, backend}, scenario, {first}) {
  return `${scenario}[tfjs@${first}/${backend}]${place ? ` ${place + 1}` : ''}`;
}

/** Returns the range of a key. @param {import('./types.d.mts').Data} data @param {string} key */
export function rangeOf({atlases}, key) {
  for (const atlas of key ? atlases : []) {
    const {backend, scenarios = {}} = atlas;
    for (const [scenario, ranges] of Object.entries(scenarios)) {
      const found = ranges.find(range => keyOf(atlas, scenario, range) === key);
      if (found) return {scenario, found, on: `tfjs ${spanOf(found)}, ${backend}`};
    }
  }
  return undefined;
}

/** What is shown on a range of releases. @param {{range: Range, marks: Record<string, string>}} props */
export function Releases({range: {verdict, count: releases, shows}, marks}) {
  const off = Object.entries(shows.parity ?? {}).filter(([, same]) => !same).map(([key]) => key);
  return html`
    <p class="facts">${verdict && html`<${Verdict} verdict=${verdict} marks=${marks} />`}
      <span>${count(releases, 'release')}</span></p>
    ${shows.broke && html`<pre class="message">${shows.broke}</pre>`}
    ${shows.unsteady && html`<p>No two cycles in a row are alike.</p>`}
    ${off.length > 0 && html`<p>Predictions are not Keras’s: ${off.join(', ')}.</p>`}
    <${Threw} walk=${shows.cycle} />
    ${shows.cycle?.points && html`<${Life} checkpoints=${checkpointsOf(shows.cycle)} first=${shows.first && checkpointsOf(shows.first)} />`}`;
}

/** @param {{walk?: Walk}} props */
function Threw({walk}) {
  if (!walk?.threw) return null;
  const {type, message, after} = walk.threw;
  return html`<section><h3>What it threw</h3>
    <p><b>${type}</b>, ${after ? html`after checkpoint <code>${after}</code>` : 'before the first checkpoint'}</p><pre class="message">${message}</pre></section>`;
}

/** @param {Walk} walk @returns {import('./types.d.mts').Checkpoint[]} */
function checkpointsOf({points = []}) {
  return points.map(([name, tensors, bytes, buffers, bufferBytes]) => ({
    name, tensors: tensors ?? undefined, bytes: bytes ?? undefined, buffers: buffers ?? undefined,
    buffer_bytes: bufferBytes ?? undefined,
  }));
}
