// A process with a socket on descriptor 3, seen from the harness's side.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';

export class Peer {
  #pending = Buffer.alloc(0);
  /** @type {any[]} */
  #received = [];
  /** @type {(() => void) | undefined} */
  #wake;
  printed = '';

  /** @param {string[]} command  what Node.js is started with */
  constructor(command) {
    this.process = spawn(process.execPath, command, {stdio: ['ignore', 'pipe', 'pipe', 'pipe']});
    this.socket = /** @type {import('node:net').Socket} */ (this.process.stdio[3]);
    this.socket.on('data', chunk => {
      this.#pending = Buffer.concat([this.#pending, chunk]);
      for (let end = this.#pending.indexOf(10); end >= 0; end = this.#pending.indexOf(10)) {
        this.#received.push(JSON.parse(this.#pending.subarray(0, end).toString()));
        this.#pending = this.#pending.subarray(end + 1);
      }
      this.#wake?.();
    });
    // How a process ends is told by `ended`; that it left its socket unread is no news then.
    this.socket.on('error', () => {});
    for (const output of [this.process.stdout, this.process.stderr]) {
      output?.on('data', chunk => {
        this.printed += chunk;
      });
    }
    this.ended = new Promise(resolve => this.process.on('close', (status, signal) => {
      resolve(signal ?? status);
      this.#wake?.();
    }));
  }

  /** @param {string | Buffer} bytes */
  write(bytes) {
    this.socket.write(bytes);
  }

  /** @param {object} message */
  send(message) {
    this.write(JSON.stringify(message) + '\n');
  }

  /** The next message; fails where the process ends without one. */
  async receive() {
    while (!this.#received.length) {
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        await this.ended;
        if (!this.#received.length) assert.fail(`it ended without an answer, and printed: ${this.printed}`);
        break;
      }
      await new Promise(resolve => {
        this.#wake = () => resolve(undefined);
      });
    }
    return this.#received.shift();
  }

  /** Hangs up; tells how the process ends. */
  async hangUp() {
    this.socket.end();
    return this.ended;
  }

  /** What had been sent when the process ended, and was not received yet. */
  get rest() {
    return this.#received;
  }

  stop() {
    this.process.kill('SIGKILL');
  }
}
