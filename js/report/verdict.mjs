// How a verdict looks: its mark and its name, so that nothing is said by colour alone.

import {html} from './html.mjs';

/** @param {{verdict: string, marks: Record<string, string>, children?: unknown}} props */
export function Verdict({verdict, marks, children}) {
  return html`<span class=${`verdict v-${verdict}`}><span class="mark" aria-hidden="true">${marks[verdict]}</span> ${children ?? verdict}</span>`;
}
