// The worker of model-in-worker.mjs: a classic one, because TensorFlow.js comes as a classic script.
/* global tf, importScripts */

let model, prediction, present;

const STEPS = {
  async start({scripts, backend}) {
    importScripts(...scripts);
    // A page's script finds WebAssembly's files beside itself; a worker's has to be told.
    tf.wasm?.setWasmPaths(scripts.at(-1).replace(/[^/]*$/, ''));
    if (await tf.setBackend(backend) === false || tf.getBackend() !== backend) throw new Error(`no backend ${backend} in a worker`);
    await tf.ready?.();
    const {reportTo} = await import('../../page/remote.mjs');
    reportTo(self);
  },
  async create() {
    const {classifier} = await import('../../models/classifier.mjs');
    model = classifier(tf);
  },
  async predict() {
    const x = tf.ones([8, 784]);
    prediction = model.predict(x);
    await prediction.data();
    x.dispose();
  },
  async release() {
    prediction.dispose();
    model.dispose();
  },
};

self.addEventListener('message', async ({data}) => {
  if (!Object.hasOwn(STEPS, data?.step)) return;
  present = data.step;
  try {
    await STEPS[data.step](data);
    self.postMessage({step: data.step});
  } catch (error) {
    self.postMessage({step: data.step, error: String(error)});
  }
});

// What nobody waits for may be what a step waits for in vain.
self.addEventListener('unhandledrejection', ({reason}) => self.postMessage({step: present, error: String(reason)}));
