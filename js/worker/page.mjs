// Starts a worker in a page (page.html), which the process that has the browser opened: py/tensorledger/browser/page.py.
/// <reference lib="dom" />

import {checker} from '../protocol/check.mjs';
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
/** @type {((memory: any) => void)[]} who has asked for it, by the number of the question */
const asking = [];

/** What that process says: a line of the harness's, or what it was asked. */
Object.assign(globalThis, {
  /** @param {{line?: string, memory?: object, asked?: number}} said */
  tensorledgerHear({line, memory, asked}) {
    if (asked !== undefined) {
      asking[asked](memory);
    } else if (line !== undefined && waiting) {
      waiting(line);
      waiting = null;
    } else if (line !== undefined) {
      arrived.push(line);
    }
  },
});

const host = browserHost({
  base,
  browser: String(searchParams.get('browser')),
  memory: () => new Promise(resolve => tell({memory: asking.push(resolve) - 1})),
  lost: why => tell({lost: why}),
});
const {Validator} = await host.importModule(`${searchParams.get('modules')}/@cfworker/json-schema/dist/esm/index.js`);
const schema = /** @type {any} */ (await (await fetch(new URL('../protocol/schema.json', import.meta.url))).json());
tell({listens: true});

await serve({
  channel: {
    send: message => tell({line: JSON.stringify(message)}),
    receive: async () => JSON.parse(arrived.shift() ?? await new Promise(resolve => {
      waiting = resolve;
    })),
  },
  host,
  loadLibrary: folder => loadScript(host.address(folder)),
  check: checker(schema, Validator),
  protocol: schema.protocol,
});
