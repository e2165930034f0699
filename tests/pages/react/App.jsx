import * as tf from '@tensorflow/tfjs';
import {useState} from 'react';

import {Classifier} from './Classifier';

const PIXELS = [0, 0.5, 1, 0.25];
tf.setBackend('cpu');

export function App() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button id="toggle" onClick={() => setIsOpen(!isOpen)}>{isOpen ? 'close' : 'open'}</button>
      {isOpen ? <Classifier pixels={PIXELS} /> : null}
    </>
  );
}
