/** The traces of tests/js/traces.py, made by the engine as it is now. PYTHON says which Python runs it. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { TraceStates } from "../../static/player/states.js";

/** @import { Captured, Guessed, Scalar, Slope, TraceData, Value } from "../../static/types.js" */

const root = fileURLToPath(new URL("../..", import.meta.url));
const local = join(root, ".venv/bin/python");
const python = process.env.PYTHON ?? (existsSync(local) ? local : "python3");

/** @type {{operations: {op: string, data: TraceData, captured: Captured[]}[], named: Record<string, TraceData>,
 *   slopes: Record<string, {data: TraceData, slopes: Slope[]}>,
 *   large: Record<string, TraceData>,
 *   random: {data: TraceData, gradients: Record<string, Value>}[],
 *   arrays: {data: TraceData, gradients: Record<string, Value>}[], numbers: [Scalar, string][],
 *   expressions: {data: TraceData, name: string, gradient: Scalar}[], changes: Record<string, [TraceData, TraceData]>,
 *   guesses: Record<string, Guessed[]>, page: string}} */
export const traces = JSON.parse(
  execFileSync(python, ["-m", "tests.js.traces"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }),
);

/** @param {string} name */
export function statesOf(name) {
  return new TraceStates(traces.named[name]);
}
