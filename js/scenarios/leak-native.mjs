// Leaks on purpose, a megabyte a cycle outside the JavaScript heap: in an array buffer.
const kept = [];

export default async function* () {
  kept.push(new ArrayBuffer(2 ** 20));
  yield 'kept';
}
