// Does a tidy keep a tensor that a variable outside still refers to? It does not: only what is returned or kept.
export default async function* ({tf}) {
  let outside = null;
  tf.tidy(() => {
    outside = tf.ones([4, 4]);
  });
  yield 'tidied';
  outside.dataSync();
  yield 'read';
}
