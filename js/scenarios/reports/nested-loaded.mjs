// tensorflow/tfjs#1865 and #5034: a model that has another inside is saved, loaded, used and disposed of.
let artifacts;

export async function prepare({models}) {
  await models.nested().save({save: async saved => {
    artifacts = saved;
    return {modelArtifactsInfo: {dateSaved: new Date(), modelTopologyType: 'JSON'}};
  }});
}

export default async function* ({models, data, release}) {
  const model = await models.load({load: async () => artifacts});
  model.predict(data.x).dispose();
  yield 'predicted';
  await release();
  yield 'released';
}
