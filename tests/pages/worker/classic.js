/* global importScripts, self, tf */
importScripts('../tf-4.22.0.js');

const leaks = new URL(self.location.href).searchParams.get('leaks') === 'yes';
const ready = tf.setBackend('cpu');

self.onmessage = async () => {
  await ready;
  const x = tf.ones([2, 8]);
  const y = x.square();
  self.postMessage(await y.data());
  tf.dispose(leaks ? x : [x, y]);
};
