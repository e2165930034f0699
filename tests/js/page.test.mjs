// The ledger of a worker, read from who started it; and a worker that is gone.

import assert from 'node:assert/strict';
import test from 'node:test';
import {Worker} from 'node:worker_threads';

import {WorkerGone, watchWorker} from '../../js/page/page.mjs';

const start = () => new Worker(new URL('fixtures/reporting-worker.mjs', import.meta.url));

test('a worker\'s ledger is read, with the line', async () => {
  const worker = start();
  const watched = watchWorker(worker);
  assert.deepEqual((({count, bytes}) => [count, bytes])(await watched.read()), [0, 0]);
  worker.postMessage('leak');
  const {count, bytes, live, report} = await watched.read();
  assert.deepEqual([count, bytes, live[0].shape], [1, 36, [3, 3]]);
  assert.match(report, /reporting-worker\.mjs:\d+/);
  await worker.terminate();
  const error = await watched.read().then(() => assert.fail(), gone => gone);
  assert.ok(error instanceof WorkerGone);
  assert.match(error.message, /^the worker's ledger cannot be read: it has ended, with exit code 1; when it last told, 1 tensor, 36 bytes, is left/);
  assert.equal(error.last?.count, 1);
  watched.stop();
});

for (const [how, told] of /** @type {[string, RegExp][]} */ ([
  ['throw', /it failed: broken; it has told nothing before$/], ['hang', /no answer within 2000 ms: it was terminated, is busy, or has not called reportTo/],
])) {
  test(`a worker that is to ${how} while it is asked is told of`, async () => {
    const worker = start();
    const watched = watchWorker(worker, {timeout: 2000});
    assert.equal(worker.listenerCount('error'), 0, 'what nobody else listens to stays uncaught');
    worker.on('error', () => {});
    worker.postMessage(how);
    await assert.rejects(watched.read(), told);
    watched.stop();
    await assert.rejects(watched.read(), WorkerGone);
    await worker.terminate();
  });
}

test('what others post, and is no reading, is none', async () => {
  const {port1, port2} = new MessageChannel();
  const watched = watchWorker(port1, {timeout: 200});
  const read = watched.read();
  for (const reading of [undefined, null, {}, {count: 1}]) port2.postMessage({type: 'tensorledger/told', id: 1, reading});
  await assert.rejects(read, /no answer within 200 ms.*it has told nothing before/);
  watched.stop();
  port1.close();
});
