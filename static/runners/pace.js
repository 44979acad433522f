/** How fast the runners run: at first so that each can be seen, then in time lapse. */

const PACE = 2.5; // passes a second, at first
const SEEN = 2; // seconds at that pace
const LAPSE = 3; // seconds for all that is left

/** The passes that have been made after some seconds: with a fraction of the one that is being made.
 * @param {number} seconds @param {number} total */
export function passesAt(seconds, total) {
  if (seconds <= SEEN || total <= PACE * SEEN) return Math.min(total, PACE * seconds);
  const share = Math.min(1, (seconds - SEEN) / LAPSE);
  const first = PACE * SEEN;
  return share === 1 ? total : first + (total - first) * share ** 2;
}

/** The passes that the runner of a lane has made, one runner after the other.
 * @param {number} passes of all @param {number} lane @param {number} each passes of one runner */
export function laneOf(passes, lane, each) {
  return Math.max(0, Math.min(each, passes - lane * each));
}

/** Where on its lane a runner is, from 0 to 1: there with the first pass, back with the second.
 * @param {number} legs passes that it has made */
export function placeOf(legs) {
  return legs <= 1 ? legs : 2 - legs;
}
