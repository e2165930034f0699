// Leaks on purpose what no tensor shows: a handle of TensorFlow's in each cycle, made behind tfjs-node's back.
export default async function* ({tf}) {
  const {binding} = tf.backend();
  binding.createTensor([2], binding.TF_FLOAT, Float32Array.of(1, 2));
  yield 'made';
}
