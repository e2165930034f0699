import * as tf from '@tensorflow/tfjs';

import {normalized} from './normalized.mjs';

const ready = tf.setBackend('webgl');
let rounds = 0;

document.getElementById('go').addEventListener('click', async () => {
  await ready;
  const pixels = tf.tensor2d(Array.from({length: 4096}, (_, index) => index), [64, 64]);
  const scaled = normalized(pixels);
  await scaled.data();
  tf.dispose(LEAKS ? pixels : [pixels, scaled]);
  rounds += 1;
  document.title = `round ${rounds}`;
});
