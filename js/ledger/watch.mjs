// Finds the engines of TensorFlow.js without a `tf` object: an engine is on the global object, or comes there, even where
// the library is bundled, minified and nobody's global. Copies of it from 1.1 on share one engine; an older copy has its own,
// and makes another with each backend.

/**
 * Tells of every engine, those that are there and those to come. Call what it returns to stop.
 * @param {(engine: any) => void} tell
 * @param {any} [global]
 * @returns {() => void}
 */
export function watchEngines(tell, global = globalThis) {
  const told = new WeakSet();
  const found = (/** @type {any} */ engine) => {
    if (typeof engine?.disposeTensor !== 'function' || told.has(engine)) return;
    told.add(engine);
    tell(engine);
  };
  /** @type {(() => void)[]} */
  const stops = [];
  // In Node.js early releases are on `process`.
  for (const home of [global, global.process].filter(Boolean)) {
    stops.push(trap(home, '_tfengine', found));
    stops.push(trap(home, 'ENV', environment => {
      // Other software has an ENV too.
      if (typeof environment?.registerBackend === 'function') stops.push(trap(environment, 'globalEngine', found));
    }));
  }
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Tells of a property's value now, and of each that it is given.
 * @param {any} object @param {string} name @param {(value: any) => void} tell
 */
function trap(object, name, tell) {
  const before = Object.getOwnPropertyDescriptor(object, name);
  let value = object[name];
  if (value !== undefined) tell(value);
  if (before?.configurable === false) return () => {};
  const isAccessor = Boolean(before?.get ?? before?.set);
  let on = true;
  const get = () => (isAccessor ? before?.get?.call(object) : value);
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: before?.enumerable ?? true,
    get,
    set(given) {
      if (isAccessor) before?.set?.call(object, given);
      else value = given;
      if (on) tell(given);
    },
  });
  return () => {
    on = false;
    if (Object.getOwnPropertyDescriptor(object, name)?.get !== get) return; // trapped again since: it is passed on
    if (isAccessor) {
      Object.defineProperty(object, name, /** @type {PropertyDescriptor} */ (before));
    } else if (before || value !== undefined) {
      Object.defineProperty(object, name, {configurable: true, enumerable: true, writable: true, ...before, value});
    } else {
      delete object[name];
    }
  };
}
