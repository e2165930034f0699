// The bytes of WebGL's textures, counted where they are made and deleted. Up to 1.7.4 TensorFlow.js does not tell them, and
// later it takes a texture that values are uploaded into for four times its size: for unpacked, which it is not.
/// <reference lib="dom" />

/** The bytes of a texel, by its sized format. */
const SIZED = new Map([
  [0x822E, 4], // R32F
  [0x822D, 2], // R16F
  [0x8229, 1], // R8
  [0x8814, 16], // RGBA32F
  [0x881A, 8], // RGBA16F
  [0x8058, 4], // RGBA8
]);

/** The numbers of a texel, by its unsized format. */
const CHANNELS = new Map([[0x1903, 1], [0x1907, 3], [0x1908, 4], [0x1909, 1]]); // RED, RGB, RGBA, LUMINANCE

/** The bytes of a number, by its type. */
const TYPES = new Map([[0x1401, 1], [0x1406, 4], [0x140B, 2], [0x8D61, 2]]); // UNSIGNED_BYTE, FLOAT, HALF_FLOAT, HALF_FLOAT_OES

/**
 * Counts the two-dimensional textures of every context from now on. Throws where one has a format that is not known here.
 * @param {any} scope  the global object, whose contexts are meant
 * @returns {() => number}  their bytes at this moment
 */
export function countTextures(scope = globalThis) {
  /** The bytes of each level of a texture. @type {WeakMap<WebGLTexture, Map<number, number>>} */
  const sizes = new WeakMap();
  let total = 0;

  /** @param {Map<number, number>} levels */
  const gone = levels => {
    for (const bytes of levels.values()) total -= bytes;
    levels.clear();
  };
  // A texture that nothing refers to any more is deleted by the browser.
  const collected = new FinalizationRegistry(gone);

  /** @param {any} gl @param {number} target @param {number} level @param {number} bytes */
  const put = (gl, target, level, bytes) => {
    if (target !== gl.TEXTURE_2D) return;
    const texture = gl.getParameter(gl.TEXTURE_BINDING_2D);
    if (texture === null) return; // an error of WebGL's, which made nothing
    let levels = sizes.get(texture);
    if (levels === undefined) {
      sizes.set(texture, levels = new Map());
      collected.register(texture, levels);
    }
    total += bytes - (levels.get(level) ?? 0);
    levels.set(level, bytes);
  };

  for (const {prototype} of [scope.WebGLRenderingContext, scope.WebGL2RenderingContext].filter(Boolean)) {
    const {texImage2D, texStorage2D, deleteTexture} = prototype;
    /** @this {any} @param {any[]} given */
    prototype.texImage2D = function (...given) {
      texImage2D.apply(this, given);
      const [target, level, internal] = given;
      const [width, height, format, type] = given.length > 6
        ? [given[3], given[4], given[6], given[7]]
        : [given[5].videoWidth ?? given[5].width, given[5].videoHeight ?? given[5].height, given[3], given[4]];
      put(this, target, level, width * height * texel(internal, format, type));
    };
    if (texStorage2D) {
      /** @this {any} @param {any[]} given */
      prototype.texStorage2D = function (...given) {
        texStorage2D.apply(this, given);
        const [target, levels, internal, width, height] = given;
        for (let level = 0; level < levels; level++) {
          put(this, target, level, Math.max(1, width >> level) * Math.max(1, height >> level) * texel(internal));
        }
      };
    }
    /** @this {any} @param {WebGLTexture | null} texture */
    prototype.deleteTexture = function (texture) {
      deleteTexture.call(this, texture);
      gone((texture && sizes.get(texture)) ?? new Map());
    };
  }
  return () => total;
}

/**
 * The bytes of a texel.
 * @param {number} internal  how it is kept
 * @param {number} [format]  how it is given, which is how it is kept where `internal` has no size
 * @param {number} [type]
 */
function texel(internal, format = 0, type = 0) {
  const bytes = SIZED.get(internal) ?? (CHANNELS.get(format) ?? NaN) * (TYPES.get(type) ?? NaN);
  if (Number.isNaN(bytes)) throw new Error(`a texture of a format that is not known here: ${[internal, format, type].map(n => `0x${n.toString(16)}`).join(' ')}`);
  return bytes;
}
