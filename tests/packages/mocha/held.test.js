const assert = require('node:assert');
const tf = require('@tensorflow/tfjs');

const {leaky, tidy} = require('./model');

let older, each, inner;
before(() => {
  older = tf.ones([5]);
});
beforeEach(() => {
  each = tf.ones([6]);
});
afterEach(() => {
  each.dispose();
});

describe('held', () => {
  afterEach(() => {
    inner?.dispose();
  });

  it('passes', () => {
    inner = tf.tidy(() => older.sum().add(each.sum()));
    assert.equal(inner.dataSync()[0], 11);
  });

  it('held: leaky', () => {
    leaky();
  });

  it('own failure first: leaky', () => {
    leaky();
    assert.equal(1, 2);
  });

  it('passes after those', () => {
    tidy();
  });
});
