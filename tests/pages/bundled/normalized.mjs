import * as tf from '@tensorflow/tfjs';

/** Pixels from 0 to 1; whoever calls it has to dispose of them. */
export function normalized(pixels) {
  return tf.tidy(() => {
    const greatest = pixels.max();
    return pixels.div(greatest);
  });
}
