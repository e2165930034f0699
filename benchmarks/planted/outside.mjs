// Keeps `size` bytes a cycle outside the JavaScript heap: an array's elements. 0: its twin, which keeps nothing.
const kept = [];

export default async function* ({params: {size}}) {
  const made = new Float32Array(size / 4);
  if (size) kept.push(made);
  yield 'made';
}
