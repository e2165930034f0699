// Whether models have a dispose(), before any is made.
export default async function* ({tf}) {
  yield typeof (tf.LayersModel ?? tf.Model).prototype.dispose === 'function' ? 'there' : 'not there';
}
