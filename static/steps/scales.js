/** Where numbers are on a picture. */

/** From numbers to pixels. @param {[number, number]} numbers @param {[number, number]} pixels
 * @returns {(number: number) => number} */
export function place([low, high], [first, last]) {
  return (number) => first + ((number - low) / (high - low)) * (last - first);
}

/** The range of some numbers around 0, with room on both sides; of zeros alone, a range all the same.
 * @param {number[]} numbers @returns {[number, number]} */
export function extent(numbers) {
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const room = 0.08 * (high - low) || 1;
  return [low - room, high + room];
}

/** The powers of ten that an axis names: at most six. @param {number} low @param {number} high */
export function axis(low, high) {
  const by = Math.ceil((high - low) / 5);
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + by * at);
}

/** The part of a straight line that is inside of a box; null: none of it.
 * @param {number} slope @param {number} height at 0 @param {[number, number]} across @param {[number, number]} up
 * @returns {[[number, number], [number, number]] | null} */
export function lineThrough(slope, height, across, up) {
  const ends = up.map((y) => (y - height) / slope).sort((a, b) => a - b);
  const [from, to] = [Math.max(across[0], ends[0]), Math.min(across[1], ends[1])];
  if (!(from < to)) return null;
  return [
    [from, height + slope * from],
    [to, height + slope * to],
  ];
}
