// What the page is of: how many cells are as expected, and the files, dates and versions behind them.
/// <reference lib="dom" />

import {useState} from 'preact/hooks';

import {html} from './html.mjs';
import {BROKEN} from './ledger.mjs';
import {count, number} from './words.mjs';

/** @param {{ledger: import('./ledger.mjs').Ledger}} props */
export function Head({ledger}) {
  const {data, cells} = ledger;
  const verdicts = [...cells.values()].map(cell => cell.verdict);
  return html`
    <header class="head">
      <div class="top">
        <p class="name">tensorledger</p>
        <${Sections} ledger=${ledger} />
        <${Theme} />
      </div>
      <h1>${said(verdicts)}</h1>
      <p class="lead">${of(data)}</p>
      ${data.problems.length > 0 && html`
        <div class="notice" role="note">
          <p><span class="mark v-error" aria-hidden="true">!</span> ${count(data.problems.length, 'file')} could not be read:</p>
          <ul>${data.problems.map(problem => html`<li>${problem}</li>`)}</ul>
        </div>`}
      ${data.files.length > 0 && html`<${Files} files=${data.files} />`}
    </header>`;
}

/** @param {string[]} verdicts */
function said(verdicts) {
  const all = verdicts.length, skipped = verdicts.filter(verdict => verdict === 'skip').length;
  const broken = verdicts.filter(verdict => BROKEN.includes(verdict)).length;
  if (!all) return 'Report';
  if (broken) return `${number(broken)} of ${count(all, 'cell')} ${broken === 1 ? 'is' : 'are'} not as expected`;
  if (skipped === all) return all === 1 ? 'The one cell was skipped' : `All ${count(all, 'cell')} were skipped`;
  if (all === 1) return 'The one cell is as expected';
  return skipped
    ? `${number(all - skipped)} of ${count(all, 'cell')} are as expected, ${number(skipped)} ${skipped === 1 ? 'was' : 'were'} skipped`
    : `All ${count(all, 'cell')} are as expected`;
}

/** @param {import('./types.d.mts').Data} data */
function of(data) {
  const dates = data.files.flatMap(file => file.date ?? []).map(date => date.slice(0, 10)).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  return [
    data.scenarios.length > 0
      && `${count(data.scenarios.length, 'scenario')} on ${count(data.targets.length, 'target')}`,
    first && (first === last ? `measured on ${first}` : `measured from ${first} to ${last}`),
    data.files.length > 0 && `from ${count(data.files.length, 'file')}`,
    `written by tensorledger ${data.version}`,
  ].filter(Boolean).join(' · ');
}

/** @param {{files: import('./types.d.mts').File[]}} props */
function Files({files}) {
  return html`
    <details class="files">
      <summary>Files and versions</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Files and versions"><table class="plain">
        <thead><tr><th scope="col">file</th><th scope="col">written</th><th scope="col">tensorledger</th>
          <th scope="col">Node.js</th><th scope="col">Python</th><th scope="col">platform</th></tr></thead>
        <tbody>${files.map(file => html`
          <tr><th scope="row">${file.file}</th><td>${(file.date ?? '').replace('T', ' ').replace('+00:00', ' UTC')}</td>
            <td>${file.tensorledger}</td><td>${file.node}</td><td>${file.python}</td><td>${file.platform}</td></tr>`)}
        </tbody>
      </table></div>
      ${files.filter(file => file.targets).map(file => html`
        <details><summary>Targets of ${file.file}</summary><ul class="targets">
          ${Object.entries(file.targets ?? {}).map(([target, versions]) => html`
            <li><b>${target}</b> ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}</li>`)}
        </ul></details>`)}
    </details>`;
}

/** Where the sections are. @param {{ledger: import('./ledger.mjs').Ledger}} props */
function Sections({ledger}) {
  const {data, cells} = ledger;
  const verdicts = new Set([...cells.values()].map(cell => cell.verdict));
  const there = [
    [data.changes, 'changes', 'Changes'],
    [cells.size, 'grid', 'Grid'],
    [BROKEN.some(verdict => verdicts.has(verdict)), 'failures', 'Failures'],
    [verdicts.has('deviates'), 'deviations', 'Deviations'],
    [verdicts.has('skip'), 'skips', 'Skips'],
    [data.recipes.length, 'recipes', 'Recipes'],
    [data.atlases.length, 'atlas', 'Atlas'],
    [data.checks.length, 'checks', 'Checks'],
  ].filter(([is]) => is);
  if (there.length < 2) return null;
  return html`<nav aria-label="Sections">${there.map(([, id, name]) => html`
    <button type="button" onClick=${() => document.getElementById(String(id))?.scrollIntoView()}>${name}</button>`)}</nav>`;
}

/** Light or dark, until the page is closed; at first as the system has it. */
function Theme() {
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const turn = () => {
    document.documentElement.style.colorScheme = dark ? 'light' : 'dark';
    setDark(!dark);
  };
  return html`<button type="button" class="theme" onClick=${turn}>${dark ? '☼ Light' : '☾ Dark'}</button>`;
}
