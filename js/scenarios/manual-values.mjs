// The same walk one step deeper: the variable behind each entry of each layer's weights.
export default async function* ({models, held}) {
  const model = models.classifier();
  yield 'created';
  for (const layer of model.layers) for (const weight of layer.weights) weight.val.dispose();
  held.length = 0;
  yield 'walked';
}
