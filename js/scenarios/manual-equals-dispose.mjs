// What the manual walk and model.dispose() leave behind, one after the other, of a model as made and of one trained.
async function trained({models, data}) {
  const model = models.classifier();
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  return model;
}

function walk(model) {
  for (const layer of model.layers) for (const weight of layer.weights) weight.dispose();
}

export default async function* (context) {
  const {models, held} = context;
  walk(models.classifier());
  yield 'walked';
  models.classifier().dispose();
  yield 'disposed';
  walk(await trained(context));
  yield 'trained, walked';
  (await trained(context)).dispose();
  yield 'trained, disposed';
  held.length = 0;
}
