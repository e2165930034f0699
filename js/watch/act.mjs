// Runs an action file in JavaScript on the page that is watched: node act.mjs PLAYWRIGHT FILE, with the channel on descriptor 3.

import {Socket} from 'node:net';
import {resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';

const STEPS = ['setup', 'action', 'back'];

const [, , playwright, file] = process.argv;
const path = resolve(file);
const socket = new Socket({fd: 3, readable: true, writable: true});
/** Loaded while Chromium starts. @type {Promise<any>} */
const loading = import(pathToFileURL(`${playwright}/index.mjs`).href);
loading.catch(() => {}); // whoever asks for it is told
/** @type {any} */
let page = null;
/** @type {any} */
let written = {};

/**
 * What was thrown, with the lines of the action file.
 * @param {any} error
 */
function thrown(error) {
  const stack = String(error?.stack ?? '').split('\n').flatMap(line => {
    const found = line.match(/^\s*at (?:(?:async )?(?<name>.*?) \()?(?<place>.+?):(?<line>\d+):(?<column>\d+)\)?$/)?.groups;
    if (!found) return [];
    const isIts = [path, pathToFileURL(path).href].includes(found.place.replace(/^async /, '').replace(/\?.*$/, ''));
    return isIts ? [{function: found.name ?? '', file, line: Number(found.line), column: Number(found.column), of: 'user'}] : [];
  });
  const message = error instanceof Error ? error.message : String(error);
  // Escapes that colour a terminal are for one.
  // eslint-disable-next-line no-control-regex
  return {type: error?.name ?? typeof error, message: message.replaceAll(/\u001b\[\d+m/g, ''), checkpoint: null, stack};
}

/** @param {() => Promise<object>} act */
async function answered(act) {
  try {
    return {...await act(), error: null};
  } catch (error) {
    return {error: thrown(error)};
  }
}

/** @type {Record<string, (params: any) => Promise<object>>} */
const METHODS = {
  load_action: () => answered(async () => {
    const found = await import(pathToFileURL(path).href);
    written = {...found.default, ...found};
    return {steps: STEPS.filter(step => typeof written[step] === 'function')};
  }).then(told => ({steps: [], ...told})),

  find_page: ({endpoint, timeout}) => answered(async () => {
    const {chromium} = await loading;
    const browser = await chromium.connectOverCDP(endpoint);
    const [context] = browser.contexts();
    [page] = context.pages();
    context.setDefaultTimeout(timeout * 1000);
    return {};
  }),

  act: ({step}) => answered(async () => {
    await written[step](page);
    return {};
  }),
};

for await (const line of createInterface({input: socket})) {
  const {id, method, params} = JSON.parse(line);
  socket.write(`${JSON.stringify({jsonrpc: '2.0', id, result: await METHODS[method](params)})}\n`);
}
process.exit(0);
