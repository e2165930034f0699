// Only compiled: the matcher is one of Vitest's.

import {holdAllTests} from 'tensorledger/vitest';
import {expect} from 'vitest';

holdAllTests({limit: 1});
await expect(() => 1).toReleaseAllTensors();
await expect(() => 1).not.toReleaseAllTensors({limit: 2, ignore: ['legacy']});
// @ts-expect-error there is no such option
await expect(() => 1).toReleaseAllTensors({limits: 2});
