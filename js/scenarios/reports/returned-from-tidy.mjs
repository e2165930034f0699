// tensorflow/tfjs#2204: leaks on purpose, for what a tidy's function returns is the caller's, and here nobody takes it.
export default async function* ({tf}) {
  const line = () => tf.linspace(0, 1, 50);
  tf.tidy(() => line());
  yield 'tidied';
}
