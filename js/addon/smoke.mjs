// Tries tfjs-node's addon, without tfjs-node: node smoke.mjs FILE. It multiplies a matrix by itself, and counts handles.
// Exit status 1 where what comes out is wrong; what is wrong is on the standard error.

import assert from 'node:assert/strict';
import {createRequire} from 'node:module';

const binding = createRequire(import.meta.url)(process.argv[2]);
const {TF_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE} = binding;

assert.equal(binding.handlesAlive(), 0, 'handles are there at the start');
const matrix = binding.createTensor([2, 2], TF_FLOAT, Float32Array.of(1, 2, 3, 4));
const attributes = [
  {name: 'transpose_a', type: TF_ATTR_BOOL, value: false},
  {name: 'transpose_b', type: TF_ATTR_BOOL, value: false},
  {name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT},
];
const [product] = binding.executeOp('MatMul', attributes, [matrix, matrix], 1);
assert.deepEqual([...binding.tensorDataSync(product.id)], [7, 10, 15, 22], 'a product of matrices is wrong');
assert.equal(binding.handlesAlive(), 2, 'of two tensors, there are not two handles');
binding.deleteTensor(matrix);
binding.deleteTensor(product.id);
assert.equal(binding.handlesAlive(), 0, 'handles are there that were deleted');
