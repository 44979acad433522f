/** Scales, axes and straight lines of a picture. */

/** Return the linear scale from numbers to pixels. @param {[number, number]} numbers @param {[number, number]} pixels
 * @returns {(number: number) => number} */
export function scale([low, high], [first, last]) {
  return (number) => first + ((number - low) / (high - low)) * (last - first);
}

/** Return a range that holds the numbers and 0, with room on both sides; never an empty one.
 * @param {number[]} numbers @returns {[number, number]} */
export function extent(numbers) {
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const room = 0.08 * (high - low) || 1;
  return [low - room, high + room];
}

/** Return the powers of ten that an axis labels, at most six. @param {number} low @param {number} high */
export function axis(low, high) {
  const by = Math.ceil((high - low) / 5);
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + by * at);
}

/** Return the ends of the part of a straight line that is inside a box; null if it is outside.
 * @param {number} slope @param {number} height value at 0 @param {[number, number]} across @param {[number, number]} up
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
