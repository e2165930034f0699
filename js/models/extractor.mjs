// The model of the second question, built natively: 64 features, six blocks, one output, nothing trainable.

const BLOCKS = [1024, 512, 256, 128, 64, 32];

/** @param {any} tf */
export function extractor(tf) {
  let seed = 0;
  const dense = (/** @type {number} */ units, /** @type {string} */ activation, options = {}) => {
    seed += 1;
    return tf.layers.dense({units, activation, trainable: false, kernelInitializer: tf.initializers.glorotUniform({seed}), ...options});
  };
  const normalization = () => tf.layers.layerNormalization({trainable: false});
  const layers = BLOCKS.flatMap((units, index) => [
    dense(units, 'relu', index === 0 ? {inputShape: [64]} : {}),
    tf.layers.dropout({rate: 0.2, trainable: false}),
    normalization(),
  ]);
  return tf.sequential({layers: [...layers, dense(16, 'relu'), normalization(), dense(1, 'sigmoid')]});
}
