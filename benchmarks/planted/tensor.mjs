// Forgets to dispose a tensor of `size` bytes in every `every`th cycle. 0: its twin, which forgets none.
let cycle = 0;

export default async function* ({tf, params: {size, every}}) {
  const made = tf.zeros([Math.max(size, 4) / 4]);
  yield 'made';
  cycle += 1;
  if (!size || cycle % every) made.dispose();
}
