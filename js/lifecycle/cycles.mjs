// Runs a scenario for some cycles and reads memory at its checkpoints. It judges nothing.

import {frames, fromUser} from '../worker/frames.mjs';
import {describe} from '../worker/thrown.mjs';
import {read} from './reading.mjs';

const END = 'end';

/**
 * @typedef {Awaited<ReturnType<typeof one>>} Cycle
 *
 * @typedef {object} Stage  what cycles run on
 * @property {any} tf
 * @property {import('../ledger/ledger.mjs').Ledger} ledger
 * @property {import('../worker/host.mjs').Host} host
 * @property {(cycle: number, name: string) => void} reached  told before each reading
 * @property {(number: number, cycle: Cycle) => Promise<boolean>} ended  is handed each cycle,
 *   which is kept nowhere here, and says whether to go on
 *
 * @typedef {object} Course  what is run
 * @property {Function} scenario
 * @property {any} context
 * @property {any[]} held  the models that the zoo made, whatever the scenario has put into context.held
 * @property {import('./recipes.mjs').Recipe} recipe
 * @property {Other[]} [others]  what is read beside this worker's own engine
 *
 * @typedef {() => Promise<{count: number, bytes: number | null, live: any[]}>} Other  the ledger of a worker that the
 *   scenario has started, as js/page/remote.mjs tells it
 */

/**
 * The warm-up and then `count` cycles; fewer where one throws and `goOn` is false.
 * @param {Stage} stage
 * @param {Course} course
 * @param {number} count
 * @param {boolean} goOn
 */
export async function cycles(stage, course, count, goOn) {
  await settle(stage.host);
  for (let number = 0; number <= count; number += 1) {
    const cycle = await one(stage, course, number);
    const wanted = await stage.ended(number, cycle);
    if (!wanted || (cycle.thrown && !goOn)) break;
  }
}

/** Cycles after which V8 has compiled what runs in each; their time is some tens of milliseconds. */
const PRACTICE = 300;

/**
 * Runs cycles of nothing, without collections, so that what V8 keeps for this code is there before anything is read.
 * @param {Stage} stage
 */
export async function practise(stage) {
  // Asked once: a page has to ask outside, which takes a while.
  const memory = await stage.host.memory();
  const host = {...stage.host, collect() {}, memory: () => memory, rejections: []};
  const scenario = async function* () {
    yield 'practice';
  };
  await cycles({...stage, host}, {scenario, context: {}, held: [], recipe: {}}, PRACTICE, false);
}

/** @param {Stage} stage @param {Course} course @param {number} number */
async function one(stage, course, number) {
  const {tf, ledger, host} = stage;
  const mark = ledger.mark();
  const baseline = await read(tf, ledger, host);
  /** @type {{name: string, reading: Awaited<ReturnType<typeof read>>}[]} */
  const checkpoints = [];
  const others = course.others ?? [];
  const checkpoint = async (/** @type {string} */ name) => {
    stage.reached(number, name);
    const own = await read(tf, ledger, host);
    const told = await Promise.all(others.map(other => other()));
    checkpoints.push({name, reading: told.reduce(together, own)});
    return told;
  };
  // In a function of its own: nothing of the scenario may stay in a variable here.
  let thrown = await walk(course, stage, checkpoint);
  course.held.length = 0;
  ledger.settle();
  await settle(host);
  const left = host.rejections.splice(0);
  if (left.length && !thrown) thrown = describe(left[0], host);
  if (thrown) thrown.checkpoint = checkpoints.at(-1)?.name ?? null;
  const told = await checkpoint(END);
  others.length = 0;
  return {baseline, checkpoints, thrown, leaks: [...leaks(ledger, mark, host), ...told.flatMap(({live}) => live)]};
}

/**
 * A reading with that of another ledger, which does not count buffers.
 * @param {Awaited<ReturnType<typeof read>>} reading
 * @param {{count: number, bytes: number | null}} other
 */
function together(reading, {count, bytes}) {
  const more = (/** @type {number | null} */ own) => (own === null || bytes === null ? null : own + bytes);
  return {
    ...reading,
    tensors: reading.tensors + count, bytes: more(reading.bytes), buffers: null, buffer_bytes: more(reading.buffer_bytes),
  };
}

/**
 * Runs the scenario once; tells what it threw, or null.
 * @param {Course} course
 * @param {Stage} stage
 * @param {(name: string) => Promise<unknown>} checkpoint
 */
async function walk({scenario, context, recipe}, {tf, host}, checkpoint) {
  try {
    if (recipe.before) await recipe.before(context);
    const walked = recipe.around ? recipe.around(tf, () => scenario(context)) : scenario(context);
    if (typeof walked?.next !== 'function') {
      await walked;
      return null;
    }
    const names = new Set();
    for await (const name of walked) {
      if (typeof name !== 'string' || name === '') throw new TypeError(`a scenario yields names of checkpoints, not ${String(name)}`);
      if (/\p{Surrogate}/u.test(name)) throw new TypeError('a checkpoint\'s name has half a character in it');
      if (name === END) throw new RangeError('"end" is read by itself, after the scenario; yield another name');
      if (names.has(name)) throw new RangeError(`the checkpoint "${name}" is yielded twice`);
      names.add(name);
      await checkpoint(name);
    }
    return null;
  } catch (error) {
    return describe(error, host);
  }
}

/**
 * What was made since a mark and is alive, with where it was made: from the user's innermost frame on, or all of it.
 * @param {import('../ledger/ledger.mjs').Ledger} ledger
 * @param {number} mark
 * @param {import('../worker/host.mjs').Host} host
 */
function leaks(ledger, mark, host) {
  return ledger.since(mark).map(({stack, ...live}) => {
    const all = frames((stack ?? '').split('\n'), host);
    return {...live, stack: ledger.stacks === 'all' ? all : fromUser(all)};
  });
}

/**
 * Lets the event loop turn twice and forces a full collection twice.
 * @param {import('../worker/host.mjs').Host} host
 */
async function settle(host) {
  for (let turn = 0; turn < 2; turn += 1) {
    await host.turn();
    host.collect();
  }
}
