// Checks messages against the schema that Python writes (py/tensorledger/protocol/schema.py).

/**
 * @param {any} schema  the content of schema.json
 * @param {typeof import('@cfworker/json-schema').Validator} Validator  handed in, because where packages are is the host's business
 */
export function checker(schema, Validator) {
  const validators = new Map();
  for (const [method, sides] of Object.entries(schema.methods)) {
    for (const [side, reference] of Object.entries(/** @type {Record<string, object>} */ (sides))) {
      validators.set(`${method} ${side}`, new Validator({...reference, $defs: schema.$defs}, '2020-12'));
    }
  }
  /**
   * Returns the value, or throws a TypeError that says what is wrong with it.
   * @param {string} method
   * @param {'params' | 'result'} side
   * @param {any} value
   */
  return function check(method, side, value) {
    const {valid, errors} = validators.get(`${method} ${side}`).validate(value);
    if (valid) return value;
    const last = errors.at(-1);
    throw new TypeError(`protocol: the ${side} of "${method}" are not as agreed: ${last.instanceLocation}: ${last.error}`);
  };
}
