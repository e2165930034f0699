// What memory looks like at one moment: a Reading of the protocol, in absolute numbers.

/**
 * @param {any} tf
 * @param {import('../ledger/ledger.mjs').Ledger} ledger
 * @param {import('../worker/host.mjs').Host} host
 */
export function read(tf, ledger, host) {
  const {numTensors, numBytes, numDataBuffers} = tf.memory();
  return {
    tensors: numTensors,
    bytes: numBytes,
    buffers: numDataBuffers ?? null,
    buffer_bytes: ledger.bufferBytes(),
    backend: {},
    ...host.memory(),
  };
}
