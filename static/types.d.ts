/** The data that Python and the browser exchange. Only the TypeScript compiler reads this file.
 * Each part names the Python file that makes it; tests/js/modules.test.js holds real traces against it. */

/** A number in strict JSON (lab/trace/recording.py, `strict_json`). Masks that closures capture hold booleans. */
export type Scalar = number | "nan" | "inf" | "-inf" | boolean;
/** A number, or nested lists of numbers in the shape of an array. */
export type Value = Scalar | Value[];

// -- lab/trace/recording.py, `Trace`, as lab/trace/export.py's `playable` passes it on

interface Made {
  /** its index in `nodes` */
  id: number;
  label: string;
  /** ids of its operands in order, with repeats */
  children: number[];
  shape: number[];
  value: Value;
  requires_grad: boolean;
  /** its value after an in-place write between the two passes */
  now?: Value;
  /** the correct gradient, if the pass gave another one */
  due?: Value;
  // only in passes recorded from a running program (lab/watch):
  /** the full array's shape and statistics, if only some of its cells are sent */
  large?: { shape: number[]; min: Scalar; max: Scalar; mean: Scalar; not_finite: number };
  /** the number of writes to its memory before it was created */
  version?: number;
  /** all writes to its memory */
  writes?: { version: number; line: number; op: string }[];
  /** the nodes of PyTorch's graph that this one operation stands for */
  hides?: string[];
  /** the graph ends here */
  cut?: boolean;
  /** its numbers never reached Python */
  unseen?: boolean;
  /** another result of the same call sends the message for both */
  shares?: boolean;
  /** its numbers are complex: only their absolute values are here */
  sizes?: boolean;
  /** its gradient was added to one from an earlier pass */
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
  /** its sign, written between two operands or before a single one */
  symbol: string | null;
  /** a key of `sources` */
  source: string;
  captured: Captured[];
  /** the engine's functions that called it, outermost first: "Linear 1", "mean 2" */
  calls: string[];
  /** the text between the brackets, for indexing */
  index?: string;
  /** nonzero [cell of the result, local derivative] pairs for each cell of the message to each operand;
   * only if the table of derivatives has no formula */
  paths?: ([number, number][][] | null)[];
}

export type TraceNode = Leaf | Operation;

/** A variable captured by the closure of an operation's backward step. */
export type Captured = CapturedTensor | CapturedArray | CapturedSetting;

/** An operand captured as the receiver of a message. */
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
  /** absent if it is the value of the node itself or of an operand */
  value?: Value;
  /** true if it was overwritten before it was read; absent if it was never read */
  written?: boolean;
  /** its numbers after an in-place write between the two passes */
  now?: Value;
}

/** Any other captured variable, such as an axis or a function. */
export interface CapturedSetting {
  name: string;
  holds: "setting";
  /** name of the Python type */
  type: string;
  shape: number[];
  /** Python repr */
  value: string;
  written?: boolean;
}

export interface CodeLine {
  /** a key of `sources` */
  source: string;
  /** line number in that file */
  line: number;
}

interface Step extends CodeLine {
  /** the line of the lab's engine that ran, in a pass recorded from a running program */
  engine?: CodeLine;
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

/** `node` sends a gradient to its operand number `operand`, the node `child`; an Accumulate comes next. */
export interface Message extends Step {
  kind: "message";
  node: number;
  child: number;
  operand: number;
  upstream: Value;
  /** in the shape of `node` */
  contribution: Value;
}

/** Forward mode: an operand sends its tangent times the local derivative to an operation. */
export interface Push extends Step {
  kind: "push";
  node: number;
  child: number;
  operand: number;
  tangent: Value;
  /** null unless both nodes are single numbers */
  local: number | null;
  /** the local derivative in symbols, or "" */
  text: string;
  /** in the shape of `node` */
  contribution: Value;
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
  /** no gradient had arrived before */
  first: boolean;
}

export type TraceEvent = Forward | Seed | Message | Accumulate | Push | Tangent;

/** The source of a function at the time it ran. */
export interface SourceCode {
  file: string;
  /** its first line number in the file */
  first: number;
  lines: string[];
}

// -- lab/trace/derive.py

export interface Derived {
  name: string;
  latex: string;
  kind: "leaf" | "constant" | "operation" | "output";
  /** why the gradient is not a sum of messages, or "" */
  why: string;
  terms: Term[];
}

/** A message that was sent, or one that should have been sent. */
export type Term = SentTerm | DueTerm;

export interface SentTerm {
  /** the index of its event */
  event: number;
  node: number;
  operand: number;
  text: string;
  latex: string;
  /** `text` with {g} for the upstream gradient and {a}, {b}, {y} for the nodes in `used` */
  rule: string;
  used: Record<string, number>;
  /** null if the table of derivatives has no formula; text and latex are then the whole message */
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
  /** the error that backward() raised, or "" */
  error: string;
}

// -- lab/ui/player.py, and `standalone` in lab/trace/export.py, which sends only a trace and an event

/** One cell of an input, by its position in reading order. */
export interface Along {
  name: string;
  cell: number;
}

export interface PlayerData {
  trace: TraceData;
  /** the number of events to show at first; null for all */
  event: number | null;
  /** the query parameter that holds the event */
  address?: string | null;
  /** the event left out of the address because it is the default; null for the last one */
  usual?: number | null;
  /** the query parameter that holds the pass of the event, if the page has one */
  stage?: string | null;
  /** the pass left out of the address because it is the default: "none" if not given */
  usualStage?: string;
  /** the first event in which a broken engine differs from the correct one */
  departure?: Departure | null;
  /** the correct engine's pass, and the name of the engine that the trace is of */
  right?: { trace: TraceData; engine: string } | null;
  /** the recorded program in one line or several */
  text?: string;
  /** the key of the page's text field for it */
  field?: string;
  /** the graph is that of an earlier text */
  outdated?: boolean;
  /** choices of the page that Present mode offers, too */
  switches?: Switch[];
  /** the input number of forward mode; null for reverse mode */
  along?: Along | null;
  /** a counter: when it changes, the player goes to `event` again */
  opening?: number;
  /** node and position of the cell that are selected whenever `opening` changes */
  chosen?: [number, number] | null;
  /** identifies the player on its page */
  key?: string;
  /** the experiment can be saved as a Python program */
  hasScript?: boolean;
  /** the sequence number of the message that this answers */
  sequence?: number;
  /** the player is part of a page and has no panels about a node */
  compact?: boolean;
  /** it may reach to the end of the window if its graph needs that */
  grows?: boolean;
  /** show only the graph, without movement */
  still?: boolean;
  live?: Live;
  /** the inputs that the trace was computed with */
  values?: Record<string, Value>;
  canCheck?: boolean;
  /** if requested: the wrong gradients that known mistakes give, by the event index of an arrival;
   * arrivals with too many numbers are left out */
  guesses?: Record<string, Guessed[]>;
  /** if requested */
  check?: Check | null;
  /** remarks on the trace, each shown after a pass */
  remarks?: Remark[];
  /** the meaning of the gradients of single numbers; empty if unknown */
  slopes?: Slope[];
  /** the requested file */
  taken?: Taken;
}

/** lab/trace/comparison.py: the first event in which a broken engine differs from the correct one */
export interface Departure {
  event: number;
  /** the correct engine's line if it differs, or "" */
  line: string;
}

export interface Switch {
  name: string;
  /** value and label */
  options: [string, string][];
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

export interface Check {
  rows: Checked[];
  /** a note on the inputs that were not checked, or "" */
  note: string;
}

/** An input with its gradient from backward() and its numerical gradient. */
export interface Checked {
  name: string;
  value: Value;
  /** null if no path leads from it to the result */
  gradient: Value | null;
  /** null if not computed */
  numerical: Value | null;
  /** null if there is nothing to compare */
  agrees: boolean | null;
  /** only for elements whose gradient is not simply the slope */
  slopes: Slope[];
}

/** Numerical slopes on both sides of one number, compared with its gradient (lab/gradcheck/slopes.py). */
export interface Slope {
  element: string;
  kind:
    "smooth" | "small" | "rounded" | "lost" | "differs" | "kink" | "tie" | "steep" | "jump" | "edge" | "nan" | "inf";
  left: Scalar;
  right: Scalar;
  used: Scalar;
  /** moving the element does not change the result */
  still: boolean;
  hasDerivative: boolean;
  /** whether the result is finite */
  hasValue: boolean;
  /** the left and right slopes in words */
  sides: [string, string];
  sentence: string;
}

export interface Taken {
  what: "html" | "script";
  /** the number of the `Wish` */
  number: number;
  text: string;
}

/** Inputs that the learner can change. */
export interface Live {
  id: string;
  leaves: LiveLeaf[];
}

export interface LiveLeaf {
  name: string;
  /** initial value */
  value: Value;
  low: number;
  high: number;
  step: number;
}

/** The state that the player sends to the server. */
export interface PlayerState {
  /** the id of `Live` that the values are for */
  live: string;
  sequence: number;
  values: Record<string, Value>;
  /** whether the numerical check is visible */
  check: boolean;
  /** whether the learner predicts gradients */
  predict: boolean;
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
  /** whether the picture is square; its height is then the greatest */
  square?: boolean;
  tooltip?: { valueFormatter?: string; [option: string]: unknown };
  [option: string]: unknown;
}

export interface AxisSpec {
  type: string;
  /** the ends, if they are fixed */
  min?: number;
  max?: number;
  axisLabel?: { formatter?: unknown; [option: string]: unknown };
  [option: string]: unknown;
}

/** The data of the charts of a page. The values of "progress", "network" and "tables" are not charts. */
export type Payload = Record<string, ShownChart> | { progress: ShownProgress; network: ShownNetwork; tables: boolean };

export interface ShownProgress {
  /** epochs so far, with a fraction; `epochs` is the number in the whole run */
  reached: number;
  epochs: number;
  /** the chosen earlier epoch; null follows the training */
  cursor: number | null;
  text: string;
  /** how far the run has been trained, as in the address */
  trained: string;
}

/** lab/charts/network.py */
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

// -- pages/parts/step_picture.py

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

// -- lab/practice/render_report.py, `render_report`; pages/parts/practice/exercise.py

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

/** pages/parts/graph/program.py */
export interface ShownProgram {
  /** a text to show in place of the present one, each number once */
  given: { text: string; number: number } | null;
  /** the text to begin with if there is no other */
  starter: string;
  working: boolean;
  /** how the last run ended, and the hash of its text; problem is "" and line null if it ran to its end */
  result: { hash: string; problem: string; line: number | null } | null;
  /** why no program can run here, or "" */
  refuses: string;
}

/** The file on the disk, in the learner's own folder. */
export interface OnDisk {
  text: string;
  /** identifies the text; "" if there is no file */
  stamp: string;
}

// -- lab/ui/places.py: what shows or takes the learner's progress

/** pages/parts/path.py */
export interface ShownPath {
  cards: { key: string; title: string; action: string; page: string; href: string }[];
  courses: { key: string; title: string }[];
}

/** lab/ui/assignment.py */
export interface ShownAssignment {
  items: { key: string; title: string; href: string }[];
}

/** lab/ui/progress.py: keys of cards that are done, or done at the end of the player's pass, and of passed tasks */
export interface ShownNote {
  done: string[];
  atEnd: string[];
  tasks: string[];
  /** the latest failure in each task */
  stumbles: Record<string, { check: string; mistake: string }>;
}

/** pages/parts/practice/tasks.py */
export interface ShownTasks {
  /** key of the course, with which the keys of its tasks begin */
  course: string;
  /** description of the row for screen readers */
  label: string;
  /** key of the task that is shown */
  now: string;
  tasks: { key: string; title: string }[];
}

/** pages/parts/practice/choice.py: the courses whose engine the session lacks and has not asked for */
export interface ShownEngines {
  /** `last` is the key of the last task, `tasks` the number of tasks */
  courses: { key: string; last: string; tasks: number }[];
  /** whether the page waits for one of them */
  wanted: boolean;
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
  /** JSON; null if Python sends nothing */
  data: Uint8Array | null;
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
