// For pages and workers: all that the package has, and a way to read the ledger of one from the other.

export * from '../index.mjs';
export {WorkerGone, reportTo, watchWorker} from './remote.mjs';

/** @typedef {import('./remote.mjs').Reading} Reading */
