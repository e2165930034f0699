import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {RECIPES, defaultRecipe, whyNot} from '../../js/lifecycle/recipes.mjs';
import {classifier} from '../../js/models/classifier.mjs';
import {makeData} from '../../js/models/data.mjs';
import {ledger, tf} from './tfjs.mjs';

const {classifier: data} = makeData(tf);

/** A model that was trained: 4 weights, 2 scalars and 8 slots of the optimizer. */
async function trained() {
  const model = classifier(tf);
  model.compile({optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy']});
  await model.fit(data.x, data.y, {batchSize: 8, epochs: 1, verbose: 0});
  return model;
}

for (const [name, left] of /** @type {[string, number][]} */ ([
  ['dispose', 0], ['walk-weights', 2 + 8], ['walk-values', 2 + 8], ['drop-reference', 4 + 2 + 8], ['complete', 0],
])) {
  test(`of two trained models, "${name}" leaves ${left} tensors each`, async () => {
    const before = ledger.size;
    const held = [await trained(), await trained()];
    assert.equal(ledger.size, before + 2 * 14);
    RECIPES[name].release?.({tf, held});
    assert.equal(ledger.size, before + 2 * left);
    assert.equal(tf.memory().numTensors, ledger.size);
  });
}

test('"tidy" takes what was made in it and leaves the weights', () => {
  const before = ledger.size;
  const body = () => {
    const prediction = classifier(tf).predict(data.x);
    assert.ok(ledger.size > before + 4);
    return prediction;
  };
  assert.equal(RECIPES.tidy.around?.(tf, body), undefined, 'a tidy would keep what is returned');
  assert.equal(ledger.size, before + 4);
});

test('"dispose-variables" takes every variable, whosever it is', async () => {
  const before = ledger.size;
  const held = [await trained()];
  const mine = tf.variable(tf.scalar(1)), other = tf.scalar(1);
  RECIPES['dispose-variables'].release?.({tf, held});
  assert.ok(mine.isDisposed || !(mine.id in tf.engine().state.registeredVariables));
  assert.ok(ledger.size <= before + 1 + 2, 'the scalar, and what of the optimizer is no variable');
  other.dispose();
});

test('"engine-scope" takes what was made in it and leaves the weights, waiting for what is asynchronous', async () => {
  const before = ledger.size;
  await RECIPES['engine-scope'].around?.(tf, async () => {
    const model = classifier(tf);
    await null;
    model.predict(data.x);
    assert.ok(ledger.size > before + 4);
  });
  assert.equal(ledger.size, before + 4);
  await assert.rejects(async () => RECIPES['engine-scope'].around?.(tf, () => {
    throw new Error('inside');
  }), /inside/);
  assert.equal(tf.engine().state.scopeStack.length, 0, 'the scope is closed where it throws');
});

test('the default is dispose, or walk-values where a release has no dispose', () => {
  assert.equal(defaultRecipe(tf), 'dispose');
  for (const old of [{Model: class {}}, {LayersModel: class {}}]) assert.equal(defaultRecipe(old), 'walk-values');
});

test('a recipe that is not there is told, with those that are', () => {
  for (const name of ['nothing', 'toString', '__proto__', '']) {
    assert.equal(whyNot(name, () => {}), 'there is none of this name in JavaScript, only ' + Object.keys(RECIPES).join(', '));
  }
});

test('a recipe that wraps says why it does not apply to a scenario', () => {
  const plain = () => {}, asynchronous = async () => {};
  const generator = function* () {}, asynchronousGenerator = async function* () {};
  for (const scenario of [plain, asynchronous, generator, asynchronousGenerator]) assert.equal(whyNot('dispose', scenario), null);
  assert.equal(whyNot('tidy', plain), null);
  assert.equal(whyNot('tidy', asynchronous), 'it wraps a whole synchronous function, and this scenario is asynchronous');
  assert.equal(whyNot('tidy', generator), 'it wraps a whole synchronous function, and this scenario is a generator');

  RECIPES['of any function'] = {around: () => {}};
  try {
    assert.equal(whyNot('of any function', plain), null);
    assert.equal(whyNot('of any function', asynchronous), null);
    assert.equal(whyNot('of any function', generator), 'it wraps a whole function, and this scenario is a generator');
    assert.equal(whyNot('of any function', asynchronousGenerator), 'it wraps a whole function, and this scenario is a generator');
  } finally {
    delete RECIPES['of any function'];
  }
});

test('the names of recipes are those that the protocol knows', () => {
  const schema = JSON.parse(readFileSync(new URL('../../js/protocol/schema.json', import.meta.url), 'utf8'));
  assert.deepEqual(Object.keys(RECIPES), schema.recipes);
});
