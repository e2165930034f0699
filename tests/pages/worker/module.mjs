import * as tf from '@tensorflow/tfjs';

const ready = tf.setBackend('cpu');

self.onmessage = async () => {
  await ready;
  const x = tf.ones([3, 5]);
  const y = x.square();
  self.postMessage(await y.data());
  tf.dispose(LEAKS ? x : [x, y]);
};
