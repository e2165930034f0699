// tensorflow/tfjs#927: fit is started inside a tidy, and is to put some of the data aside for validation.
export default async function* ({tf, models, data, release}) {
  const model = models.narrow();
  model.compile({optimizer: 'sgd', loss: 'categoricalCrossentropy'});
  let done;
  tf.tidy(() => {
    done = model.fit(data.x, data.y, {batchSize: 4, epochs: 2, validationSplit: 0.5, verbose: 0});
  });
  await done;
  yield 'trained';
  await release();
  yield 'released';
}
