// tensorflow/tfjs#7640: leaks on purpose, for a chain of operations makes a tensor that no name is given to.
export default async function* ({tf}) {
  const image = tf.ones([2, 3, 4]);
  const turned = image.transpose([2, 0, 1]).toInt();
  image.dispose();
  turned.dispose();
  yield 'disposed';
}
