// What is tested: code that forgets to dispose of something.

const tf = require('@tensorflow/tfjs');

exports.leaky = () => {
  const a = tf.ones([4, 4]);
  const y = a.matMul(a); // LINE leaky
  a.dispose();
  return y.size;
};

exports.tidy = () => tf.tidy(() => tf.ones([4, 4]).sum().dataSync()[0]);
