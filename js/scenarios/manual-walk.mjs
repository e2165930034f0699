// The walk that is passed on for releases without model.dispose(): each entry of each layer's weights, dispose().
export default async function* ({models, held}) {
  const model = models.classifier();
  yield 'created';
  for (const layer of model.layers) for (const weight of layer.weights) weight.dispose();
  held.length = 0;
  yield 'walked';
}
