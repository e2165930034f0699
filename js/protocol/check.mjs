// Checks messages against the schema that Python writes (py/tensorledger/protocol/schema.py).

/**
 * @param {any} schema  the content of schema.json
 * @param {typeof import('@cfworker/json-schema').Validator} Validator  handed in, because where packages are is the host's business
 */
export function checker(schema, Validator) {
  // One validator for all: each would keep an index of every definition, and collections would have to mark them all.
  /** @type {Record<string, object>} */
  const properties = {};
  for (const [method, sides] of Object.entries(schema.methods)) {
    for (const [side, reference] of Object.entries(sides)) properties[`${method} ${side}`] = reference;
  }
  const validator = new Validator({properties, $defs: schema.$defs}, '2020-12');
  /**
   * Returns the value, or throws a TypeError that says what is wrong with it.
   * @param {string} method
   * @param {'params' | 'result'} side
   * @param {any} value
   */
  return function check(method, side, value) {
    const {valid, errors} = validator.validate({[`${method} ${side}`]: value ?? null});  // undefined would be no property
    if (valid) return value;
    const last = errors[errors.length - 1];
    throw new TypeError(`protocol: the ${side} of "${method}" are not as agreed: ${last.instanceLocation}: ${last.error}`);
  };
}
