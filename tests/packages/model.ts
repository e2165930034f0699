// What is tested: code that forgets to dispose of something, here and there. The lines above each marked one are gone once it is
// compiled, so that only who maps places back names the right one.

import * as tf from '@tensorflow/tfjs';

export interface Prediction {
  label: string;
  score: number;
}

type Scores = {
  of: Prediction[];
};

export function leaky(): void {
  const a: tf.Tensor2D = tf.ones([4, 4]);
  const y = a.matMul(a); // LINE leaky
  a.dispose();
  const scores: Scores | null = null;
  if (scores !== null) y.print();
}

export function tidy(): number {
  return tf.tidy(() => tf.ones([4, 4]).sum().dataSync()[0]);
}

export async function leakyLater(): Promise<number> {
  const a = tf.ones([2]);
  await a.data();
  const b = a.square(); // LINE leakyLater
  a.dispose();
  return b.size;
}

export function square(): tf.Tensor {
  const a = tf.ones([3]);
  const b = a.square(); // LINE square
  a.dispose();
  return b;
}
