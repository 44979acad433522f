/** The data that Python and the browser exchange. Only the TypeScript compiler reads this file.
 * Each part names the Python file that makes it; tests/js/modules.test.js holds real traces against it. */

/** A number in strict JSON (lab/trace/recording.py, `strict_json`). Masks that closures capture hold booleans. */
export type Scalar = number | "nan" | "inf" | "-inf" | boolean;
/** A number, or nested lists of numbers in the shape of an array. */
export type Value = Scalar | Value[];

// -- lab/trace/recording.py, `Trace`, as lab/trace/export.py's `playable` passes it on

interface Made {
  id: number; // its index in `nodes`
  label: string;
  children: number[]; // ids of its operands in order, with repeats
  shape: number[];
  value: Value;
  requires_grad: boolean;
  now?: Value; // its value after an in-place write between the two passes
  due?: Value; // the correct gradient, if the pass gave another one
  // only in passes recorded from a running program (lab/watch):
  precision?: { eps: number; most: number }; // of its dtype, if PyTorch computed it: relative rounding, largest number
  /** the full array's shape and statistics, if only some of its cells are sent */
  large?: { shape: number[]; min: Scalar; max: Scalar; mean: Scalar; not_finite: number };
  version?: number; // the number of writes to its memory before it was created
  writes?: { version: number; line: number; op: string }[]; // all writes to its memory
  hides?: string[]; // the nodes of PyTorch's graph that this one operation stands for
  cut?: boolean; // the graph ends here
  unseen?: boolean; // its numbers never reached Python
  shares?: number; // another result of the same call, which sends the message for both
  sizes?: boolean; // its numbers are complex: only their absolute values are here
  earlier?: Value; // its gradient from an earlier pass, to which this one adds
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
  symbol: string | null; // its sign, written between two operands or before a single one
  source: string; // a key of `sources`
  captured: Captured[];
  calls: string[]; // the engine's functions that called it, outermost first: "Linear 1", "mean 2"
  index?: string; // the text between the brackets, for indexing
  /** nonzero [cell of the result, local derivative] pairs for each cell of the message to each operand;
   * only if the table of derivatives has no formula */
  paths?: ([number, number][][] | null)[];
}

export type TraceNode = Leaf | Operation;

/** A variable captured by the closure of an operation's backward step. */
export type Captured = CapturedTensor | CapturedArray | CapturedSetting;

/** An operand, captured to send it a message if it has a gradient. */
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
  value?: Value; // absent if it is the value of the node itself or of an operand
  written?: boolean; // true if it was overwritten before it was read; absent if it was never read
  now?: Value; // its numbers after an in-place write between the two passes
}

/** Any other captured variable, such as an axis or a function. */
export interface CapturedSetting {
  name: string;
  holds: "setting";
  type: string; // name of the Python type
  shape: number[];
  value: string; // Python repr
  written?: boolean;
}

export interface CodeLine {
  source: string; // a key of `sources`
  line: number; // line number in that file
}

interface Step extends CodeLine {
  engine?: CodeLine; // the line of the lab's engine that ran, in a pass recorded from a running program
}

export interface Forward extends Step {
  kind: "forward";
  node: number;
}

export interface Seed extends Step {
  kind: "seed";
  node: number;
  grad: Value;
  replaced?: Value; // what the messages had added up to, before a hook of a recorded program
}

/** `node` sends a gradient to its operand number `operand`, the node `child`; an Accumulate comes next. */
export interface Message extends Step {
  kind: "message";
  node: number;
  child: number;
  operand: number;
  upstream: Value;
  contribution: Value; // in the shape of `node`
}

/** Forward mode: an operand sends its tangent times the local derivative to an operation. */
export interface Push extends Step {
  kind: "push";
  node: number;
  child: number;
  operand: number;
  tangent: Value;
  local: number | null; // null unless both nodes are single numbers
  text: string; // the local derivative in symbols, or ""
  contribution: Value; // in the shape of `node`
}

/** Forward mode: a node's rate of change with the input. The first such event also gives that of each input. */
export interface Tangent extends Step {
  kind: "tangent";
  node: number;
  value: Value;
  leaves: { node: number; value: Value }[];
}

/** before + message = after, all in the shape of `node`, unless the engine is broken at this step. */
export interface Accumulate extends Step {
  kind: "accumulate";
  node: number;
  before: Value;
  message: Value;
  after: Value;
  first: boolean; // no gradient had arrived before
}

export type TraceEvent = Forward | Seed | Message | Accumulate | Push | Tangent;

/** The source of a function at the time it ran. */
export interface SourceCode {
  file: string;
  first: number; // its first line number in the file
  lines: string[];
}

// -- lab/trace/derivation.py

export interface Derived {
  name: string;
  kind: "leaf" | "constant" | "operation" | "output";
  why: string; // why the gradient is not a sum of messages, or ""
  terms: Term[];
}

/** A message that was sent, or one that should have been sent. */
export type Term = SentTerm | DueTerm;

export interface SentTerm {
  event: number; // the index of its event
  node: number;
  operand: number;
  sends: string; // who sends: "v1 (*) sends"
  text: string;
  rule: string; // `text` with {g} for the upstream gradient and {a}, {b}, {y} for the nodes in `used`
  used: Record<string, number>;
  local: Value | null; // null if the table of derivatives has no formula; the text is then the whole message
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
  result: string; // the name of what the pass differentiates: the output, or a sum of several
  sources: Record<string, SourceCode>;
  derived: Derived[];
  error: string; // the error that backward() raised, or ""
}

// -- lab/ui/player.py, and `standalone` in lab/trace/export.py, which sends only a trace and an event

/** One cell of an input, by its position in reading order. */
export interface Along {
  name: string;
  cell: number;
}

export interface PlayerData {
  trace: TraceData;
  event: number | null; // the number of events to show at first; null for all
  address?: string | null; // the query parameter that holds the event
  usual?: number | null; // the event left out of the address because it is the default; null for the last one
  stage?: string | null; // the query parameter that holds the pass of the event, if the page has one
  usualStage?: string; // the pass left out of the address because it is the default: "none" if not given
  departure?: Departure | null; // the first event in which a broken engine differs from the correct one
  /** the correct engine's pass, and the name of the engine that the trace is of */
  right?: { trace: TraceData; engine: string } | null;
  text?: string; // the recorded program in one line or several
  field?: string; // the key of the page's text field for it
  printed?: string; // by the program whose pass it is
  outdated?: boolean; // the graph is that of an earlier text
  switches?: Switch[]; // choices of the page that Present mode offers, too
  along?: Along | null; // the input number of forward mode; null for reverse mode
  opening?: number; // a counter: when it changes, the player goes to `event` again
  chosen?: [number, number] | null; // node and position of the cell that are selected whenever `opening` changes
  key?: string; // identifies the player on its page
  hasScript?: boolean; // the experiment can be saved as a Python program
  sequence?: number; // the sequence number of the message that this answers
  compact?: boolean; // the player is part of a page and has no panels about a node
  grows?: number; // pixels from the end of the window, to which it reaches
  still?: boolean; // show only the graph, without movement
  live?: Live;
  values?: Record<string, Value>; // the inputs that the trace was computed with
  canPredict?: boolean; // whether a server can answer
  /** if requested: the wrong gradients that known mistakes give, by the event index of an arrival;
   * arrivals with too many numbers are left out */
  guesses?: Record<string, Guessed[]>;
  remarks?: Remark[]; // remarks on the trace, each shown after a pass
  slopes?: Slope[]; // the meaning of the gradients of single numbers; empty if unknown
  taken?: Taken; // the requested file
}

/** lab/trace/comparison.py: the first event in which a broken engine differs from the correct one */
export interface Departure {
  event: number;
  line: string; // the correct engine's line if it differs, or ""
}

export interface Switch {
  name: string;
  options: [string, string][]; // value and label
  value: string | null;
}

export interface Remark {
  after: "forward" | "backward";
  text: string;
}

/** lab/trace/mistakes.py, `after_arrivals` */
export interface Guessed {
  wrong: Value;
  said: string;
}

/** What comparing one number's gradient with numerical slopes has found (lab/gradcheck/slopes.py). */
export interface Slope {
  element: string;
  kind:
    "smooth" | "small" | "rounded" | "lost" | "differs" | "kink" | "tie" | "steep" | "jump" | "edge" | "nan" | "inf";
  used: Scalar;
  still: boolean; // moving the element does not change the result
  hasDerivative: boolean;
  hasValue: boolean; // whether the result is finite
  sentence: string;
}

export interface Taken {
  what: "html" | "script";
  number: number; // the number of the `Wish`
  text: string;
}

/** Inputs that the learner can change. */
export interface Live {
  id: string;
  leaves: LiveLeaf[];
}

export interface LiveLeaf {
  name: string;
  value: Value; // initial value
  low: number;
  high: number;
  step: number;
}

/** The state that the player sends to the server. */
export interface PlayerState {
  live: string; // the id of `Live` that the values are for
  sequence: number;
  values: Record<string, Value>;
  predict: boolean; // whether the learner predicts gradients
  event: number;
  selected: number | null;
}

/** A request for a file, for the prepared state of the page `by` positions further on, or for another value of a
 * switch. */
export interface Wish {
  what: "html" | "script" | "turn" | "switch";
  by?: number;
  switch?: string;
  value?: string;
  event: number;
  number: number;
}

// -- lab/ui/chart_host.py: the payload of a page of charts, by key

export interface TableData {
  headers: string[];
  rows: string[][];
  of?: number; // rows, of which these are some
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
  zero?: number; // the place of 0 on a logarithmic axis
  placing?: boolean; // whether a click places a point
  square?: boolean; // whether the picture is square; its height is then the greatest
  tooltip?: { valueFormatter?: string; [option: string]: unknown };
  [option: string]: unknown;
}

export interface AxisSpec {
  type: string;
  min?: number; // the ends, if they are fixed
  max?: number;
  axisLabel?: { formatter?: unknown; [option: string]: unknown };
  [option: string]: unknown;
}

/** The data of the charts of a page. The values of "progress", "network" and "tables" are not charts. */
export type Payload = Record<string, ShownChart> | { progress: ShownProgress; network: ShownNetwork; tables: boolean };

export interface ShownProgress {
  reached: number; // epochs so far, with a fraction; `epochs` is the number in the whole run
  epochs: number;
  cursor: number | null; // the chosen earlier epoch; null follows the training
  text: string;
  /** how far the run has been trained, as in the address */
  trained: string;
}

/** lab/charts/network.py */
export interface ShownNetwork extends TableData {
  columns: NetworkColumn[]; // inputs, layers, outputs
  wires: NetworkWires[]; // the weights between each column and the next
  hidden: number[]; // widths of the hidden layers
  palette: string[]; // colours "#rrggbb" from the lowest value to the highest
  height: string; // a CSS length
  label: string;
  note: string;
}

export interface NetworkColumn {
  name: string;
  tiles: NetworkTile[];
  more: number; // number of units without a tile
  side: number; // pixels in a row of a map
  layer: number | null; // index of a hidden layer; null for inputs and outputs
}

export interface NetworkTile {
  key: string;
  name: string;
  place: string; // the unit that the page shows large, "1.3"; "" if it cannot
  map: string; // indices of the palette as digits in base 36, row by row from the top; "" for no map
  word: string; // text instead of a map
  on: boolean | null; // whether a feature is on; null for a tile that cannot be switched
}

/** The weight of each line, by the tile where it starts and the tile where it ends. */
export type NetworkWires = number[][];

// -- lab/autodiff/array_pictures.py, `Picture.data`

/** Rows of arrays with signs between them; the sign "|" separates two halves. */
export interface ShownGrids {
  rows: ({ sign: string } | ShownGrid)[][];
  start: { key: string; cell: number }; // the cell that is chosen first
}

export interface ShownGrid {
  key: string;
  title: string;
  kind: "value" | "copy" | "gradient" | "upstream" | "wrong";
  shape: number[];
  cells: string[]; // texts of the cells in reading order, like `says` and `lights`
  says: string[];
  lights: Record<string, number[]>[]; // for each cell: key of a grid -> its related cells
}

// -- lab/practice/render_report.py, `render_report`; pages/parts/practice/exercise.py

/** The result of a check of a learner's text. */
export interface ShownResult {
  passed: boolean;
  hash: string; // hash of the checked text, from static/progress/hash.js
  tasksPassed: number; // number of tasks of the course that the text passes
  headline: string;
  sentence: string; // the known mistake, the error or why the check stopped; "" if there is none
  line: number | null; // line of the learner's file, from 1
  column: number | null;
  checks: { name: string; passed: boolean | null }[];
  program: string; // the program of the test case; `inputs` are the values of its inputs
  inputs: ShownValue[];
  values: ShownValue[]; // the value from the learner's code, the expected value, and the one from finite differences
  printed: string; // output of the learner's code; `printedWhen` names the cases: "in all cases that were run"
  printedWhen: string;
}

/** A value. Small arrays with at most two axes have `cells`; other values have only `text`. */
export interface ShownValue {
  name: string; // name in Python
  words: string; // where the value comes from: "with your code"
  text: string;
  wrong: boolean;
  cells?: { text: string; wrong: boolean }[][]; // rows of cells
  shape?: string;
}

export interface ShownExercise {
  key: string; // name under which the browser stores the text
  file: string;
  starter: string; // the text of the starter file
  again: string; // label of the button that restores the starter file
  lines: string; // starter lines of the task
  working: string | null; // the check that is running; null if none is
  result: ShownResult | null;
  how: string; // how the code is run, or why it cannot be run
  runs: boolean;
  onward: string; // label of the button that leads on after the last task; "" for no button
}

/** pages/parts/graph/program.py */
export interface ShownProgram {
  given: { text: string; number: number } | null; // a text to show in place of the present one, each number once
  starter: string; // the text to begin with if there is no other
  working: boolean;
  /** how the last run ended, and the hash of its text; problem is "" and line null if it ran to its end */
  result: { hash: string; problem: string; line: number | null } | null;
  refuses: string; // why no program can run here, or ""
}

// -- lab/ui/progress.py: what shows or takes the learner's progress

/** pages/parts/path.py */
export interface ShownPath {
  cards: { key: string; title: string; action: string; page: string; href: string }[];
  courses: { key: string; title: string }[];
}

/** pages/parts/path.py: the assignment in a teacher's link */
export interface ShownAssignment {
  items: { key: string; title: string; href: string }[];
}

/** lab/ui/progress.py: keys of cards that are done, or done at the end of the player's pass, and of passed tasks */
export interface ShownNote {
  path: string; // of the page
  done: string[];
  atEnd: string[];
  tasks: string[];
  stumbles: Record<string, { check: string; mistake: string }>; // the latest failure in each task
}

/** pages/parts/practice/tasks.py */
export interface ShownTasks {
  course: string; // key of the course, with which the keys of its tasks begin
  label: string; // description of the row for screen readers
  now: string; // key of the task that is shown
  tasks: { key: string; title: string }[];
}

/** pages/parts/practice/choice.py: the courses whose engine the session lacks and has not asked for */
export interface ShownEngines {
  /** `last` is the key of the last task, `tasks` the number of tasks */
  courses: { key: string; last: string; tasks: number }[];
  wanted: boolean; // whether the page waits for one of them
}

// -- lab/lessons/search.py, `SearchHit`

export interface SearchHit {
  kind: string;
  title: string;
  text: string;
  path: string; // path from the lab's root
  query: Record<string, string>;
  sure: boolean; // whether the text is certainly about this
}

// -- The parts of Streamlit's components that are used here

export interface Component<Parent extends HTMLElement | ShadowRoot> {
  parentElement: Parent;
  data: Uint8Array | null; // JSON; null if Python sends nothing
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

// -- static/graphviz/graphviz.js

export interface Graphviz {
  layout(dot: string, format: "json", engine: "dot"): string;
}

/** The parts of Graphviz's output that are used here. Points are "x,y", and y points up. */
export interface GraphvizLayout {
  bb: string; // "0,0,width,height"
  objects?: { id: string; pos: string }[];
  edges?: { id: string; pos: string; lp?: string }[];
}
