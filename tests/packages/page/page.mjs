// A page of plain scripts: the package's, one of the shop's, TensorFlow.js minified and from elsewhere, and then the shop's cart.
// Arguments: the package's script, TensorFlow.js. Printed as JSON.

import {readFileSync} from 'node:fs';
import vm from 'node:vm';

const [script, library] = process.argv.slice(2);
const page = vm.createContext({console: {...console, warn() {}}, performance, setTimeout, TextDecoder, TextEncoder});
const run = (url, code) => vm.runInContext(code, page, {filename: url});

run('about:page', 'globalThis.window = globalThis; globalThis.location = {origin: "https://shop.example", href: "https://shop.example/"}');
run('https://shop.example/vendor/tensorledger.js', readFileSync(script, 'utf8'));
run('https://shop.example/js/app.js', 'globalThis.ledger = tensorledger.track();');
run('https://elsewhere.example/tf.min.js', readFileSync(library, 'utf8'));
const told = await run('https://shop.example/js/cart.js', `(async () => {
  await tf.setBackend('cpu');
  function cart() {
    return tf.ones([4]); // LINE cart
  }
  cart();
  const clean = await tensorledger.expectNoLeaks(() => tf.tidy(() => tf.ones([2]).dataSync()[0]));
  return {clean, count: ledger.count, report: ledger.report(), names: Object.keys(tensorledger)};
})()`);
console.log(JSON.stringify(told));
