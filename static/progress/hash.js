/** Return the 32-bit FNV-1a hash of a text, in hexadecimal. Browsers offer their own hash functions only over HTTPS and
 * on localhost. @param {string} text @returns {string} */
export function hashed(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
