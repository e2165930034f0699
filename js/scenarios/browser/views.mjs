// A page opens a view that loads a model and shows what it predicts, and closes it, which releases the model: 20 times.
const VIEWS = 20;

export default async function* ({models, data, release}) {
  const address = await models.address('classifier');
  for (let number = 1; number <= VIEWS; number += 1) {
    await openAndClose(models, data, release, address);
    if (number === 1) yield 'closed once';
  }
  yield 'closed 20 times';
}

async function openAndClose(models, data, release, address) {
  const view = document.createElement('section');
  document.body.append(view);
  const model = await models.loadFrom(address);
  const prediction = model.predict(data.x);
  view.textContent = Array.from(await prediction.data(), value => value.toFixed(3)).join(' ');
  prediction.dispose();
  await release();
  view.remove();
}
