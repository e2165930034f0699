// The worker: answers the harness's requests, JSON-RPC 2.0, one at a time, until the harness hangs up.

import {Ledger} from '../ledger/ledger.mjs';
import {FRAMES} from '../ledger/origins.mjs';
import {cycles, practise} from '../lifecycle/cycles.mjs';
import {RECIPES, defaultRecipe, whyNot} from '../lifecycle/recipes.mjs';
import {makeData} from '../models/data.mjs';
import {makeZoo} from '../models/zoo.mjs';
import {NoMessage, request} from '../protocol/message.mjs';
import {registered, startLibrary} from './library.mjs';
import {describe} from './thrown.mjs';
import {changed, traces} from './traces.mjs';

/** JSON-RPC's own error codes, and one of ours. */
const INVALID_PARAMS = -32602, UNKNOWN_METHOD = -32601, INTERNAL = -32603, LACKING = -32001;

/** This machine has not what the target needs. */
class Lacking extends Error {}

/**
 * @param {object} parts
 * @param {{send: (message: object) => void, receive: () => any}} parts.channel  of which receive may return a promise
 * @param {import('./host.mjs').Host} parts.host
 * @param {(folder: string) => any} parts.loadLibrary  loads the TensorFlow.js in a folder; may return a promise
 * @param {ReturnType<typeof import('../protocol/check.mjs').checker>} parts.check
 * @param {number} parts.protocol  the version that this side speaks
 */
export async function serve({channel, host: whole, loadLibrary, check, protocol}) {
  /** @type {{tf: any, engine: any, ledger: Ledger, target: {name: string, version: string, backend: string}, data: any} | undefined} */
  let stage;
  let host = whole;
  let countsOnly = false;
  let asked = 0;
  Error.stackTraceLimit = FRAMES;

  /** @param {string} method @param {object} params */
  const ask = async (method, params) => {
    asked += 1;
    const id = `w${asked}`;
    channel.send({jsonrpc: '2.0', id, method, params: check(method, 'params', params)});
    const {id: answered, result, error} = (await channel.receive()) ?? {};
    if (answered !== id) throw new Error(`an answer to ${shown(answered)}, where ${id} was asked`);
    if (error) throw new Error(shown(error.message));
    return check(method, 'result', result);
  };

  /** @type {Record<string, (params: any) => Promise<object>>} */
  const methods = {
    async hello({protocol: theirs, name, version, counts_only, ...wanted}) {
      if (theirs !== protocol) throw new RangeError(`this worker speaks protocol ${protocol}, the harness ${theirs}`);
      const lacks = await host.lacks(wanted.backend);
      if (lacks !== null) throw new Lacking(lacks);
      const {tf, engine} = await startLibrary(loadLibrary, wanted, host);
      countsOnly = counts_only ?? false;
      if (countsOnly) host = withoutCollections(whole);
      const ledger = new Ledger(engine, {stacks: countsOnly ? 'none' : 'escaped'});
      stage = {tf, engine, ledger, target: {name, version, backend: wanted.backend}, data: makeData(tf)};
      if (!countsOnly) {
        await practise({
          tf, ledger, host,
          reached: (cycle, checkpoint) => JSON.stringify(check('reached', 'params', {cycle, name: checkpoint})),
          async ended(number, cycle) {
            JSON.stringify(check('ended', 'params', {number, cycle}));
            return true;
          },
        });
      }
      return {protocol, versions: {...host.versions, tfjs: tf.version.tfjs ?? tf.version['tfjs-core']}};
    },

    async run({scenario: path, model, recipe: name, cycles: count, throws, full_stacks, params}) {
      if (!stage) throw new Error('run before hello');
      const {tf, engine, ledger, target, data} = stage;
      const chosen = name || defaultRecipe(tf);
      const outcome = {recipe: chosen, cycles: [], agreements: [], not_applicable: null, running: [], error: null, told: {}};
      const before = traces(tf, engine);
      let scenario, prepare;
      try {
        ({default: scenario, prepare} = await host.importModule(path));
        if (typeof scenario !== 'function') throw new TypeError('a scenario exports its function as default');
      } catch (error) {
        return {...outcome, error: describe(error, host)};
      }
      const not_applicable = whyNot(chosen, scenario);
      if (not_applicable) return {...outcome, not_applicable};

      const recipe = RECIPES[chosen];
      /** @type {any[]} */
      const held = [];
      /** @type {import('../lifecycle/cycles.mjs').Other[]} */
      const others = [];
      const {models, agreements} = makeZoo({tf, held, host, ask, release: stage.target.version, making: recipe.make});
      const context = {
        tf, models, data: {...data, ...(data[model] ?? data.classifier)}, target, held, params,
        scripts: host.scripts,
        importModule: host.importModule,
        /** Reads another ledger at each checkpoint too, until what this returns is called, or the cycle ends. */
        also(/** @type {import('../lifecycle/cycles.mjs').Other} */ other) {
          others.push(other);
          return () => {
            if (others.includes(other)) others.splice(others.indexOf(other), 1);
          };
        },
        tell: (/** @type {string} */ what, /** @type {unknown} */ value) => Object.assign(outcome.told, {[what]: value}),
        async release() {
          await recipe.release?.(context);
          held.length = 0;
        },
      };
      try {
        await prepare?.(context);
        held.length = 0;
      } catch (error) {
        return {...outcome, error: describe(error, host)};
      }
      const reached = (/** @type {number} */ cycle, /** @type {string} */ checkpoint) => channel.send(
        {jsonrpc: '2.0', method: 'reached', params: check('reached', 'params', {cycle, name: checkpoint})});
      if (!countsOnly) ledger.stacks = full_stacks ? 'all' : 'escaped';
      const running = host.running();
      const ended = async (/** @type {number} */ number, /** @type {object} */ cycle) =>
        (await ask('ended', {number, cycle})).go_on;
      await cycles({tf, ledger, host, reached, ended}, {scenario, context, held, recipe, others}, count, throws);
      const left = [...since(running, host.running()), ...changed(before, traces(tf, engine))];
      if (tf.getBackend() !== registered(target.backend)) left.push(`the backend ${tf.getBackend()}, chosen instead of ${target.backend}`);
      return {...outcome, agreements: [...agreements.values()], running: left};
    },
  };

  for (;;) {
    let id, answer;
    try {
      const message = await channel.receive();
      if (message === undefined) return;
      const {method, params} = ({id} = request(message));
      if (!Object.hasOwn(methods, method)) {
        answer = {error: {code: UNKNOWN_METHOD, message: `no method "${shown(method)}"`}};
      } else {
        answer = {result: check(method, 'result', await methods[method](check(method, 'params', params)))};
      }
    } catch (error) {
      if (error instanceof NoMessage && id === undefined) {
        channel.send({jsonrpc: '2.0', id: error.id, error: {code: error.code, message: shown(error.message)}});
        continue;
      }
      const {type, message, stack} = describe(error, host);
      const code = error instanceof Lacking ? LACKING
        : error instanceof TypeError && message.startsWith('protocol:') ? INVALID_PARAMS : INTERNAL;
      answer = {error: {code, message: code === LACKING ? message : `${type}: ${message}`, data: {stack}}};
    }
    if (id !== undefined) channel.send({jsonrpc: '2.0', id, ...answer});
  }
}

/** What came from the other side, in a message: not all of it, where it is long. @param {unknown} value */
function shown(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? 'nothing';
  return text.slice(0, 1000).replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * A host for who wants the exact counts alone, which no collection changes: nothing is collected, and no place is traced
 * through source maps.
 * @param {import('./host.mjs').Host} host
 * @returns {import('./host.mjs').Host}
 */
function withoutCollections(host) {
  return {...host, collect() {}, original: place => place};
}

/**
 * What is in the second list more often than in the first.
 * @param {string[]} before
 * @param {string[]} after
 */
function since(before, after) {
  const rest = [...before];
  return after.filter(name => {
    const place = rest.indexOf(name);
    if (place < 0) return true;
    rest.splice(place, 1);
    return false;
  });
}
