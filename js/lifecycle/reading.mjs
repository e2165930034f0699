// What memory looks like at one moment: a Reading of the protocol, in absolute numbers.

/**
 * Throws where the ledger and the engine's own count disagree: then neither can be believed.
 * @param {any} tf
 * @param {import('../ledger/ledger.mjs').Ledger} ledger
 * @param {import('../worker/host.mjs').Host} host
 */
export async function read(tf, ledger, host) {
  const counted = count(tf, ledger, host); // at once: what waits for a turn must not come in between
  return {...counted, ...await host.memory()};
}

/**
 * @param {any} tf
 * @param {import('../ledger/ledger.mjs').Ledger} ledger
 * @param {import('../worker/host.mjs').Host} host
 */
function count(tf, ledger, host) {
  const wrong = ledger.disagreement();
  if (wrong) throw new Error(wrong);
  const told = tf.memory();
  return {
    tensors: told.numTensors,
    bytes: told.numBytes,
    buffers: told.numDataBuffers ?? null,
    buffer_bytes: ledger.bufferBytes(),
    backend: backend(tf, told, host),
  };
}

/**
 * What the backend has of its own; null where the release does not tell. WebAssembly's memory, in bytes, never shrinks, and
 * grows by pages of 64 KiB. On the GPU there are the bytes in use, and with them those kept to be used again: of WebGL as
 * textures.mjs counts them, as up to 1.7.4 TensorFlow.js does not, and later not exactly. Of tfjs-node,
 * TensorFlow's handles, as js/addon/handles.cc counts them: one for each buffer that has been used in TensorFlow.
 * @param {any} tf
 * @param {any} told  by tf.memory()
 * @param {import('../worker/host.mjs').Host} host
 * @returns {Record<string, number | null>}
 */
function backend(tf, told, host) {
  switch (tf.getBackend?.()) {
    case 'wasm': return {wasm: tf.backend?.().wasm?.HEAPU8?.buffer.byteLength ?? null};
    case 'webgl': return {gpu: told.numBytesInGPU ?? null, gpu_allocated: host.textures?.() ?? null};
    case 'webgpu': return {gpu: told.numBytesInGPU ?? null, gpu_allocated: told.numBytesAllocatedInGPU ?? null};
    case 'tensorflow': return {handles: tf.backend().binding?.handlesAlive?.() ?? null};
    default: return {};
  }
}
