// The worker's end of the channel: lines of JSON over descriptor 3, which nothing that a scenario prints can reach.
// Reading and writing block: a worker has nothing else to do while it waits, and what it sent has really left it when
// a scenario then hangs or kills the process.

import {readSync, writeSync} from 'node:fs';

import {NoMessage, parsed} from '../protocol/message.mjs';

const DESCRIPTOR = 3;

export class Channel {
  #pending = Buffer.alloc(0);
  #utf8 = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

  /** @param {object} message */
  send(message) {
    let bytes = Buffer.from(JSON.stringify(message) + '\n');
    while (bytes.length) bytes = bytes.subarray(writeSync(DESCRIPTOR, bytes));
  }

  /**
   * The next message; undefined when the harness has gone. Throws NoMessage, and goes on with the line after.
   * @returns {any}
   */
  receive() {
    for (;;) {
      const end = this.#pending.indexOf(10);
      if (end >= 0) {
        const line = this.#pending.subarray(0, end);
        this.#pending = this.#pending.subarray(end + 1);
        return parsed(this.#text(line));
      }
      const chunk = Buffer.alloc(65536);
      const count = readSync(DESCRIPTOR, chunk, 0, chunk.length, null);
      if (count === 0) return undefined;
      this.#pending = Buffer.concat([this.#pending, chunk.subarray(0, count)]);
    }
  }

  /** @param {Uint8Array} line */
  #text(line) {
    try {
      return this.#utf8.decode(line);
    } catch {
      throw new NoMessage('not a message: it is no UTF-8');
    }
  }
}
