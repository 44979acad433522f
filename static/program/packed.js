/** A text in a form that fits into an address: deflated, in URL-safe base 64. lab/practice/learner_program.py reads it.
 */

/** @param {string} text @returns {Promise<string>} */
export async function packed(text) {
  const deflated = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(deflated).arrayBuffer());
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
