// tensorflow/tfjs#5324, #1186, #1120: a graph with an operation of which nobody knows beforehand how much comes out.
const float = {type: 'DT_FLOAT'};
const shape = (...sizes) => ({shape: {shape: {dim: sizes.map(size => ({size: String(size)}))}}});

const graph = {
  node: [
    {name: 'x', op: 'Placeholder', input: [], attr: {dtype: float, ...shape(4)}},
    {name: 'zero', op: 'Const', input: [], attr: {dtype: float, value: {tensor: {dtype: 'DT_FLOAT', tensorShape: {}}}}},
    {name: 'positive', op: 'Greater', input: ['x', 'zero'], attr: {T: float}},
    {name: 'places', op: 'Where', input: ['positive'], attr: {}},
  ],
  versions: {producer: 1},
};

let model, x;

export async function prepare({tf}) {
  model = await tf.loadGraphModel({load: async () => ({
    modelTopology: graph,
    weightSpecs: [{name: 'zero', shape: [], dtype: 'float32'}],
    weightData: new Float32Array(1).buffer,
  })});
  x = tf.tensor1d([1, -1, 2, -2]);
}

export default async function* () {
  const places = await model.executeAsync({x}, 'places');
  yield 'executed';
  places.dispose();
  yield 'disposed';
}
