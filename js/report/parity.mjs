// Predictions of loaded models beside those of the Keras that made them.

import {html} from './html.mjs';
import {Verdict} from './verdict.mjs';

/** @param {{agreements: {said: string, ok: boolean}[], marks: Record<string, string>}} props */
export function Agreements({agreements, marks}) {
  return html`
    <section><h3>Predictions beside Keras’s</h3>
      <ul class="lines">${agreements.map(({said, ok}) => html`
        <li><${Verdict} verdict=${ok ? 'pass' : 'fail'} marks=${marks}>${said}<//></li>`)}</ul>
    </section>`;
}
