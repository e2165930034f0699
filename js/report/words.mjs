// Numbers as people read them.

const WHOLE = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const PART = new Intl.NumberFormat('en', {maximumSignificantDigits: 4});

/** @param {number} value */
export function number(value) {
  return (Number.isInteger(value) || Math.abs(value) >= 1000 ? WHOLE : PART).format(value).replace('-', '−');
}

/** With its sign, as growth has one. @param {number} value */
export function signed(value) {
  return value > 0 ? `+${number(value)}` : number(value);
}

/** @param {number} value */
export function seconds(value) {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} s`;
}

/** @param {number} amount @param {string} one @param {string} [many] */
export function count(amount, one, many = `${one}s`) {
  return `${number(amount)} ${amount === 1 ? one : many}`;
}

/** As Python writes a difference: two digits that mean something. @param {number | undefined} value */
export function difference(value) {
  if (value === undefined) return '–';
  const rounded = Number(value.toPrecision(2));
  return rounded !== 0 && Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}
