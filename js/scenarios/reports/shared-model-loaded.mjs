// tensorflow/tfjs#8471: a model that calls a smaller one twice is saved, loaded and disposed of.
const twice = tf => {
  const inner = tf.sequential({layers: [tf.layers.dense({inputShape: [4], units: 4})]});
  const inputs = [tf.input({shape: [4]}), tf.input({shape: [4]})];
  return tf.model({inputs, outputs: inputs.map(input => inner.apply(input))});
};

export default async function* ({tf, models, release}) {
  const model = twice(tf);
  yield 'made';
  let artifacts;
  await model.save({save: async saved => {
    artifacts = saved;
    return {modelArtifactsInfo: {dateSaved: new Date(), modelTopologyType: 'JSON'}};
  }});
  for (const layer of model.layers) for (const weight of layer.weights) weight.val.dispose();
  yield 'saved, and its weights disposed of';
  await models.load({load: async () => artifacts});
  yield 'loaded';
  await release();
  yield 'released';
}
