// Asynchronous code between startScope and endScope: another scope begins meanwhile and is still open when the first one
// ends. Scopes are a stack, so the first end closes the second scope.
export default async function* ({tf}) {
  const engine = tf.engine?.() ?? tf.ENV.engine;
  const task = async (after) => {
    engine.startScope();
    tf.ones([2]);
    await after;
    tf.ones([3]);
    engine.endScope();
  };
  let first, second;
  const firstTask = task(new Promise(resolve => {
    first = resolve;
  }));
  const secondTask = task(new Promise(resolve => {
    second = resolve;
  }));
  yield 'both open';
  first();
  await firstTask;
  yield 'one ended';
  second();
  await secondTask;
  yield 'both ended';
}
