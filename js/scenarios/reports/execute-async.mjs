// tensorflow/tfjs#5324, #1186, #1120: a graph that branches, and of which nobody knows beforehand how much comes out.
const float = {type: 'DT_FLOAT'};
const constant = (name, dtype) => ({name, op: 'Const', input: [], attr: {dtype: {type: dtype}, value: {tensor: {dtype}}}});
const T = {T: float};

const graph = {
  node: [
    {name: 'x', op: 'Placeholder', input: [], attr: {dtype: float, shape: {shape: {dim: [{size: '4'}]}}}},
    constant('zero', 'DT_FLOAT'),
    constant('which', 'DT_BOOL'),
    {name: 'branches', op: 'Switch', input: ['x', 'which'], attr: T},
    {name: 'negated', op: 'Neg', input: ['branches'], attr: T},
    {name: 'doubled', op: 'Add', input: ['branches:1', 'branches:1'], attr: T},
    {name: 'joined', op: 'Merge', input: ['negated', 'doubled'], attr: {...T, N: {i: '2'}}},
    {name: 'positive', op: 'Greater', input: ['joined', 'zero'], attr: T},
    {name: 'places', op: 'Where', input: ['positive'], attr: {}},
  ],
  versions: {producer: 1},
};
const artifacts = {
  modelTopology: graph,
  weightSpecs: [{name: 'zero', shape: [], dtype: 'float32'}, {name: 'which', shape: [], dtype: 'bool'}],
  weightData: new Uint8Array([0, 0, 0, 0, 1]).buffer,
};

export default async function* ({tf}) {
  const model = await tf.loadGraphModel({load: async () => artifacts});
  const x = tf.tensor1d([1, -1, 2, -2]);
  yield 'loaded';
  const places = await model.executeAsync({x}, 'places');
  yield 'executed';
  places.dispose();
  x.dispose();
  model.dispose();
  yield 'disposed';
}
