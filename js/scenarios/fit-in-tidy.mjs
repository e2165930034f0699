// fit is asynchronous, so a tidy around it has ended before it is done. What it leaves is what this measures.
export default async function* ({tf, models, data, release}) {
  let model = models.narrow();
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  let done;
  tf.tidy(() => {
    done = model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  });
  await done;
  yield 'trained';
  model = null;
  await release();
  yield 'released';
}
