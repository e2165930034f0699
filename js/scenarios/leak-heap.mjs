// Leaks on purpose, a megabyte of JavaScript heap a cycle: no tensor, no byte that TensorFlow.js counts.
const kept = [];

export default async function* () {
  kept.push(Array.from({length: 2 ** 17}, (_, i) => i + 0.5));
  yield 'kept';
}
