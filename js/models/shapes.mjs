// Small models, each with one thing that the two big ones do not have. All read the classifier's 784 features.

/** @param {any} tf @param {number} units @param {number} seed @param {object} [options] */
function dense(tf, units, seed, options = {}) {
  return tf.layers.dense({units, kernelInitializer: tf.initializers.glorotUniform({seed}), ...options});
}

/**
 * The classifier with 10 hidden units for its 256: as many tensors, and a twenty-fifth of the parameters.
 * @param {any} tf
 */
export function narrow(tf) {
  return tf.sequential({layers: [
    dense(tf, 10, 1, {inputShape: [784], activation: 'relu'}),
    dense(tf, 10, 2, {activation: 'softmax'}),
  ]});
}

/**
 * One Dense layer that is called twice.
 * @param {any} tf
 */
export function shared(tf) {
  const input = tf.input({shape: [784]});
  const first = dense(tf, 10, 1).apply(input);
  const twice = dense(tf, 10, 2, {activation: 'relu'});
  const output = dense(tf, 10, 3, {activation: 'softmax'}).apply(twice.apply(twice.apply(first)));
  return tf.model({inputs: input, outputs: output});
}

/**
 * A model as the first layer of another.
 * @param {any} tf
 */
export function nested(tf) {
  const inner = tf.sequential({layers: [dense(tf, 10, 1, {inputShape: [784], activation: 'relu'})]});
  return tf.sequential({layers: [inner, dense(tf, 10, 2, {activation: 'softmax'})]});
}

/**
 * A stateful LSTM, which keeps its states between predictions: [8, 28, 28] in, so that 784 features are a sequence.
 * @param {any} tf
 */
export function recurrent(tf) {
  return tf.sequential({layers: [
    tf.layers.lstm({
      batchInputShape: [8, 28, 28], units: 4, stateful: true,
      kernelInitializer: tf.initializers.glorotUniform({seed: 1}),
      recurrentInitializer: tf.initializers.glorotUniform({seed: 2}),
    }),
    dense(tf, 10, 3, {activation: 'softmax'}),
  ]});
}

/**
 * Dropout, which draws random numbers while it is trained.
 * @param {any} tf
 */
export function dropout(tf) {
  return tf.sequential({layers: [
    dense(tf, 10, 1, {inputShape: [784], activation: 'relu'}),
    tf.layers.dropout({rate: 0.5}),
    dense(tf, 10, 2, {activation: 'softmax'}),
  ]});
}

/**
 * Batch normalization, which keeps moving averages that training changes and no gradient reaches.
 * @param {any} tf
 */
export function normalized(tf) {
  return tf.sequential({layers: [
    dense(tf, 10, 1, {inputShape: [784], activation: 'relu'}),
    tf.layers.batchNormalization({}),
    dense(tf, 10, 2, {activation: 'softmax'}),
  ]});
}

/**
 * A small convolutional network: [n, 28, 28, 1] in.
 * @param {any} tf
 */
export function convolutional(tf) {
  return tf.sequential({layers: [
    tf.layers.conv2d({
      inputShape: [28, 28, 1], filters: 4, kernelSize: 3, strides: 2, activation: 'relu',
      kernelInitializer: tf.initializers.glorotUniform({seed: 1}),
    }),
    tf.layers.flatten(),
    dense(tf, 10, 2, {activation: 'softmax'}),
  ]});
}
