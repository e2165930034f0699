// tensorflow/tfjs#5980: gradients of a variable are taken, and the variable is changed, inside a tidy.
let weight;

export async function prepare({tf}) {
  weight = tf.variable(tf.scalar(2), true);
}

export default async function* ({tf}) {
  tf.tidy(() => {
    let sum = tf.scalar(0);
    for (let sample = 0; sample < 3; sample += 1) {
      const {value, grads} = tf.variableGrads(() => weight.mul(weight).sum(), [weight]);
      sum = sum.add(grads[weight.name].mul(value));
    }
    weight.assign(weight.sub(sum.mul(tf.scalar(0.001))));
  });
  yield 'stepped';
}
