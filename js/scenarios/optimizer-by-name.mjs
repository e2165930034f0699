// An optimizer that the model makes of a name is the model's, and goes with it.
export default async function* ({models, data, release}) {
  const model = models.narrow();
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  await release();
  yield 'released';
}
