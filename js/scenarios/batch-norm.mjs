// Training replaces the moving averages of batch normalization; the old ones are to go at once.
export default async function* ({models, data, release}) {
  let model = models.normalized();
  yield 'created';
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  model = null;
  await release();
  yield 'released';
}
