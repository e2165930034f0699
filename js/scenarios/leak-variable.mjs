// Leaks on purpose, as a model that is dropped does: a variable, which the engine keeps by its name.
export default async function* ({tf}) {
  tf.variable(tf.ones([4, 4]));
  yield 'made';
}
