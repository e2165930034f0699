// Compiled and then run: `using`, and what an ES module gets.

import {TensorLeakError, expectNoLeaks, makeModel, releaseModel, track} from 'tensorledger';
import {watchWorker, type Reading} from 'tensorledger/page';
import {holdAllTests, noLeaks} from 'tensorledger/node-test';
import {mochaHooks} from 'tensorledger/mocha';
import * as tf from '@tensorflow/tfjs';

function count(): number {
  using ledger = track(tf);
  const bytes: number | null = ledger.bytes;
  for (const {count: many, shape, stack} of ledger.live()) console.log(many, shape.length, stack[0]?.line, bytes);
  return ledger.count;
}

const error: unknown = await expectNoLeaks(() => { tf.ones([4]); }, {limit: 0, ignore: [/nothing/]}).catch((thrown: unknown) => thrown);
const left: number = error instanceof TensorLeakError ? error.count : NaN;
const handed: string = await expectNoLeaks(async () => 'what is returned');
const model = makeModel(tf, () => tf.sequential({layers: [tf.layers.dense({inputShape: [2], units: 1})]}));
const released: number = releaseModel(model).tensors;
const read: (worker: Worker) => Promise<Reading> = worker => watchWorker(worker).read();
console.log(JSON.stringify({count: count(), left, handed, released, types: [holdAllTests, noLeaks, mochaHooks, read].map(one => typeof one)}));

// @ts-expect-error there is no such option
void (() => expectNoLeaks(() => 1, {limits: 1}));
// @ts-expect-error it takes a function
void (() => expectNoLeaks(tf.ones([1])));
