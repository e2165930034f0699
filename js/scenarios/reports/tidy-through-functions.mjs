// tensorflow/tfjs#4081: tensors are made in functions that a tidy's function calls, some calls deep.
export default async function* ({tf}) {
  const points = () => tf.tensor2d([[1, 2], [3, 4]]);
  const moved = () => points().add(tf.scalar(1));
  const far = () => moved().square().sum();
  tf.tidy(() => {
    far();
  });
  yield 'tidied';
}
