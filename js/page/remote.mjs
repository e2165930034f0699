// The ledger of a worker, read from the page that started it, or of a page, read from another one: over whatever posts messages.

import {track} from '../tracking/track.mjs';

/** Marks our messages among others on the same port. */
const ASKED = 'tensorledger/asked', TOLD = 'tensorledger/told';

/** Milliseconds that a worker has to answer. */
const TIMEOUT = 5000;

/**
 * @typedef {object} Reading  what a ledger has told
 * @property {number} count
 * @property {number | null} bytes
 * @property {import('../tracking/track.mjs').Left[]} live
 * @property {string} report
 *
 * @typedef {any} Port  a Worker, a MessagePort, a BroadcastChannel, a worker's `self`, or Node.js's `parentPort`
 */

/**
 * Listens, in a browser or in Node.js; what Node.js tells is not wrapped in an event. Call what it returns to stop.
 * @param {Port} port @param {string | symbol} event @param {(data: any) => void} hear
 */
function listen(port, event, hear) {
  const heard = (/** @type {any} */ given) => hear(given);
  const [on, off] = typeof port.addEventListener === 'function'
    ? [port.addEventListener, port.removeEventListener] : [port.on, port.off];
  on.call(port, event, heard);
  return () => off.call(port, event, heard);
}

/**
 * Listens to errors; in Node.js so that one that nobody else listens to stays uncaught.
 * @param {Port} port @param {(error: any) => void} hear
 */
function listenToErrors(port, hear) {
  const event = typeof port.addEventListener === 'function' ? 'error' : port.constructor?.errorMonitor;
  return event === undefined ? () => {} : listen(port, event, hear);
}

/** @param {any} reading  what came over a port that others may use too @returns {reading is Reading} */
const isReading = reading => (
  typeof reading?.count === 'number' && typeof reading.report === 'string' && Array.isArray(reading.live));

/** @param {any} given  an event, or what Node.js hands over instead */
const dataOf = given => (given && typeof given === 'object' && 'data' in given ? given.data : given);

/**
 * In a worker, or in a page that another one watches: keeps a ledger from now on, and tells it whoever asks over a port.
 * @param {Port} port  in a worker `self`, in Node.js `parentPort`
 * @param {{tf?: any}} [options]
 * @returns {{stop(): void}}
 */
export function reportTo(port, {tf} = {}) {
  const ledger = track(tf);
  const mute = listen(port, 'message', given => {
    const asked = dataOf(given);
    if (asked?.type !== ASKED) return;
    const {count, bytes} = ledger;
    port.postMessage({type: TOLD, id: asked.id, reading: {count, bytes, live: ledger.live(), report: ledger.report()}});
  });
  port.start?.(); // a MessagePort that is listened to by addEventListener waits for it
  return {
    stop() {
      mute();
      ledger.stop();
    },
  };
}

/** Why a worker has not told its ledger. */
export class WorkerGone extends Error {
  name = 'WorkerGone';

  /** @param {string} why @param {Reading | null} last */
  constructor(why, last) {
    super(`the worker's ledger cannot be read: ${why}; ${last === null ? 'it has told nothing before' : `when it last told, ${last.report}`}`);
    /** What it has told last. */
    this.last = last;
  }
}

/**
 * Reads the ledger of a worker that has called `reportTo`.
 * @param {Port} worker
 * @param {{timeout?: number}} [options]  milliseconds that it has to answer
 * @returns {{read(): Promise<Reading>, stop(): void}}  `read` rejects with WorkerGone where the worker has ended, failed, or does
 *   not answer in time
 */
export function watchWorker(worker, {timeout = TIMEOUT} = {}) {
  /** @type {Map<number, {resolve: (reading: Reading) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @type {Reading | null} */
  let last = null;
  let asked = 0;
  /** @type {string | null} */
  let gone = null;
  const fail = (/** @type {string} */ why) => {
    for (const {reject} of waiting.values()) reject(new WorkerGone(why, last));
    waiting.clear();
  };
  const end = (/** @type {string} */ why) => {
    gone ??= why;
    fail(gone);
  };
  const mutes = [
    listen(worker, 'message', given => {
      const told = dataOf(given);
      if (told?.type !== TOLD || !isReading(told.reading)) return;
      last = told.reading;
      waiting.get(told.id)?.resolve(told.reading);
    }),
    // A browser does not tell that a worker was terminated; Node.js does, by `exit`. An error ends no worker in a browser.
    listenToErrors(worker, error => fail(`it failed: ${error?.message ?? error}`)),
    listen(worker, 'messageerror', () => fail('its message could not be read')),
    listen(worker, 'exit', code => end(`it has ended, with exit code ${code}`)),
  ];
  worker.start?.();
  return {
    async read() {
      if (gone !== null) throw new WorkerGone(gone, last);
      asked += 1;
      const id = asked;
      /** @type {any} */
      let timer;
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(id, {resolve, reject});
          timer = setTimeout(() => {
            reject(new WorkerGone(`no answer within ${timeout} ms: it was terminated, is busy, or has not called reportTo`, last));
          }, timeout);
          worker.postMessage({type: ASKED, id});
        });
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
    stop() {
      for (const mute of mutes) mute();
      end('it is watched no longer');
    },
  };
}
