// What is tested: code that forgets to dispose of something.

import * as tf from '@tensorflow/tfjs';

export function leaky() {
  const a = tf.ones([4, 4]);
  const y = a.matMul(a); // LINE leaky
  a.dispose();
  return y.size;
}

export const tidy = () => tf.tidy(() => tf.ones([4, 4]).sum().dataSync()[0]);
