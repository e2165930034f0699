// The recipes table: which way of releasing a model leaves what, where.

import {html} from './html.mjs';

const LANGUAGES = {js: 'JavaScript', py: 'Python'};

/** @param {{data: import('./types.d.mts').Data}} props */
export function Recipes({data}) {
  if (!data.recipes.length) return null;
  return html`
    <section id="recipes" aria-labelledby="recipes-title">
      <h2 id="recipes-title">Recipes</h2>
      <p class="about">${data.legend}</p>
      ${data.recipes.map(table => html`<${Table} table=${table} />`)}
      ${data.reasons.length > 0 && html`<h3>Why</h3><ul class="lines">${data.reasons.map(said => html`<li>${said}</li>`)}</ul>`}
    </section>`;
}

/** @param {{table: import('./types.d.mts').RecipeTable}} props */
function Table({table}) {
  const title = `${table.model}, ${table.usage}`;
  const language = LANGUAGES[/** @type {'js' | 'py'} */ (table.language)] ?? table.language;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${`${title}, ${language}`}><table class="recipes">
      <caption>${title} <span class="faint">${language}</span></caption>
      <thead><tr><th scope="col">${table.language === 'py' ? 'target' : 'release'}</th>
        ${table.recipes.map(recipe => html`<th scope="col">${recipe}</th>`)}<th scope="col" class="best">best</th></tr></thead>
      <tbody>${table.lines.map(line => html`
        <tr><th scope="row">${line.label}</th>
          ${table.recipes.map(recipe => html`<${Crossing} found=${line.cells[recipe]} />`)}
          <td class="best">${line.best}</td></tr>`)}</tbody>
    </table></div>`;
}

/** @param {{found?: import('./types.d.mts').Crossing}} props */
function Crossing({found}) {
  if (!found) return html`<td></td>`;
  const kind = found.works ? 'works' : found.bad ? 'bad' : found.said === '–' ? 'aside' : 'left';
  const [amount, size] = found.said.split('\n');
  return html`<td class=${kind}>${amount}${size && html` <span class="size">${size}</span>`}</td>`;
}
