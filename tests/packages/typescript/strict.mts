// Only compiled, and the declarations of the package with it.

import {track, type Frame, type Left, type Options, type TensorLedger} from 'tensorledger';
import 'tensorledger/mocha';
import 'tensorledger/node-test';
import type {Reading} from 'tensorledger/page';

export type Named = [Frame, Left, Options, TensorLedger, Reading];
export const ledger: TensorLedger & Disposable = track();
