/** The pace of the runners: slow enough to watch at first, then in time lapse. */

const SLOW_PACE = 2.5; // passes a second
const SLOW_SECONDS = 2;
const LAPSE_SECONDS = 3; // for all passes that are left

/** Return how many passes are done after some seconds, with a fraction for the current one.
 * @param {number} seconds @param {number} total */
export function passesAt(seconds, total) {
  if (seconds <= SLOW_SECONDS || total <= SLOW_PACE * SLOW_SECONDS) return Math.min(total, SLOW_PACE * seconds);
  const share = Math.min(1, (seconds - SLOW_SECONDS) / LAPSE_SECONDS);
  const first = SLOW_PACE * SLOW_SECONDS;
  return share === 1 ? total : first + (total - first) * share ** 2;
}

/** Return how many passes the runner of a lane has done; the runners run one after the other.
 * @param {number} passes passes of all runners @param {number} lane @param {number} each passes of one runner */
export function passesOfLane(passes, lane, each) {
  return Math.max(0, Math.min(each, passes - lane * each));
}

/** Return a runner's place on its lane, from 0 to 1: each pass begins at 0 and leads to 1.
 * @param {number} legs passes that the runner has done */
export function placeOf(legs) {
  return legs <= 1 ? legs : legs - 1;
}
