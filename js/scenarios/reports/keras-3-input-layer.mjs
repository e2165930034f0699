// tensorflow/tfjs#8494, #8489, #8358: a model as Keras 3 describes it, as the official converter hands it on.
const layer = (className, config) => ({class_name: className, config});
const zeros = {module: 'keras.initializers', class_name: 'Zeros', config: {}, registered_name: null};
const dtype = 'float32';

const topology = {
  keras_version: '3.8.0',
  backend: 'tensorflow',
  model_config: layer('Sequential', {
    name: 'doubled',
    layers: [
      layer('InputLayer', {name: 'input_layer', batch_shape: [null, 3], dtype, sparse: false}),
      layer('Dense', {
        name: 'out', units: 2, use_bias: true, activation: 'linear', dtype,
        kernel_initializer: zeros, bias_initializer: zeros,
      }),
    ],
  }),
};

export default async function* ({models, release}) {
  await models.load({load: async () => ({
    modelTopology: topology,
    weightSpecs: [{name: 'out/kernel', shape: [3, 2], dtype}, {name: 'out/bias', shape: [2], dtype}],
    weightData: new Float32Array(8).buffer,
  })});
  yield 'loaded';
  await release();
  yield 'released';
}
