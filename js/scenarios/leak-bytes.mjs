// Leaks on purpose, bytes without tensors: one tensor is kept, and each cycle replaces it by a larger one.
let kept = null, rows = 0;

export default async function* ({tf}) {
  const before = kept;
  rows += 1;
  kept = tf.ones([rows, 64]);
  before?.dispose();
  yield 'replaced';
}
