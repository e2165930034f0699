// Compiled and then run: what CommonJS gets.

import tensorledger = require('tensorledger');
import tf = require('@tensorflow/tfjs');

const ledger = tensorledger.track(tf);
const a = tf.ones([2, 2]);
const left: number[] = ledger.live().map(({bytes}) => bytes ?? 0);
ledger[Symbol.dispose]();
a.dispose();
console.log(JSON.stringify({left}));
