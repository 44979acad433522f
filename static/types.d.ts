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

// -- lab/ui/chart_host.py: what stands in the feed of a page of charts, by key

export interface TableData {
  headers: string[];
  rows: string[][];
}

export interface ShownChart extends TableData {
  title: string;
  note: string;
  alt: string;
  height: string; // in CSS
  spec: ChartSpec;
  /** a picture behind the grid, and how far the grid is from the edges: left, top, right, bottom */
  backdrop?: { png: string; edges: [number, number, number, number] };
}

/** An ECharts option. Python makes it and ECharts takes it; here only what writes numbers is looked at. */
export interface ChartSpec {
  xAxis?: AxisSpec | AxisSpec[];
  yAxis?: AxisSpec | AxisSpec[];
  /** where 0 is drawn on a logarithmic axis */
  zero?: number;
  /** does a click place a point? */
  placing?: boolean;
  tooltip?: { valueFormatter?: string; [option: string]: unknown };
  [option: string]: unknown;
}

export interface AxisSpec {
  type: string;
  axisLabel?: { formatter?: unknown; [option: string]: unknown };
  [option: string]: unknown;
}

/** What a board shows. Two keys are no charts. */
export type Feed = Record<string, ShownChart> | { progress: ShownProgress; network: ShownNetwork; tables: boolean };

export interface ShownProgress {
  /** epochs so far, with fractions, and of the whole run */
  reached: number;
  epochs: number;
  /** the epoch that is looked back at; null follows the training */
  cursor: number | null;
  text: string;
}

/** lab/ui/training/network.py */
export interface ShownNetwork extends TableData {
  /** inputs, layers, outputs */
  columns: NetworkColumn[];
  /** between each column and the next */
  wires: NetworkWires[];
  /** widths of the hidden layers */
  hidden: number[];
  /** "#rrggbb", from the lowest value to the highest */
  palette: string[];
  /** in CSS */
  height: string;
  label: string;
  note: string;
}

export interface NetworkColumn {
  name: string;
  tiles: NetworkTile[];
  /** units without a tile */
  more: number;
  /** pixels of a map along one row */
  side: number;
  /** the index of a hidden layer; null for inputs and outputs */
  layer: number | null;
}

export interface NetworkTile {
  key: string;
  name: string;
  /** what the page shows large: "1.3", or "" */
  place: string;
  /** digits in base 36, row by row from the top, which index the palette; "" for no picture */
  map: string;
  /** instead of a picture */
  word: string;
  /** a feature may be switched off; null for what may not */
  on: boolean | null;
}

/** A number for each line, by the tile that it comes from and the one that it leads to. */
export type NetworkWires = number[][];

// -- lab/autodiff/grids.py, `Picture.data`

/** Arrays in rows, with signs between them; "|" parts two halves. */
export interface ShownGrids {
  rows: ({ sign: string } | ShownGrid)[][];
  /** what is pointed at first */
  start: { key: string; cell: number };
}

export interface ShownGrid {
  key: string;
  title: string;
  kind: "value" | "copy" | "gradient" | "upstream" | "wrong";
  shape: number[];
  /** in reading order, as says and lights */
  cells: string[];
  says: string[];
  /** for each cell the cells of other grids, by their keys */
  lights: Record<string, number[]>[];
}

// -- lab/ui/runners.py

export interface ShownRunners {
  counts: RunnerCount[];
  /** the position of the present one among them */
  chosen: number;
  guessed: boolean;
  /** what is to be done first */
  ask: string;
  /** what a timing has found, or "" */
  measured: string;
  headers: string[];
}

export interface RunnerCount {
  n: number;
  label: string;
  rows: string[][];
  /** what the race has shown */
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
  /** is there a derivative? */
  smooth: boolean;
  /** what backward() gives */
  exact: number | null;
  /** the slopes left and right, where there is no derivative */
  sides: [number | null, number | null] | null;
  /** the largest first */
  steps: { curve: [number, number][]; methods: Record<string, ShownStep> }[];
  /** straight on logarithmic axes: error = scale h^slope */
  lines: Record<string, { slope: number; scale: number; label: string }[]>;
}

export interface ShownStep {
  slope: number | null;
  /** the two points of the secant: steps h from x, and f there minus f(x) */
  ends: [[number, number], [number, number]] | null;
  error: number | null;
  sentence: string;
  /** how many characters the first two numbers begin with in common */
  shared: number;
  /** the arithmetic, and last the error */
  rows: [string, string][];
}

// -- lab/practice/render_report.py, `told`; lab/ui/practice/exercise.py

/** What one check of a learner's text found. */
export interface ShownResult {
  passed: boolean;
  /** of the text that was checked, as static/progress/hash.js computes it */
  hash: string;
  /** how many tasks of the course it passes */
  tasksPassed: number;
  headline: string;
  /** what it looks like and what to think of; "" where there is nothing to say */
  sentence: string;
  /** of the learner's file, from 1 */
  line: number | null;
  column: number | null;
  checks: { name: string; passed: boolean | null }[];
  /** what was run: the values of its inputs, and the program */
  program: string;
  inputs: ShownValue[];
  /** what the learner's code gave, what it should give, what finite differences say */
  values: ShownValue[];
  /** what the learner's code printed, and when: "in all cases that were run" */
  printed: string;
  printedWhen: string;
}

/** A value. One of at most two axes and few elements has `cells`; of any other there is only a text. */
export interface ShownValue {
  /** as Python has it */
  name: string;
  /** what the value is to the learner: "with your code" */
  words: string;
  text: string;
  wrong: boolean;
  /** rows of cells */
  cells?: { text: string; wrong: boolean }[][];
  shape?: string;
}

export interface ShownExercise {
  /** under which the browser keeps the text */
  key: string;
  file: string;
  /** the file to begin with */
  starter: string;
  /** on the button that puts it back */
  again: string;
  /** lines to begin the task with */
  lines: string;
  /** what is being checked just now */
  working: string | null;
  result: ShownResult | null;
  /** how the code is run; and, where it cannot be, why */
  how: string;
  runs: boolean;
  /** on the button that leads on once all tasks are passed; "" for no such place */
  onward: string;
  /** the file in the learner's own folder */
  disk: OnDisk | null;
}

/** A file as it is in the learner's own folder. */
export interface OnDisk {
  text: string;
  /** another one for each text; "" where there is no file */
  stamp: string;
}

/** lab/ui/practice/tasks.py */
export interface ShownTasks {
  /** what the tasks' keys begin with in the progress */
  course: string;
  /** what they are, for a screen reader */
  label: string;
  /** the key of the task that is shown */
  now: string;
  tasks: { key: string; title: string }[];
}

/** lab/ui/practice/choice.py: the courses whose engine this visit lacks and has not asked for */
export interface ShownEngines {
  /** last: the key of its last task; tasks: how many there are */
  courses: { key: string; last: string; tasks: number }[];
  /** does the page wait for one of them? */
  wanted: boolean;
  asksForDays: boolean;
  /** of the page that asks, which may be another one than that computed last */
  path: string;
}

// -- lab/lessons/search.py, `SearchHit`

export interface SearchHit {
  kind: string;
  title: string;
  text: string;
  /** from the lab's root */
  path: string;
  query: Record<string, string>;
  /** a message that can be about nothing else */
  sure: boolean;
}

// -- Streamlit's components, as far as they are used here

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

/** Graphviz's own answer, as far as it is used here. Points are "x,y" with y upwards. */
export interface GraphvizLayout {
  /** "0,0,width,height" */
  bb: string;
  objects?: { id: string; pos: string }[];
  edges?: { id: string; pos: string; lp?: string }[];
}
