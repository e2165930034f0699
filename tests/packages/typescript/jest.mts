// Only compiled: the matcher is one of Jest's, of those that are global and of those that are imported.

import {holdAllTests} from 'tensorledger/jest';
import * as globals from '@jest/globals';

holdAllTests({limit: 1});
await expect(() => 1).toReleaseAllTensors();
await expect(() => 1).not.toReleaseAllTensors({limit: 2, ignore: ['legacy']});
await globals.expect(() => 1).toReleaseAllTensors();
// @ts-expect-error there is no such option
await expect(() => 1).toReleaseAllTensors({limits: 2});
// @ts-expect-error there is no such option
await globals.expect(() => 1).toReleaseAllTensors({limits: 2});
