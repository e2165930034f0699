// The MLP of the first question, built natively: 784 → Dense 256 relu with L2 → Dense 10 softmax.

/** @param {any} tf */
export function classifier(tf) {
  return tf.sequential({layers: [
    tf.layers.dense({
      inputShape: [784], units: 256, activation: 'relu',
      kernelInitializer: tf.initializers.glorotUniform({seed: 1}),
      kernelRegularizer: tf.regularizers.l2({l2: 0.01}),
    }),
    tf.layers.dense({units: 10, activation: 'softmax', kernelInitializer: tf.initializers.glorotUniform({seed: 2})}),
  ]});
}
