// What is open: beside the page where there is room, over all of it where there is not.
/// <reference lib="dom" />

import {useLayoutEffect, useRef} from 'preact/hooks';

import {html} from './html.mjs';

/** @param {{title: string, on: string, close: () => void, children?: unknown}} props */
export function Panel({title, on, close, children}) {
  const heading = /** @type {{current: HTMLElement | null}} */ (useRef(null));
  useLayoutEffect(() => {
    heading.current?.focus({preventScroll: true});
  }, []);
  return html`
    <aside class="panel" aria-labelledby="panel-title">
      <header class="panel-head">
        <div>
          <h2 id="panel-title" ref=${heading} tabindex="-1">${title}</h2>
          <p class="on">on ${on}</p>
        </div>
        <button type="button" class="close" onClick=${close} aria-label="Close" title="Close (Escape)">✕</button>
      </header>
      <div class="panel-body">${children}</div>
    </aside>`;
}
