// Starts a worker in a page (page.html), which the process that has the browser opened: py/tensorledger/browser/page.py.
/// <reference lib="dom" />

import {checker} from '../protocol/check.mjs';
import {parsed} from '../protocol/message.mjs';
import {browserHost, loadScript} from './browser.mjs';
import {serve} from './serve.mjs';

const {origin, pathname, searchParams} = new URL(location.href);
const base = `${origin}/${pathname.split('/', 2)[1]}`;

/** Tells that process something. @param {object} what */
const tell = what => /** @type {any} */ (globalThis).tensorledgerTell(JSON.stringify(what));

/** @type {string[]} lines of the harness's that nobody has waited for */
const arrived = [];
/** @type {((line: string) => void) | null} */
let waiting = null;
/** @type {Map<number, (memory: any) => void>} who has asked for it, by the number of the question; nobody once it is answered */
const asking = new Map();
let asked = 0;

/** What that process says: a line of the harness's, or what it was asked. */
new EventSource(`${base}/ear/${searchParams.get('ear')}`).onmessage = ({data}) => {
  const {line, memory, number} = JSON.parse(data);
  if (number !== undefined) {
    asking.get(number)?.(memory);
    asking.delete(number);
  } else if (waiting) {
    waiting(line);
    waiting = null;
  } else {
    arrived.push(line);
  }
};

const host = browserHost({
  base,
  browser: String(searchParams.get('browser')),
  memory: () => new Promise(resolve => {
    asked += 1;
    asking.set(asked, resolve);
    tell({memory: asked});
  }),
  lost: why => tell({lost: why}),
});
const {Validator} = await host.importModule(`${searchParams.get('modules')}/@cfworker/json-schema/dist/esm/index.js`);
const schema = /** @type {any} */ (await (await fetch(new URL('../protocol/schema.json', import.meta.url))).json());
tell({listens: true});

await serve({
  channel: {
    send: message => tell({line: JSON.stringify(message)}),
    receive: async () => parsed(arrived.shift() ?? await new Promise(resolve => {
      waiting = resolve;
    })),
  },
  host,
  loadLibrary: folder => loadScript(host.address(folder)),
  check: checker(schema, Validator),
  protocol: schema.protocol,
});
