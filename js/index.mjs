// The npm package.

export {makeModel, releaseModel} from './release/release.mjs';
export {TensorLeakError, expectNoLeaks} from './tracking/hold.mjs';
export {track} from './tracking/track.mjs';

/**
 * @typedef {import('./tracking/hold.mjs').Options} Options
 * @typedef {import('./tracking/track.mjs').TensorLedger} TensorLedger
 * @typedef {import('./tracking/track.mjs').Left} Left
 * @typedef {import('./tracking/places.mjs').Frame} Frame
 */
