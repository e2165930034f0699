// One cell: its verdict and why, where what is left was made, and its memory through the model's life.

import {Agreements} from './parity.mjs';
import {Life} from './life.mjs';
import {Growth} from './growth.mjs';
import {html} from './html.mjs';
import {Leaks} from './leaks.mjs';
import {Verdict} from './verdict.mjs';
import {written} from './address.mjs';
import {count, seconds} from './words.mjs';

/** @param {{cell: import('./ledger.mjs').Cell, place: string, data: import('./types.d.mts').Data}} props */
export function CellDetails({cell, place, data}) {
  const now = cell.runs[Number(place)] && place ? Number(place) : cell.shown;
  const {verdict, seconds: spent, body} = cell.runs[now];
  const broke = verdict === 'fail' || verdict === 'error';
  return html`
    <p class="facts"><${Verdict} verdict=${verdict} marks=${data.marks} />
      ${body.recipe && html`<span>released by <b>${body.recipe}</b></span>`}
      <span>${count(body.cycles ?? 0, 'cycle')}</span><span>${seconds(spent)}</span></p>
    ${cell.runs.length > 1 && html`<${Runs} cell=${cell} now=${now} marks=${data.marks} />`}
    <${Reason} body=${body} verdict=${verdict} />
    ${body.error && html`<${Failed} title="What broke" failure=${body.error} />`}
    ${body.leaks && verdict !== 'pass' && html`<${Leaks} places=${body.leaks} />`}
    ${body.checkpoints && html`<${Life} checkpoints=${body.checkpoints} growth=${body.growth} first=${body.first} />`}
    ${body.levels && html`<${Growth} body=${body} units=${data.units[body.language] ?? {}} />`}
    ${body.thrown && html`<${Failed} title="What it threw" failure=${body.thrown} />`}
    ${body.parity && html`<${Agreements} agreements=${body.parity} marks=${data.marks} />`}
    ${body.log && broke && html`<section><h3>It printed last</h3><pre class="log">${body.log}</pre></section>`}`;
}

/** @param {{cell: import('./ledger.mjs').Cell, now: number, marks: Record<string, string>}} props */
function Runs({cell, now, marks}) {
  return html`
    <section><h3>In ${count(cell.runs.length, 'file')}</h3>
      <ul class="runs">${cell.runs.map((run, place) => html`
        <li><a href=${written({cell: cell.key, run: String(place)})} aria-current=${place === now ? 'true' : undefined}>
          <${Verdict} verdict=${run.verdict} marks=${marks} /> ${run.file}</a> <span class="faint">${seconds(run.seconds)}</span></li>`)}
      </ul>
    </section>`;
}

/** @param {{body: import('./types.d.mts').Body, verdict: string}} props */
function Reason({body, verdict}) {
  const {reason, deviation, problems = []} = body;
  const {file, said} = withoutFile(problems);
  return html`
    <section class="reason">
      ${verdict === 'caught' && html`<p>It leaks on purpose, and failed with exactly what it is to leave.</p>`}
      ${deviation && html`<h3>${verdict === 'deviates' ? 'As documented' : 'Documented'}: <code>${deviation}</code></h3>`}
      ${reason && !problems.includes(reason) && html`<p>${reason}</p>`}
      ${file && html`<h3><code>${file}</code></h3>`}
      ${said.length > 0 && html`<ul>${said.map(problem => html`<li>${problem}</li>`)}</ul>`}
    </section>`;
}

/** Problems mostly are of one file, which then is said once. @param {string[]} problems */
function withoutFile(problems) {
  const file = /^(\S+\.toml): /.exec(problems[0] ?? '')?.[1];
  return file && problems.every(problem => problem.startsWith(`${file}: `))
    ? {file, said: problems.map(problem => problem.slice(file.length + 2))}
    : {file: '', said: problems};
}

/** @param {{title: string, failure: import('./types.d.mts').Failure}} props */
function Failed({title, failure}) {
  return html`
    <section><h3>${title}</h3>
      <p><b>${failure.type}</b>, ${failure.checkpoint ? html`after checkpoint <code>${failure.checkpoint}</code>` : 'before the first checkpoint'}</p>
      <pre class="message">${failure.message}</pre>
      ${failure.stack && html`<ol class="stack">${failure.stack.map(frame => html`<li><code>${frame}</code></li>`)}</ol>`}
    </section>`;
}
