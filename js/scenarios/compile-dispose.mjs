// Compiling makes an optimizer, which owns tensors of its own before the first step of training.
export default async function* ({models, release}) {
  let model = models.classifier();
  yield 'created';
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  yield 'compiled';
  model = null;
  await release();
  yield 'released';
}
