import * as tf from '@tensorflow/tfjs';
import {useEffect, useState} from 'react';

/** Leaks a model and a prediction each time it is shown, or nothing: LEAKS is what the bundler says. */
export function Classifier({pixels}) {
  const [best, setBest] = useState(null);
  useEffect(() => {
    const model = tf.sequential({layers: [tf.layers.dense({inputShape: [4], units: 3})]});
    const x = tf.tensor2d([pixels]);
    const scores = model.predict(x);
    setBest(scores.dataSync().indexOf(Math.max(...scores.dataSync())));
    x.dispose();
    if (!LEAKS) scores.dispose();
    return () => {
      if (!LEAKS) model.dispose();
    };
  }, [pixels]);
  return best === null ? null : <p id="best">class {best}</p>;
}
