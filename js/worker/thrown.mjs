// What was thrown, in the protocol's words: type, message, and the stack from the user's innermost frame on.

import {frames, fromUser} from './frames.mjs';

/**
 * @param {unknown} error
 * @param {import('./frames.mjs').Reader} host
 * @returns {{type: string, message: string, checkpoint: string | null, stack: any[]}}
 */
export function describe(error, host) {
  const {name, message, stack} = error instanceof Error ? error : {name: typeof error, message: error, stack: ''};
  const words = text(message);
  // A message can quote a stack, of another error or of another process.
  const lines = text(stack).replace(`: ${words}`, '').split('\n');
  return {type: error?.constructor?.name ?? name, message: words, checkpoint: null, stack: fromUser(frames(lines, host))};
}

/** @param {unknown} value  anything at all can be thrown, and not all of it can be made a string */
function text(value) {
  try {
    // What is half a character can be in a string, and not in a message.
    return String(value).replace(/\p{Surrogate}/gu, '\ufffd');
  } catch {
    return Object.prototype.toString.call(value);
  }
}
