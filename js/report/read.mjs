// The data that the page was written with: JSON, compressed, as base64.
/// <reference lib="dom" />

/** @returns {Promise<import('./types.d.mts').Data>} */
export async function read() {
  const written = /** @type {HTMLElement} */ (document.getElementById('data')).textContent ?? '';
  const bytes = Uint8Array.from(atob(written.trim()), letter => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(plain).json();
}
