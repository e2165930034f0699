// A model is saved to memory and loaded again: there are two models then, and each is released.
export default async function* ({models, release}) {
  let model = models.classifier();
  let artifacts;
  await model.save({
    async save(saved) {
      artifacts = saved;
      return {modelArtifactsInfo: {dateSaved: new Date(), modelTopologyType: 'JSON'}};
    },
  });
  yield 'saved';
  await models.load({load: async () => artifacts});
  yield 'loaded';
  model = null;
  artifacts = null;
  await release();
  yield 'released';
}
