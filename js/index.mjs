// The npm package.

export {makeModel, releaseModel} from './release/release.mjs';
