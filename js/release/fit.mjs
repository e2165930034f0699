// What fit leaves and nobody can reach any more: up to 0.11.1 its own logger keeps a scalar for each batch and metric, and
// forgets it.

import {shared} from '../ledger/shared.mjs';

/** @type {WeakMap<object, Set<any>>} */
const kept = shared('keptByFit', () => new WeakMap());

/** Frames that are enough to see who asked the engine to keep something. */
const FRAMES = 25;

/**
 * The scalars that fit has kept of a watched model, and that are there still.
 * @param {any} model
 * @returns {any[]}
 */
export const keptByFit = model => [...kept.get(model) ?? []];

/**
 * From now on remembers what the logger of a model's fit keeps. Others keep scalars meanwhile: the caller's callbacks, and the
 * library itself in a cache. The logger is told by its name on the stack, so in a minified library nothing is found.
 * @param {any} model
 * @param {any} engine
 */
export function watchFit(model, engine) {
  const {fit} = model;
  const mine = new Set();
  kept.set(model, mine);
  model.fit = async (/** @type {any[]} */ ...given) => {
    const stop = watchKeep(engine, (tensor, stack) => {
      if (/\bBaseLogger\b/.test(stack) && !/\bgetScalar\b/.test(stack)) mine.add(tensor);
    });
    try {
      return await fit.apply(model, given);
    } finally {
      stop();
      for (const tensor of mine) if (tensor.isDisposed) mine.delete(tensor);
    }
  };
}

/**
 * Tells of each tensor that an engine is told to keep, and by whom. Call what it returns to stop.
 * @param {any} engine @param {(tensor: any, stack: string) => void} tell
 */
function watchKeep(engine, tell) {
  const usual = Object.getOwnPropertyDescriptor(engine, 'keep');
  const keep = engine.keep;
  engine.keep = (/** @type {any} */ tensor) => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = FRAMES;
    tell(tensor, new Error().stack ?? '');
    Error.stackTraceLimit = limit;
    return keep.call(engine, tensor);
  };
  return () => {
    if (usual) Object.defineProperty(engine, 'keep', usual);
    else delete engine.keep;
  };
}
