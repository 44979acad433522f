/** What Python sends to the browser and what comes back. Nothing here reaches the browser itself: only tsc reads it.
 * Each part says where in Python it is made; tests/js/modules.test.js holds real traces against it. */

/** A number in strict JSON (lab/trace/recording.py, `strict_json`). Truth is in the masks that some closures hold. */
export type Scalar = number | "nan" | "inf" | "-inf" | boolean;
/** A number, or nested lists of numbers in the shape of an array. */
export type Value = Scalar | Value[];

// -- lab/trace/recording.py, `Trace`, as lab/trace/export.py's `playable` passes it on

interface Made {
  /** its place among the nodes */
  id: number;
  label: string;
  /** ids of what it was computed from, in operand order, repeats kept */
  children: number[];
  shape: number[];
  value: Value;
  requires_grad: boolean;
  /** what it holds since it was written to between the passes */
  now?: Value;
  /** the gradient that is due, where the pass gave another one */
  due?: Value;
  // of a pass that was recorded in a running program (lab/watch)
  /** of an array of which only some cells are here: what holds for all of it */
  large?: { shape: number[]; min: Scalar; max: Scalar; mean: Scalar; not_finite: number };
  /** how often its memory had been written to when it was made */
  version?: number;
  /** all writes to its memory */
  writes?: { version: number; line: number; op: string }[];
  /** the parts of PyTorch's graph that ran behind this one operation */
  hides?: string[];
  /** the graph ends here */
  cut?: boolean;
  /** its numbers were never in Python */
  unseen?: boolean;
  /** another result of the same call sends the message for both */
  shares?: boolean;
  /** its gradient was added to one of an earlier pass */
  added?: boolean;
}

/** An input or a constant. */
export interface Leaf extends Made {
  op: "";
  calls?: undefined;
}

export interface Operation extends Made {
  op: string;
  kind:
    | "elementwise"
    | "reduction"
    | "along an axis"
    | "matrix product"
    | "shape"
    | "indexing"
    | "joining"
    | "loss"
    | "other";
  /** the sign that it is written with, between two operands or before one */
  symbol: string | null;
  /** a key of `sources` */
  source: string;
  captured: Captured[];
  /** the engine's functions that called it, outermost first: "Linear 1", "mean 2" */
  calls: string[];
  /** of an indexing, what stands between the brackets */
  index?: string;
  /** for each operand, and each cell of the message to it, [cell of the result, local derivative] where that is not 0;
   * only where the table of derivatives cannot tell */
  paths?: ([number, number][][] | null)[];
}

export type TraceNode = Leaf | Operation;

/** A variable that the backward step of an operation holds. */
export type Captured = CapturedTensor | CapturedArray | CapturedSetting;

/** An operand, to send its message to. */
export interface CapturedTensor {
  name: string;
  holds: "operand";
  node: number;
  shape: number[];
}

export interface CapturedArray {
  name: string;
  holds: "output" | "array" | `value of operand ${number}`;
  shape: number[];
  /** left out where it is the value of the node itself or of an operand */
  value?: Value;
  /** whether it was written to before it was read; not there if it has not been read */
  written?: boolean;
  /** its numbers since it was written to between the passes */
  now?: Value;
}

/** Anything else: an axis, a function. */
export interface CapturedSetting {
  name: string;
  holds: "setting";
  /** as Python names it */
  type: string;
  shape: number[];
  /** as Python writes it */
  value: string;
  written?: boolean;
}

interface Step {
  /** a key of `sources` */
  source: string;
  /** a line of that file */
  line: number;
}

export interface Forward extends Step {
  kind: "forward";
  node: number;
}

export interface Seed extends Step {
  kind: "seed";
  node: number;
  grad: Value;
}

/** `node` sends to its operand number `operand`, which is `child`; an Accumulate follows at once. */
export interface Message extends Step {
  kind: "message";
  node: number;
  child: number;
  operand: number;
  upstream: Value;
  /** in the shape of `node` */
  contribution: Value;
}

/** In forward mode: an operand's tangent times the local derivative goes to an operation. */
export interface Push extends Step {
  kind: "push";
  node: number;
  child: number;
  operand: number;
  tangent: Value;
  /** null where they are no single numbers */
  local: number | null;
  /** the local derivative in symbols, or "" */
  text: string;
  /** in the shape of `node` */
  contribution: Value;
}

/** In forward mode: how fast a node changes with the input. Of the first such event, also how fast each input does. */
export interface Tangent extends Step {
  kind: "tangent";
  node: number;
  value: Value;
  leaves: { node: number; value: Value }[];
}

/** before + message = after, all in the shape of `node`, unless the engine is broken just there. */
export interface Accumulate extends Step {
  kind: "accumulate";
  node: number;
  before: Value;
  message: Value;
  after: Value;
  /** there was no gradient before */
  first: boolean;
}

export type TraceEvent = Forward | Seed | Message | Accumulate | Push | Tangent;

/** The source of a function, as it ran. */
export interface SourceCode {
  file: string;
  /** the number of its first line */
  first: number;
  lines: string[];
}

// -- lab/trace/derive.py

export interface Derived {
  name: string;
  latex: string;
  kind: "leaf" | "constant" | "operation" | "output";
  /** why the gradient is no sum of messages, or "" */
  why: string;
  terms: Term[];
}

/** A message that has come, or one that is due and never came. */
export type Term = SentTerm | DueTerm;

export interface SentTerm {
  /** the index of its event */
  event: number;
  node: number;
  operand: number;
  text: string;
  latex: string;
  /** the same text with {g}, the upstream gradient, and {a}, {b}, {y}, which are the nodes in `used` */
  rule: string;
  used: Record<string, number>;
  /** null where the table of derivatives cannot tell; then text and latex are the whole message */
  local: Value | null;
  agrees: boolean | null;
}

export interface DueTerm {
  event: null;
  node: number;
  operand: number;
}

// -- lab/trace/export.py, `playable`

export interface TraceData {
  nodes: TraceNode[];
  events: TraceEvent[];
  output: number;
  sources: Record<string, SourceCode>;
  derived: Derived[];
  /** what backward() raised, or "" */
  error: string;
}

// -- lab/ui/player.py, and lab/trace/export.py's `standalone`, which has a trace and an event only

/** A cell of an input, counted in reading order. */
export interface Along {
  name: string;
  cell: number;
}

export interface PlayerData {
  trace: TraceData;
  /** how many events have happened at first; null: all */
  event: number | null;
  /** the query parameter that holds the event */
  address?: string | null;
  /** the event that the address need not name; null: the last one */
  usual?: number | null;
  /** the query parameter that holds the pass that the event is of, where the page has one */
  stage?: string | null;
  /** the pass that the address need not name; "none" by default */
  usualStage?: string;
  /** the button of the backward pass stops at each message */
  stopping?: boolean;
  /** where the pass of a broken engine departs from the right one */
  departure?: Departure | null;
  /** forward mode, with respect to this number */
  along?: Along | null;
  /** another number: the event is to be gone to once more */
  opening?: number;
  /** of the player on its page */
  key?: string;
  /** the experiment can be had as a Python program */
  hasScript?: boolean;
  /** the number of the message that this answers */
  sequence?: number;
  canProbe?: boolean;
  /** it is part of a page: without the panels about a node */
  compact?: boolean;
  /** nothing but the graph, which does not move */
  still?: boolean;
  live?: Live;
  /** what was computed with */
  values?: Record<string, Value>;
  probe?: Answer | null;
  canCheck?: boolean;
  /** where they were asked for: for each arrival, by the index of its event, the wrong gradients that known mistakes
   * give. None for an arrival that leaves too many numbers */
  guesses?: Record<string, Guessed[]>;
  /** where it was asked for */
  check?: Check | null;
  /** what there is to say of the trace after a pass */
  remarks?: Remark[];
  /** what the gradients of single numbers mean; of none where that is not known */
  slopes?: Slope[];
  /** the file that was asked for */
  taken?: Taken;
}

/** lab/traps/faults/compare.py: the first event that the right engine does not have */
export interface Departure {
  event: number;
  /** the message, or the gradient after it */
  here: Value;
  /** the same in the right pass; null where it has no such event */
  due: Value | null;
  /** the right engine's line, where it is another one, or "" */
  line: string;
}

export interface Remark {
  after: "forward" | "backward";
  text: string;
}

/** lab/practice/mistakes.py, `after_arrivals` */
export interface Guessed {
  wrong: Value;
  said: string;
}

export interface Check {
  rows: Checked[];
  /** what was left out, or "" */
  note: string;
}

/** An input and its two gradients. */
export interface Checked {
  name: string;
  value: Value;
  /** null: no path leads from it to the result */
  gradient: Value | null;
  /** null: not computed */
  numerical: Value | null;
  /** null: there is nothing to compare */
  agrees: boolean | null;
  /** of the elements where the gradient is not simply the slope */
  slopes: Slope[];
}

/** What differences say about the gradient of one number: lab/gradcheck/slopes.py */
export interface Slope {
  element: string;
  kind:
    "smooth" | "small" | "rounded" | "lost" | "differs" | "kink" | "tie" | "steep" | "jump" | "edge" | "nan" | "inf";
  left: Scalar;
  right: Scalar;
  used: Scalar;
  /** nothing changes when the element is moved */
  still: boolean;
  hasDerivative: boolean;
  /** whether the result is finite */
  hasValue: boolean;
  /** the slopes left and right in words */
  sides: [string, string];
  sentence: string;
}

export interface Taken {
  what: "html" | "script";
  /** of the wish */
  number: number;
  text: string;
}

/** Inputs that the learner may change. */
export interface Live {
  id: string;
  leaves: LiveLeaf[];
}

export interface LiveLeaf {
  name: string;
  /** to start from */
  value: Value;
  low: number;
  high: number;
  step: number;
}

/** What if one element of one input were moved by h? */
export interface Question {
  name: string;
  /** its position in reading order */
  cell: number;
  h: number;
}

export interface Answer extends Question {
  predicted: Scalar;
  actual: Scalar;
}

/** What the player sends to the server. */
export interface PlayerState {
  /** the id of `Live` that the values are for */
  live: string;
  sequence: number;
  values: Record<string, Value>;
  probe: Question | null;
  /** whether the numerical check is in sight */
  check: boolean;
  /** whether gradients are to be predicted */
  predict: boolean;
  event: number;
  selected: number | null;
}

/** A file to take away, or a prepared state of the page, so many further. */
export interface Wish {
  what: "html" | "script" | "turn";
  by?: number;
  event: number;
  number: number;
}

// -- lab/ui/chart_host.py: the feed of a page of charts, by key

export interface TableData {
  headers: string[];
  rows: string[][];
}

export interface ShownChart extends TableData {
  title: string;
  note: string;
  alt: string;
  height: string; // a CSS length
  spec: ChartSpec;
  /** an image behind the grid, and the distances of the grid from the left, top, right and bottom edges */
  backdrop?: { png: string; edges: [number, number, number, number] };
}

/** An ECharts option, as Python makes it. Only the parts that format numbers or are used here have a type. */
export interface ChartSpec {
  xAxis?: AxisSpec | AxisSpec[];
  yAxis?: AxisSpec | AxisSpec[];
  /** the place of 0 on a logarithmic axis */
  zero?: number;
  /** whether a click places a point */
  placing?: boolean;
  tooltip?: { valueFormatter?: string; [option: string]: unknown };
  [option: string]: unknown;
}

export interface AxisSpec {
  type: string;
  axisLabel?: { formatter?: unknown; [option: string]: unknown };
  [option: string]: unknown;
}

/** The data of a board. The values of "progress", "network" and "tables" are not charts. */
export type Feed = Record<string, ShownChart> | { progress: ShownProgress; network: ShownNetwork; tables: boolean };

export interface ShownProgress {
  /** epochs so far, with a fraction; `epochs` is the number in the whole run */
  reached: number;
  epochs: number;
  /** the chosen earlier epoch; null follows the training */
  cursor: number | null;
  text: string;
}

/** lab/ui/training/network.py */
export interface ShownNetwork extends TableData {
  /** inputs, layers, outputs */
  columns: NetworkColumn[];
  /** the weights between each column and the next */
  wires: NetworkWires[];
  /** widths of the hidden layers */
  hidden: number[];
  /** colours "#rrggbb" from the lowest value to the highest */
  palette: string[];
  /** a CSS length */
  height: string;
  label: string;
  note: string;
}

export interface NetworkColumn {
  name: string;
  tiles: NetworkTile[];
  /** number of units without a tile */
  more: number;
  /** pixels in a row of a map */
  side: number;
  /** index of a hidden layer; null for inputs and outputs */
  layer: number | null;
}

export interface NetworkTile {
  key: string;
  name: string;
  /** the unit that the page shows large, "1.3"; "" if it cannot */
  place: string;
  /** indices of the palette as digits in base 36, row by row from the top; "" for no map */
  map: string;
  /** text instead of a map */
  word: string;
  /** whether a feature is on; null for a tile that cannot be switched */
  on: boolean | null;
}

/** The weight of each line, by the tile where it starts and the tile where it ends. */
export type NetworkWires = number[][];

// -- lab/autodiff/grids.py, `Picture.data`

/** Rows of arrays with signs between them; the sign "|" separates two halves. */
export interface ShownGrids {
  rows: ({ sign: string } | ShownGrid)[][];
  /** the cell that is chosen first */
  start: { key: string; cell: number };
}

export interface ShownGrid {
  key: string;
  title: string;
  kind: "value" | "copy" | "gradient" | "upstream" | "wrong";
  shape: number[];
  /** texts of the cells in reading order, like `says` and `lights` */
  cells: string[];
  says: string[];
  /** for each cell: key of a grid -> its related cells */
  lights: Record<string, number[]>[];
}

// -- lab/ui/runners.py

export interface ShownRunners {
  counts: RunnerCount[];
  /** index of the current one in `counts` */
  chosen: number;
  guessed: boolean;
  /** the request to guess first */
  ask: string;
  /** the result of a timing, or "" */
  measured: string;
  headers: string[];
}

export interface RunnerCount {
  n: number;
  label: string;
  rows: string[][];
  /** the result of the race */
  result: string;
}

// -- lab/ui/step_picture.py

export interface StepChoice {
  /** the exponent of a power of ten */
  h: number;
  method: string;
  numbers: string;
}

export interface ShownSteps {
  name: string;
  /** whether the derivative exists */
  smooth: boolean;
  /** the gradient from backward() */
  exact: number | null;
  /** the slopes left and right if there is no derivative */
  sides: [number | null, number | null] | null;
  /** by step, largest first */
  steps: { curve: [number, number][]; methods: Record<string, ShownStep> }[];
  /** lines on logarithmic axes: error = scale h^slope */
  lines: Record<string, { slope: number; scale: number; label: string }[]>;
}

export interface ShownStep {
  slope: number | null;
  /** the two points of the secant: distance from x in steps h, and f there minus f(x) */
  ends: [[number, number], [number, number]] | null;
  error: number | null;
  sentence: string;
  /** number of leading characters that the first two numbers share */
  shared: number;
  /** the lines of the arithmetic; the last is the error */
  rows: [string, string][];
}

// -- lab/practice/render_report.py, `render_report`; lab/ui/practice/exercise.py

/** The result of a check of a learner's text. */
export interface ShownResult {
  passed: boolean;
  /** hash of the checked text, from static/progress/hash.js */
  hash: string;
  /** number of tasks of the course that the text passes */
  tasksPassed: number;
  headline: string;
  /** the known mistake, the error or why the check stopped; "" if there is none */
  sentence: string;
  /** line of the learner's file, from 1 */
  line: number | null;
  column: number | null;
  checks: { name: string; passed: boolean | null }[];
  /** the program of the test case; `inputs` are the values of its inputs */
  program: string;
  inputs: ShownValue[];
  /** the value from the learner's code, the expected value, and the one from finite differences */
  values: ShownValue[];
  /** output of the learner's code; `printedWhen` names the cases: "in all cases that were run" */
  printed: string;
  printedWhen: string;
}

/** A value. Small arrays with at most two axes have `cells`; other values have only `text`. */
export interface ShownValue {
  /** name in Python */
  name: string;
  /** where the value comes from: "with your code" */
  words: string;
  text: string;
  wrong: boolean;
  /** rows of cells */
  cells?: { text: string; wrong: boolean }[][];
  shape?: string;
}

export interface ShownExercise {
  /** name under which the browser stores the text */
  key: string;
  file: string;
  /** the text of the starter file */
  starter: string;
  /** label of the button that restores the starter file */
  again: string;
  /** starter lines of the task */
  lines: string;
  /** the check that is running; null if none is */
  working: string | null;
  result: ShownResult | null;
  /** how the code is run, or why it cannot be run */
  how: string;
  runs: boolean;
  /** label of the button that leads on after the last task; "" for no button */
  onward: string;
  /** the file in the learner's own folder */
  disk: OnDisk | null;
}

/** The file on the disk, in the learner's own folder. */
export interface OnDisk {
  text: string;
  /** identifies the text; "" if there is no file */
  stamp: string;
}

/** lab/ui/practice/tasks.py */
export interface ShownTasks {
  /** key of the course, with which the keys of its tasks begin */
  course: string;
  /** description of the row for screen readers */
  label: string;
  /** key of the task that is shown */
  now: string;
  tasks: { key: string; title: string }[];
}

/** lab/ui/practice/choice.py: the courses whose engine the session lacks and has not asked for */
export interface ShownEngines {
  /** `last` is the key of the last task, `tasks` the number of tasks */
  courses: { key: string; last: string; tasks: number }[];
  /** whether the page waits for one of them */
  wanted: boolean;
  asksForDays: boolean;
  /** path of the page that asks, which may not be the one computed last */
  path: string;
}

// -- lab/lessons/search.py, `SearchHit`

export interface SearchHit {
  kind: string;
  title: string;
  text: string;
  /** path from the lab's root */
  path: string;
  query: Record<string, string>;
  /** whether the text is certainly about this */
  sure: boolean;
}

// -- The parts of Streamlit's components that are used here

export interface Component<Parent extends HTMLElement | ShadowRoot> {
  parentElement: Parent;
  data: Uint8Array;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

// -- static/graphviz/graphviz.js

export interface Graphviz {
  layout(dot: string, format: "json", engine: "dot"): string;
}

/** The parts of Graphviz's output that are used here. Points are "x,y", and y points up. */
export interface GraphvizLayout {
  /** "0,0,width,height" */
  bb: string;
  objects?: { id: string; pos: string }[];
  edges?: { id: string; pos: string; lp?: string }[];
}
