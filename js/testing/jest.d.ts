// What the matcher adds to Jest's types: to its globals, and to what @jest/globals exports.

import type {Options} from '../tracking/hold.mjs';

interface TensorMatchers {
  /** Passes where the function releases all tensors that it makes. */
  toReleaseAllTensors(options?: Options): void | Promise<void>;
}

declare global {
  namespace jest {
    interface Matchers<R, T = {}> extends TensorMatchers {}
  }
}

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends TensorMatchers {}
}
