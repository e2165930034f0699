import assert from 'node:assert/strict';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {Peer} from './peer.mjs';

const ECHO = fileURLToPath(new URL('fixtures/echo.mjs', import.meta.url));

/** @param {(peer: Peer) => Promise<void>} body */
async function withEcho(body) {
  const peer = new Peer([ECHO]);
  try {
    await body(peer);
  } finally {
    peer.stop();
  }
}

test('messages come one by one, however the bytes are cut', () => withEcho(async peer => {
  // Three messages in one write, then one in pieces, cut inside a letter of two bytes.
  peer.write('{"n":1}\n{"n":2}\n{"n":3}\n');
  for (const n of [1, 2, 3]) assert.deepEqual(await peer.receive(), {echo: {n}});
  const bytes = Buffer.from('{"text":"é"}\n');
  const cut = bytes.indexOf(0xc3) + 1;
  for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut, -1), bytes.subarray(-1)]) {
    peer.write(piece);
    await new Promise(resolve => setTimeout(resolve, 30));
  }
  assert.deepEqual(await peer.receive(), {echo: {text: 'é'}});
}));

test('a message larger than any buffer arrives whole, both ways', () => withEcho(async peer => {
  const text = 'naïve € 😀 '.repeat(400_000);
  peer.send({text});
  peer.send({after: 1});
  const {echo} = await peer.receive();
  assert.equal(echo.text.length, text.length);
  assert.ok(echo.text === text);
  assert.deepEqual(await peer.receive(), {echo: {after: 1}});
}));

test('a message that waits while the other side is busy is not lost', () => withEcho(async peer => {
  peer.send({slow: 100});
  peer.send({n: 2});
  assert.deepEqual([await peer.receive(), await peer.receive()], [{echo: {slow: 100}}, {echo: {n: 2}}]);
}));

test('when the other side hangs up there is no next message, and half a one is none', () => withEcho(async peer => {
  peer.send({n: 1});
  peer.write('{"half":');
  assert.deepEqual(await peer.receive(), {echo: {n: 1}});
  assert.equal(await peer.hangUp(), 0);
  assert.deepEqual(peer.rest, [{hung_up: true}]);
  assert.equal(peer.printed, '');
}));
