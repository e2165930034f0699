const assert = require('node:assert');
const {expectNoLeaks} = require('tensorledger');
const {noLeaks} = require('tensorledger/mocha');

const {leaky, tidy} = require('./model');

describe('wrapped', () => {
  it('passes', noLeaks(() => {
    assert.equal(tidy(), 16);
  }));

  it('passes with its callback and its context', noLeaks(function(done) {
    assert.equal(typeof this.timeout, 'function');
    setImmediate(done);
  }));

  it('leaks: leaky', noLeaks(() => {
    leaky();
  }));

  it('callback: leaky', noLeaks(done => {
    leaky();
    setImmediate(done);
  }));

  it('own failure first: leaky', noLeaks(async () => {
    leaky();
    throw new RangeError('its own');
  }));

  it('expectNoLeaks: leaky', () => expectNoLeaks(leaky));

  it('may', () => expectNoLeaks(leaky, {limit: 1}));
});
