// The page of `tensorledger report`: all that it shows is made here, of the data that it was written with.
/// <reference lib="dom" />

import {render} from 'preact';

import {App} from './app.mjs';
import {html} from './html.mjs';
import {ledgerOf} from './ledger.mjs';
import {read} from './read.mjs';

read().then(data => {
  const ledger = ledgerOf(data);
  const root = /** @type {HTMLElement} */ (document.getElementById('root'));
  root.replaceChildren();
  const show = (printed = false) => render(html`<${App} ledger=${ledger} printed=${printed} />`, root);
  show();
  addEventListener('beforeprint', () => show(true));
  addEventListener('afterprint', () => show());
});
