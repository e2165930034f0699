// What the matcher adds to Vitest's types. Vitest's own interface of matchers has other type parameters in each of its major
// versions; Chai's, which it extends in all of them, has none.

import type {Options} from '../tracking/hold.mjs';

declare global {
  namespace Chai {
    interface Assertion {
      /** Passes where the function releases all tensors that it makes. */
      toReleaseAllTensors(options?: Options): void | Promise<void>;
    }
  }
}
