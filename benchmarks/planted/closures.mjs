// Keeps closures of about `size` bytes a cycle, as listeners that nobody removes. 0: its twin, which keeps none.
const listeners = [];

export default async function* ({params: {size}}) {
  // A closure and what it closes over: 64 and 40 bytes, and 8 in the array.
  for (let i = 0; i < size / 112; i += 1) {
    const value = {i};
    listeners.push(() => value);
  }
  yield 'listening';
}
