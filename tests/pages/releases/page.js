/* global document, old, tf */
let rounds = 0;
const leaks = new URL(document.location.href).searchParams.get('leaks');
tf.setBackend('cpu');

document.getElementById('go').addEventListener('click', () => {
  const a = old.ones([2, 2]);
  const b = tf.ones([3, 3]), c = tf.ones([3, 3]);
  if (leaks === 'none') old.dispose(a);
  if (leaks !== 'both') tf.dispose([b, c]);
  rounds += 1;
  document.title = `round ${rounds}`;
});
