// Tries tfjs-node's addon, without tfjs-node: node smoke.mjs FILE. It multiplies a matrix by itself, and counts handles.
// Exit status 1 where what comes out is wrong, which is then said on the standard error.

import {createRequire} from 'node:module';

/** @param {string} what @param {unknown} found @param {unknown} expected */
function hold(what, found, expected) {
  if (String(found) === String(expected)) return;
  console.error(`${what}: ${found}, where ${expected} is right`);
  process.exit(1);
}

const binding = createRequire(import.meta.url)(process.argv[2]);
const {TF_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE} = binding;

hold('handles at the start', binding.handlesAlive(), 0);
const matrix = binding.createTensor([2, 2], TF_FLOAT, Float32Array.of(1, 2, 3, 4));
const attributes = [
  {name: 'transpose_a', type: TF_ATTR_BOOL, value: false},
  {name: 'transpose_b', type: TF_ATTR_BOOL, value: false},
  {name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT},
];
const [product] = binding.executeOp('MatMul', attributes, [matrix, matrix], 1);
hold('a product of matrices', binding.tensorDataSync(product.id), [7, 10, 15, 22]);
hold('handles of two tensors', binding.handlesAlive(), 2);
binding.deleteTensor(matrix);
binding.deleteTensor(product.id);
hold('handles after both are deleted', binding.handlesAlive(), 0);
