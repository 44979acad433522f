/** A number for a text that is another one for another text, as good as always: its 32-bit FNV-1a hash in hexadecimal.
 * The browser's own hashes are only there where the lab comes by https or from this machine.
 * @param {string} text @returns {string} */
export function hashed(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
