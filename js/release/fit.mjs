// What fit leaves and nobody can reach any more: up to 0.11.1 its own logger keeps a scalar for each batch and metric, and
// forgets it.

/** @type {WeakMap<object, Set<any>>} */
const kept = new WeakMap();

/**
 * The scalars that fit has kept of a watched model, and that are there still.
 * @param {any} model
 * @returns {any[]}
 */
export const keptByFit = model => [...kept.get(model) ?? []];

/**
 * From now on remembers what a model's fit keeps with `tf.keep`; not what the caller's callbacks keep.
 * @param {any} model
 * @param {any} engine
 */
export function watchFit(model, engine) {
  const {fit} = model;
  const mine = new Set();
  kept.set(model, mine);
  model.fit = async (/** @type {any[]} */ ...given) => {
    let callers = 0;
    const stop = watchKeep(engine, tensor => {
      if (callers === 0 && tensor.rank === 0) mine.add(tensor);
    });
    const around = (/** @type {() => any} */ act) => {
      callers += 1;
      try {
        return act();
      } finally {
        callers -= 1;
      }
    };
    try {
      return await fit.apply(model, given.map(each => withCallbacks(each, around)));
    } finally {
      stop();
      for (const tensor of mine) if (tensor.isDisposed) mine.delete(tensor);
    }
  };
}

/**
 * Tells of each tensor that an engine is told to keep. Call what it returns to stop.
 * @param {any} engine @param {(tensor: any) => void} tell
 */
function watchKeep(engine, tell) {
  const usual = Object.getOwnPropertyDescriptor(engine, 'keep');
  const keep = engine.keep;
  engine.keep = (/** @type {any} */ tensor) => {
    tell(tensor);
    return keep.call(engine, tensor);
  };
  return () => {
    if (usual) Object.defineProperty(engine, 'keep', usual);
    else delete engine.keep;
  };
}

/**
 * The configuration of fit with its callbacks called by `around`; anything else as it is.
 * @param {any} config @param {(act: () => any) => any} around
 */
function withCallbacks(config, around) {
  if (!config?.callbacks) return config;
  const watched = (/** @type {any} */ callback) => new Proxy(callback, {
    get(target, name) {
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? (/** @type {any[]} */ ...given) => around(() => value.apply(target, given)) : value;
    },
  });
  return {...config, callbacks: Array.isArray(config.callbacks) ? config.callbacks.map(watched) : watched(config.callbacks)};
}
