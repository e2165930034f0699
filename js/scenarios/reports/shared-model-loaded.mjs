// tensorflow/tfjs#8471: a model that calls a smaller one twice is saved, loaded and disposed of.
let artifacts;

export async function prepare({tf, models}) {
  const model = models.make(() => {
    const inner = tf.sequential({layers: [tf.layers.dense({inputShape: [4], units: 4})]});
    const inputs = [tf.input({shape: [4]}), tf.input({shape: [4]})];
    return tf.model({inputs, outputs: inputs.map(input => inner.apply(input))});
  });
  await model.save({save: async saved => {
    artifacts = saved;
    return {modelArtifactsInfo: {dateSaved: new Date(), modelTopologyType: 'JSON'}};
  }});
}

export default async function* ({models, release}) {
  await models.load({load: async () => artifacts});
  yield 'loaded';
  await release();
  yield 'released';
}
