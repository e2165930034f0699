// What memory looks like at one moment: a Reading of the protocol, in absolute numbers.

/**
 * Throws where the ledger and the engine's own count disagree: then neither can be believed.
 * @param {any} tf
 * @param {import('../ledger/ledger.mjs').Ledger} ledger
 * @param {import('../worker/host.mjs').Host} host
 */
export function read(tf, ledger, host) {
  const wrong = ledger.disagreement();
  if (wrong) throw new Error(wrong);
  const {numTensors, numBytes, numDataBuffers} = tf.memory();
  return {
    tensors: numTensors,
    bytes: numBytes,
    buffers: numDataBuffers ?? null,
    buffer_bytes: ledger.bufferBytes(),
    backend: backend(tf),
    ...host.memory(),
  };
}

/**
 * What the backend has of its own; null where the backend does not show it. WebAssembly's memory, in bytes, never shrinks,
 * and grows by pages of 64 KiB. Of tfjs-node, TensorFlow's handles, as js/addon/handles.cc counts them: one for each
 * buffer that has been used in TensorFlow. The others have nothing that can be read from outside.
 * @param {any} tf
 * @returns {Record<string, number | null>}
 */
function backend(tf) {
  switch (tf.getBackend?.()) {
    case 'wasm': return {wasm: tf.backend?.().wasm?.HEAPU8?.buffer.byteLength ?? null};
    case 'tensorflow': return {handles: tf.backend().binding?.handlesAlive?.() ?? null};
    default: return {};
  }
}
