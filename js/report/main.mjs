// The page of `tensorledger report`: all that it shows is made here, of the data that it was written with.
/// <reference lib="dom" />

import {render} from 'preact';

import {App} from './app.mjs';
import {html} from './html.mjs';
import {ledgerOf} from './ledger.mjs';
import {read} from './read.mjs';

const root = /** @type {HTMLElement} */ (document.getElementById('root'));

read().then(data => {
  const ledger = ledgerOf(data);
  root.replaceChildren();
  const show = (printed = false) => render(html`<${App} ledger=${ledger} printed=${printed} />`, root);
  show();
  addEventListener('beforeprint', () => show(true));
  addEventListener('afterprint', () => show());
}, error => {
  root.textContent = `The results could not be read. This page needs a browser from 2024 or later. (${error})`;
});
