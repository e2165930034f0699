// An optimizer that the caller made is the caller's: it outlives the model, and has a dispose of its own.
export default async function* ({tf, models, data, release}) {
  const optimizer = tf.train.adam(0.001);
  const model = models.narrow();
  model.compile({optimizer, loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  await release();
  yield 'released';
  optimizer.dispose();
  yield 'optimizer disposed';
}
