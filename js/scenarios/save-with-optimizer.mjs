// Saving a trained model with its optimizer reads the weights, and leaves nothing of its own.
export default async function* ({tf, models, data, release}) {
  let model = models.narrow();
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy'});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  yield 'trained';
  await model.save(tf.io.withSaveHandler(async () => ({modelArtifactsInfo: {dateSaved: new Date()}})), {includeOptimizer: true});
  yield 'saved';
  model = null;
  await release();
  yield 'released';
}
