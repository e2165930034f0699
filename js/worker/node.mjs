// Starts a worker in Node.js: node --expose-gc node.mjs NODE_MODULES [COMPILED], with the channel on descriptor 3.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import util from 'node:util';

import {checker} from '../protocol/check.mjs';
import {Channel} from './channel.mjs';
import {Compiled} from './compiled.mjs';
import {nodeHost} from './host.mjs';
import {serve} from './serve.mjs';

const [, , modules, file] = process.argv;
const compiled = file === undefined ? null : new Compiled(file);
const {Validator} = createRequire(`${modules}/`)('@cfworker/json-schema');
const schema = JSON.parse(readFileSync(new URL('../protocol/schema.json', import.meta.url), 'utf8'));

// To a pipe Node.js may write later, or never; what a scenario prints is to be there when it hangs or is killed.
for (const stream of [process.stdout, process.stderr]) /** @type {any} */ (stream)._handle?.setBlocking?.(true);

// Node.js ends by itself, and with a status that nobody knows, when all that is left is a promise.
process.on('beforeExit', () => console.error('the scenario waits for a promise that nothing is left to settle'));

// tfjs-node calls it, and Node.js 23 took it away.
/** @type {any} */ (util).isNullOrUndefined ??= (/** @type {unknown} */ value) => value === null || value === undefined;

await serve({
  channel: new Channel(),
  host: nodeHost(),
  loadLibrary: folder => (compiled ? compiled.load(folder) : createRequire(folder + '/package.json')(folder)),
  check: checker(schema, Validator),
  protocol: schema.protocol,
});
compiled?.save();
process.exit(0);
