// Lines into messages. What is none is an error that says so, and that who reads can answer.

const PARSE_ERROR = -32700, INVALID_REQUEST = -32600;

/** What came is no message, or no request. */
export class NoMessage extends Error {
  /** @param {string} what @param {number} code  JSON-RPC's own @param {string | number | null} id  of what can be answered */
  constructor(what, code = PARSE_ERROR, id = null) {
    super(what);
    this.code = code;
    this.id = id;
  }
}

/** Characters of a line that are quoted. */
const QUOTED = 200;

/**
 * @param {string} line
 * @returns {any}
 */
export function parsed(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new NoMessage(`not a message (${/** @type {Error} */ (error).message.slice(0, QUOTED)}): ${JSON.stringify(line.slice(0, QUOTED))}`);
  }
}

/**
 * The request that a message is. A notification has no id.
 * @param {any} message
 * @returns {{id: string | number | undefined, method: string, params: any}}
 */
export function request(message) {
  const is = message !== null && typeof message === 'object' && !Array.isArray(message);
  const id = is && (typeof message.id === 'string' || typeof message.id === 'number') ? message.id : undefined;
  const wrong = !is ? 'it is no object'
    : message.jsonrpc !== '2.0' ? 'it is not JSON-RPC 2.0'
      : typeof message.method !== 'string' ? 'it asks for nothing'
        : message.id !== undefined && id === undefined ? 'its id is neither text nor a number'
          : null;
  if (wrong !== null) throw new NoMessage(`not a request: ${wrong}`, INVALID_REQUEST, id ?? null);
  return {id, method: message.method, params: message.params};
}
