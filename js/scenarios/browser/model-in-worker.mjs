// A model lives in a web worker: made, asked for a prediction and released there, and then the worker is terminated. What the
// checkpoints read is the worker's ledger with the page's.
import {watchWorker} from '../../page/remote.mjs';

export default async function* ({target, scripts, also}) {
  const worker = new Worker(new URL('classifier.worker.js', import.meta.url));
  const ledger = watchWorker(worker);
  const ask = asker(worker);
  let forget = () => {};
  try {
    await ask('start', {scripts, backend: target.backend});
    forget = also(() => ledger.read());
    yield 'started';
    await ask('create');
    yield 'created';
    await ask('predict');
    yield 'predicted';
    await ask('release');
    yield 'released';
  } finally {
    forget();
    ledger.stop();
    worker.terminate();
  }
}

/** @param {Worker} worker */
function asker(worker) {
  return (step, how = {}) => new Promise((resolve, reject) => {
    const heard = ({data}) => {
      if (data?.step !== step) return;
      worker.removeEventListener('message', heard);
      if (data.error === undefined) resolve();
      else reject(new Error(`in the worker: ${data.error}`));
    };
    worker.addEventListener('message', heard);
    worker.addEventListener('error', event => reject(new Error(`in the worker: ${event.message}`)));
    worker.postMessage({...how, step});
  });
}
