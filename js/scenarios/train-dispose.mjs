// One batch of training adds the optimizer's slots; releasing the model is to release those too.
export default async function* ({models, data, release}) {
  let model = models.classifier();
  yield 'created';
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  yield 'compiled';
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  model = null;
  await release();
  yield 'released';
}
