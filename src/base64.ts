/** Base64 by web standards alone: `toBase64` of typed arrays is not there yet on every runtime, and `btoa` takes no bytes. */

const alphabet = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const padding = 0x3d;
const wrong = 0xff;

/** The six bits of each character, or {@link wrong}. */
const sextets = new Uint8Array(256).fill(wrong);
alphabet.forEach((character, bits) => {
  sextets[character] = bits;
});

/**
 * Bytes as base64 (RFC 4648, section 4), padded and on one line.
 *
 * @example
 * ```ts
 * encodeBase64(Uint8Array.of(255, 254)); // → "//4="
 * ```
 */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let index = 0; index < bytes.length; index += 3) {
    const group = (at8(bytes, index) << 16) | (at8(bytes, index + 1) << 8) | at8(bytes, index + 2);
    for (let shift = 18; shift >= 0; shift -= 6) text[at++] = at8(alphabet, (group >> shift) & 63);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  text.fill(padding, text.length - missing);
  return new TextDecoder().decode(text);
}

/**
 * The bytes that {@link encodeBase64} wrote.
 *
 * @throws RangeError when it is no padded base64 on one line.
 */
export function decodeBase64(base64: string): Uint8Array {
  const text = new TextEncoder().encode(base64);
  const missing = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  if (text.length % 4 !== 0) throw new RangeError("The length of base64 is not a multiple of four");
  const bytes = new Uint8Array((text.length / 4) * 3 - missing);
  let at = 0;
  for (let index = 0; index < text.length; index += 4) {
    let group = 0;
    for (let place = index; place < index + 4; place++) {
      const bits = place < text.length - missing ? at8(sextets, at8(text, place)) : 0;
      if (bits === wrong) throw new RangeError(`Character ${place} is none of base64's`);
      group = (group << 6) | bits;
    }
    // Beyond the end, the typed array drops what the padding stands for.
    for (let shift = 16; shift >= 0; shift -= 8) bytes[at++] = (group >> shift) & 255;
  }
  return bytes;
}

function at8(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
