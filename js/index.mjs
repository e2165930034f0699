// The npm package.

export {makeModel, releaseModel} from './release/release.mjs';
export {TensorLeakError, expectNoLeaks} from './tracking/hold.mjs';
export {track} from './tracking/track.mjs';
