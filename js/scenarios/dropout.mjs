// Dropout draws random numbers in training; they are temporary.
export default async function* ({models, data, release}) {
  let model = models.dropout();
  yield 'created';
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  model = null;
  await release();
  yield 'released';
}
