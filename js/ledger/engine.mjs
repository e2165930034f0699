// What a TensorFlow.js engine is from outside, whatever its release: where it counts, its scopes, what it holds on to.
// Read in the sources of tfjs-core; tests/js/releases.test.mjs looks at releases of each kind.

/** The method that an engine calls for every new tensor: 3.x and 4.x, 1.7 to 2.8, before. */
const CREATION = ['trackTensor', 'incRef', 'registerTensor'];

/**
 * The engine that counts tensors: on the global object since 1.1, made lazily by ENV before.
 * @param {any} tf
 */
export function engineOf(tf) {
  return tf.engine?.() ?? /** @type {any} */ (globalThis)._tfengine ?? tf.ENV.engine;
}

/** @param {any} engine */
export function creationOf(engine) {
  const name = CREATION.find(method => typeof engine[method] === 'function');
  if (name === undefined) throw new Error('this TensorFlow.js engine has none of: ' + CREATION.join(', '));
  return name;
}

/**
 * Where an engine keeps its counts and its scopes: in a state that reset() replaces, since 1.1; before, on itself.
 * @param {any} engine
 */
const stateOf = engine => engine.state ?? engine;

/** How many tensors the engine itself says there are. @param {any} engine @returns {number} */
export const countOf = engine => stateOf(engine).numTensors;

/** How many bytes the engine itself says they have. @param {any} engine @returns {number} */
export const bytesOf = engine => stateOf(engine).numBytes;

/**
 * The backend that an engine has, by its name, and what that says of its memory. None is started for it: an engine that is asked
 * for its memory does that.
 * @param {any} engine
 * @returns {{name: string | null, memory: Record<string, any>}}
 */
export function backendOf(engine) {
  // Up to 1.0 it is the engine's own property; since, that is a getter.
  const backend = engine.backendInstance ?? Object.getOwnPropertyDescriptor(engine, 'backend')?.value;
  if (!backend) return {name: null, memory: {}};
  const registry = Object.entries(/** @type {any} */ (globalThis).ENV?.registry ?? {});
  const name = engine.backendName ?? registry.find(([, entry]) => /** @type {any} */ (entry).backend === backend)?.[0] ?? null;
  try {
    return {name, memory: backend.memory?.() ?? {}};
  } catch {
    return {name, memory: {}};
  }
}

/** All open scopes. @param {any} engine @returns {{track: any[]}[]} */
export const scopesOf = engine => stateOf(engine).scopeStack;

/** The innermost open scope. @param {any} engine */
export const scopeOf = engine => stateOf(engine).activeScope;

/**
 * The outermost scope, where it is one that never ends: engines up to 0.14.0 have it, nameless, or named so.
 * @param {any} engine
 * @returns {{track: any[]} | undefined}
 */
export function permanentScope(engine) {
  const [outermost] = stateOf(engine).scopeStack;
  return outermost && ('refCounter' in engine || outermost.name === 'default scope') ? outermost : undefined;
}

/**
 * Whether no scope is open that will end.
 * @param {any} engine
 */
export function isOutside(engine) {
  const {scopeStack} = stateOf(engine);
  return scopeStack.length === 0 || (scopeStack.length === 1 && permanentScope(engine) !== undefined);
}

/**
 * Whether a tensor outlives its scopes by tf.keep. What remembers that was the scope, then the engine, then the tensor.
 * @param {any} engine @param {any} scope @param {any} tensor @returns {boolean}
 */
export const isKept = (engine, scope, tensor) =>
  scope.keep?.includes(tensor) ?? engine.keepTensors?.has(tensor.id) ?? tensor.kept === true;

/**
 * Whether a tensor is a variable, which no scope takes. One that is being constructed has its methods already.
 * @param {any} tensor
 */
export const isVariable = tensor => typeof tensor.assign === 'function';

/** The names of variables by the id of their tensor. @param {any} engine @returns {Map<number, string>} */
export function variableNames(engine) {
  const {registeredVariables = {}} = stateOf(engine);
  return new Map(Object.entries(registeredVariables).map(([name, variable]) => [variable.id, name]));
}

/** The engine's own record of a data buffer; it grows as strings are written. @param {any} engine @param {object} dataId */
export const recordOf = (engine, dataId) => stateOf(engine).tensorInfo?.get(dataId);
