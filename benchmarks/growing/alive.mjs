// Makes `count` tensors, has them alive at a checkpoint, and disposes them.
export default async function* ({tf, params: {count}}) {
  const made = Array.from({length: count}, (_, i) => tf.scalar(i));
  yield 'alive';
  tf.dispose(made);
}
