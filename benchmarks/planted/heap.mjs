// Keeps `size` bytes of the JavaScript heap a cycle: numbers in an array. 0: its twin, which keeps nothing.
const kept = [];

export default async function* ({params: {size}}) {
  const made = Array.from({length: size / 8}, (_, i) => i + 0.5);
  if (size) kept.push(made);
  yield 'made';
}
