import assert from "node:assert/strict";
import { test } from "node:test";

import { factor, flat, numeral, shapeOf, toNumber } from "../../static/player/format.js";
import { departureText, rightOf, tell } from "../../static/player/ledger.js";
import { isOperation, TraceStates } from "../../static/player/states.js";
import { broadcastCell, choices, comesTo, filled, near, numbersIn, says } from "./numbers.js";
import { statesOf, traces } from "./traces.js";

/** @import { Operation, Value } from "../../static/types.js" */

/** The parts of a sentence that a pattern names. @param {string} sentence @param {RegExp} pattern */
function parts(sentence, pattern) {
  const found = pattern.exec(sentence);
  assert.ok(found?.groups, `"${sentence}" does not read like ${pattern}`);
  return found.groups;
}

const FORWARD = /^(?<what>.+?)(?: at (?<cell>\[[\d, ]+\]))?: (?<numbers>.+) gives (?:about )?(?<result>.+)\.$/;
const ADDED = String.raw`(?:before (?<before>.+), after|the first message\. The gradient is) (?<after>.+)`;
const SENDS = new RegExp(
  String.raw`^(?<from>.+) \((?<op>.+?)\) sends (?<numbers>.+) to (?<to>[^:]+?)(?:: ${ADDED})?\.$`,
);
const SUMS = new RegExp(String.raw`^The copies of (?<to>.+) receive (?<numbers>.+) together: ${ADDED}\.$`);
const PRODUCT = /^(?<upstream>.+) × (?<local>.+) (?<sign>[=≈≠]) (?<result>.+)$/;

/** The texts of the operands in "[1, 2] * 3", "−[1, 2]" or "where([1, 2], (5,))". @param {Operation} node
 * @param {string} text */
function written(node, text) {
  if (node.symbol !== null) {
    return node.children.length === 1 ? [text.slice(node.symbol.length)] : text.split(` ${node.symbol} `);
  }
  if (node.index !== undefined) return [text.slice(0, -`[${node.index}]`.length)];
  assert.ok(text.startsWith(`${node.op}(`) && text.endsWith(")"), text);
  let depth = 0;
  const commas = [...text.slice(node.op.length + 1, -1)].map((sign) => {
    depth += Number("([".includes(sign)) - Number(")]".includes(sign));
    return sign === "," && depth === 0 ? "\0" : sign;
  });
  return commas
    .join("")
    .split("\0")
    .map((part) => part.trim());
}

/** What the sentence of a forward event has to say of the operands, cell by cell where a cell is chosen.
 * @param {TraceStates} states @param {Operation} node @param {number[] | null} index */
function operands(states, node, index) {
  return node.children.map((child) => {
    const value = states.nodes[child].value;
    return index ? broadcastCell(value, node.shape, index) : value;
  });
}

test("every operation has examples", () => {
  const seen = new Set(traces.operations.map(({ op }) => op));
  assert.ok(seen.size >= 37);
  for (const { op, data } of traces.operations) assert.equal(data.nodes[data.output].op, op);
});

for (const op of new Set(traces.operations.map((example) => example.op))) {
  const examples = traces.operations.filter((example) => example.op === op).map(({ data }) => new TraceStates(data));

  test(`the ledger says what went into ${op} and what came out, whole and for each cell`, () => {
    for (const states of examples) {
      states.events.forEach((event, i) => {
        if (event.kind !== "forward") return;
        const node = states.operation(event.node);
        const single = node.kind === "elementwise" && node.shape.length > 0;
        for (const { cell, index } of choices(node.shape)) {
          const { phase, sentence, equation } = tell(states, states.frame(i + 1), cell);
          const told = parts(sentence, FORWARD);
          const byCell = single ? index : null;
          assert.equal(phase, "Forward pass");
          assert.equal(told.what, states.definition(node.id));
          assert.equal(told.cell, byCell ? `[${byCell.join(", ")}]` : undefined);
          says(told.result, byCell ? broadcastCell(node.value, node.shape, byCell) : node.value, sentence);
          const wanted = operands(states, node, byCell);
          const texts = written(node, told.numbers);
          assert.equal(texts.length, wanted.length, sentence);
          wanted.forEach((value, operand) => says(texts[operand], value, sentence));
          const long = told.numbers.length > 88; // two rows of the narrowest ledger: then the result stands alone
          assert.equal(equation.length, long ? 1 : 3);
          assert.equal(equation[0].text, long ? told.result : told.numbers);
          assert.equal(equation.at(-1)?.text, told.result);
        }
      });
    }
  });

  test(`the ledger says what ${op} sends, whole and for each cell`, () => {
    for (const states of examples) {
      states.events.forEach((event, i) => {
        if (event.kind !== "message") return;
        const arrival = states.arrivalAfter(i);
        const shape = shapeOf(arrival.message);
        const term = states.term(i, event);
        const sums = flat(event.contribution).length > flat(arrival.message).length;
        for (const { cell, index } of choices(shape)) {
          const chosen = Array.isArray(arrival.message) ? index : null;
          const at = (/** @type {Value} */ value) => (chosen ? broadcastCell(value, shape, chosen) : value);
          const { sentence, equation, note } = tell(states, states.frame(i + 1), cell);
          const told = parts(sentence, SENDS);
          const receiver = states.name(event.child);
          assert.equal(told.op, states.nodes[event.node].op);
          assert.equal(told.from, states.name(event.node));
          assert.equal(told.to, chosen ? `${receiver}[${chosen.join(", ")}]` : receiver);
          if (sums) assert.match(note, /Broadcasting made \d+ copies .+ the gradients of the copies are summed\./);
          if (term.local === null) assert.ok(note.includes(`Rule: ${term.text}.`), note);
          if (chosen) {
            // what each copy of the cell is sent, as a sum of products
            const [all, rest] = told.numbers.split(/ and (?=\d+ more$)/);
            const sent = all.split(", ").map((text) => {
              const [sum, sign, result = sum] = text.split(/ ([=≈]) /);
              if (!sum.includes("…")) comesTo(sum, numbersIn(result)[0], sentence, sign);
              return numbersIn(result)[0];
            });
            /** @type {number} */
            const copies = flat(event.contribution).length / flat(arrival.message).length;
            assert.equal(sent.length + (rest ? parseInt(rest) : 0), copies, sentence);
            const total = sent.reduce((sum, x) => sum + x, 0);
            const size = sent.reduce((sum, x) => sum + Math.abs(x), 0);
            const sum = toNumber(flat(at(arrival.message))[0]);
            if (!rest) assert.ok(near(total, sum) || Math.abs(total - sum) <= 1e-3 * size, sentence);
          } else if (term.local !== null) {
            const product = parts(told.numbers, PRODUCT);
            assert.match(product.sign, /[=≈]/);
            if (!shapeOf(event.contribution).length)
              comesTo(`${product.upstream} × ${product.local}`, numbersIn(product.result)[0], sentence, product.sign);
            says(product.upstream, event.upstream, sentence);
            const fills = !Array.isArray(event.upstream) && !Array.isArray(term.local);
            says(product.local, fills ? filled(event.contribution, term.local) : term.local, sentence);
            says(product.result, event.contribution, sentence);
          } else {
            says(told.numbers.split(/ [=≈] /).at(-1) ?? "", sums ? event.contribution : arrival.message, sentence);
          }
          assert.equal(equation.at(-1)?.role, "message");

          const after = tell(states, states.frame(i + 2), cell);
          const added = parts(after.sentence, sums ? SUMS : SENDS);
          if (sums) {
            const [copies, sign, sum] = added.numbers.split(/ ([=≈]) /);
            says(sum, at(arrival.message), after.sentence);
            if (chosen && !copies.includes("…")) comesTo(copies, numbersIn(sum)[0], after.sentence, sign);
          } else {
            assert.equal(added.numbers, told.numbers);
          }
          assert.equal(added.to, told.to);
          if (arrival.first) assert.equal(added.before, undefined);
          else says(added.before, at(arrival.before), after.sentence);
          says(added.after, at(arrival.after), after.sentence);
          assert.ok(!after.equation.some((part) => part.text === "≠"), after.sentence);
        }
      });
    }
  });
}

test("a chosen cell of minimum is told as one of maximum is", () => {
  for (const [name, result] of [
    ["maximum", 5],
    ["minimum", 4],
  ]) {
    const states = statesOf(String(name));
    const { sentence } = tell(states, states.frame(1), 1);
    assert.equal(sentence, `v1 = ${name}(a, b) at [1]: ${name}(5, 4) gives ${result}.`);
  }
});

test("the sentences of the first example are these", () => {
  const states = statesOf("shared");
  const told = [0, 1, 4, 5, 6, 7, states.length].map((k) => tell(states, states.frame(k), null).sentence);
  assert.deepEqual(told, [
    "This pass has not begun: only the inputs have values.",
    "v1 = a * b: 2 * 3 gives 6.",
    "out = v2 * v3: 10 * 7 gives 70.",
    "The backward pass starts at out with the starting gradient 1.",
    "out (*) sends 1 × 7 = 7 to v2.",
    "out (*) sends 1 × 7 = 7 to v2: the first message. The gradient is 7.",
    "v1 (*) sends 7 × 2 = 14 to b: the first message. The gradient is 14.",
  ]);
});

test("an equation whose digits do not hold because they are rounded is not said to be one", () => {
  const states = statesOf("rounded");
  const equations = states.events.map((_, i) => tell(states, states.frame(i + 1), null).equation);
  const told = equations.map((equation) => equation.map(({ text }) => text).join(" "));
  for (const text of ["12.18 * 1.5 ≈ 18.28", "exp(0.3333) ≈ 1.396", "1.396 × 12.18 ≈ 17", "1.5 + 0.4652 ≈ 1.965"])
    assert.ok(told.includes(text), told.join("\n"));
  for (const text of ["relu(4.061) = 4.061", "1 × 1.396 = 1.396"]) assert.ok(told.includes(text), told.join("\n"));
});

test("of a message that PyTorch has summed already, the copies are told, too", () => {
  const own = statesOf("broadcast");
  const index = own.events.findIndex((_, i) => tell(own, own.frame(i + 1), null).note.includes("copies"));
  const { data } = structuredClone(traces.slopes.slope);
  Object.assign(
    data,
    structuredClone({ nodes: own.nodes, events: own.events, derived: own.derived, output: own.output }),
  );
  const [message, arrival] = [data.events[index], data.events[index + 1]];
  assert.ok(message.kind === "message" && arrival.kind === "accumulate");
  message.contribution = arrival.message;
  const summed = new TraceStates(data);
  assert.match(tell(summed, summed.frame(index + 1), null).note, /Broadcasting made 3 copies of row along axis 0/);
});

test("how many copies of a broadcast input are summed, and over which axis, is told where they are", () => {
  const states = statesOf("broadcast");
  const [leaf] = states.leaves();
  const k = states.events.findIndex((event) => event.kind === "accumulate" && event.node === leaf.id) + 1;
  const told = tell(states, states.frame(k), null);
  assert.equal(
    told.copies,
    "Broadcasting made 3 copies of row along axis 0, so the gradients of the copies are summed.",
  );
  assert.deepEqual([told.note, told.equation[0].text], [told.copies, "[1, 2] + [3, 4] + [5, 6]"]);
});

test("the end of a pass states its result, and no event before it does", () => {
  const states = statesOf("shared");
  for (let k = 0; k < states.length; k += 1) {
    const { result, note } = tell(states, states.frame(k), null);
    assert.equal(result, undefined);
    assert.equal(/The forward pass is done/.test(note), k === states.forwardEnd);
  }
  const { result } = tell(states, states.frame(states.length), null);
  assert.equal(result?.sentence, "The backward pass is done. Gradients of out: a 31, b 14, c 7, d 10.");
  assert.deepEqual(
    result.equation.map((part) => [part.text, part.caption]),
    [
      ["31", "∂out/∂a"],
      ["14", "∂out/∂b"],
      ["7", "∂out/∂c"],
      ["10", "∂out/∂d"],
    ],
  );
  const broken = statesOf("broken");
  assert.match(String(tell(broken, broken.frame(broken.length), null).result?.sentence), /went wrong on the way/);
});

test("what was added to gradients of an earlier pass is not called the derivative", () => {
  const states = statesOf("second");
  const { result } = tell(states, states.frame(states.length), null);
  assert.equal(
    result?.sentence,
    "The backward pass is done. It was added to gradients of an earlier pass. The inputs hold: w 12 + 4 + 4 + 4 = 24.",
  );
  assert.deepEqual(
    result.equation.map((part) => [part.text, part.caption]),
    [["24", "w.grad"]],
  );
  const first = states.events.findIndex((event) => event.kind === "accumulate" && event.node === 0);
  const { note, equation } = tell(states, states.frame(first + 1), null);
  assert.match(note, /w\.grad kept what an earlier pass gave it, so the message is added to it\./);
  assert.deepEqual(
    equation.map((part) => part.text),
    ["12", "+", "4", "=", "16"],
  );
});

/** What the end of a pass says after the gradients. @param {string} name @param {boolean} known */
function meaning(name, known = true) {
  const { data, slopes } = traces.slopes[name];
  const states = new TraceStates(data, known ? slopes : []);
  const said = String(tell(states, states.frame(states.length), null).result?.sentence);
  return said.replace(/^The backward pass is done\. Gradients of out: (\[[^\]]*\]|[^.[]|\.\d)*\. ?/, "");
}

test("the end of a pass says what its gradients mean only where differences have confirmed it", () => {
  const none = "At a there is no derivative";
  const expected = {
    slope: "If a grows by a little, out changes by (−3) times as much.",
    kink: `${none}: the slope is 0 on the left and 1 on the right. This engine, like PyTorch, uses 0.`,
    "two kinks":
      `${none}: the slope is −1 on the left and 1 on the right. This engine, like PyTorch, uses 0. ` +
      "There is none at b either.",
    tie:
      `${none} (elements tie): the slope is 0 on the left and 1 on the right. This engine, like PyTorch, uses 0.5. ` +
      "There is none at b either.",
    nan: "The result is NaN here, so it has no slope at a.",
    infinite: "The result is infinite here, so it has no slope at a.",
    edge:
      `${none} (the result ends here): the slope is undefined on the left and without bound on the right. ` +
      "This engine, like PyTorch, uses ∞.",
    wrong: "The slope at a is 1, but backward() gives 0. A kink inside (relu) can be the cause.",
    blocked: "If a grows by a little, out does not change.",
    minimum: "If a grows by a little, out does not change, to first order.",
    small:
      "The slope at a is too small to be judged: backward() gives 1e−9 and the differences 1e−9, both below the " +
      "tolerance of 1e−8.",
    array: "",
    "many inputs": "If a grows by a little, out changes by 1 times as much.", // of those judged while a slider moves
  };
  for (const [name, sentence] of Object.entries(expected)) assert.equal(meaning(name), sentence, name);
  assert.deepEqual(Object.keys(traces.slopes), Object.keys(expected));
  for (const name of Object.keys(expected)) assert.equal(meaning(name, false), "", name);
});

test("of a gradient too long to be written out, its result says the least and the largest", () => {
  const of = (/** @type {string} */ name) => {
    const states = statesOf(name);
    return String(tell(states, states.frame(states.length), null).result?.sentence);
  };
  assert.match(of("broadcast"), /Gradients of out: row \[9, 12\], m \(3, 2\) from 10 to 20\.$/);
  assert.match(of("joined"), /a \(5,\) all 0\.2, b \(5,\) all 0\.2\.$/);
});

test("a row of figures says how many inputs have no room in it", () => {
  const { data } = traces.slopes["many inputs"];
  const { equation } = /** @type {{equation: {text: string, caption: string}[]}} */ (
    tell(new TraceStates(data), new TraceStates(data).frame(new TraceStates(data).length), null).result
  );
  const { text, caption } = equation[equation.length - 1];
  assert.deepEqual([text, caption], ["…", `and ${9 - (equation.length - 1)} more`]);
  assert.ok(equation.length > 3);
});

test("what a hook makes of a gradient is told, and that the inputs then hold no derivative of the result", () => {
  const { data } = traces.slopes.slope;
  const input = data.nodes.find(({ op, requires_grad }) => !op && requires_grad)?.id ?? 0;
  const at = { source: "", line: 1 };
  data.events.push({ kind: "seed", node: input, grad: 0.5, replaced: 7, ...at });
  const states = new TraceStates(data);
  const { sentence, result } = tell(states, states.frame(states.length), null);
  const name = states.name(input);
  assert.equal(sentence, `A hook of the program changes the gradient of ${name} from 7 to 0.5.`);
  assert.match(
    String(result?.sentence),
    RegExp(`A hook changed a gradient on the way. The inputs hold: .*${name} 0.5`),
  );
  assert.equal(result?.equation[0].caption, `${name}.grad`);
});

test("a second message is said to add up", () => {
  const states = statesOf("shared");
  const k = states.events.findIndex((event) => event.kind === "accumulate" && !event.first) + 1;
  const { equation, note } = tell(states, states.frame(k), null);
  assert.deepEqual(
    equation.map((part) => part.text),
    ["10", "+", "21", "=", "31"],
  );
  assert.equal(
    note,
    "v1's gradient 7 times the local derivative b = 3. a is used more than once, so its messages add up.",
  );
});

test("a number is told why it gets its share: the upstream gradient times the local derivative, by name", () => {
  const told = ["slope", "kink"].map((name) => {
    const states = new TraceStates(traces.slopes[name].data);
    return states.events.flatMap(({ kind }, i) =>
      kind === "accumulate" ? [tell(states, states.frame(i + 1), null).note] : [],
    );
  });
  assert.deepEqual(told[0], [
    "out's gradient 1 times the local derivative 1.",
    "out's gradient 1 times the local derivative 1.",
    "v1's gradient 1 times the local derivative b = −3.",
    "v1's gradient 1 times the local derivative a = 2.",
  ]);
  assert.ok(
    told[1].includes("v2's gradient 1 times the local derivative 1 if v1 > 0, else 0 = 0."),
    told[1].join("\n"),
  );
});

test("an engine that overwrites is caught at the event where it does", () => {
  const states = statesOf("broken");
  const wrong = states.events.flatMap((event, i) => {
    const { equation, note } = tell(states, states.frame(i + 1), null);
    const signs = equation.filter((part) => part.role === "sign").map((part) => part.text);
    assert.equal(signs.includes("≠"), /something is broken here/.test(note));
    return signs.includes("≠") ? [event.kind] : [];
  });
  assert.deepEqual(wrong, ["accumulate", "accumulate"]);
});

test("where a broken engine departs is told, and that a node sent too early", () => {
  const data = traces.named.early;
  const event = data.events.findIndex((one) => one.kind === "message" && data.nodes[one.child].label === "a");
  const states = new TraceStates(data, [], { event, line: "" });
  assert.equal(
    departureText(states, states.frame(event + 1)),
    "✗ The first event that differs. t sends too early: 1 of its 2 messages have arrived.",
  );
  assert.deepEqual(
    states.events.flatMap((_, i) => (states.departs(states.frame(i + 1)) ? [i] : [])),
    [event],
  );
  assert.equal(departureText(new TraceStates(data), states.frame(event + 1)), "");
});

/** The trace of another engine with that of the right one. @param {string} name @param {string} right */
const against = (name, right) => new TraceStates(traces.named[name], [], null, "", statesOf(right), "other");

for (const [name, right, seen, end] of /** @type {[string, string, string[], string[]][]} */ ([
  ["overwritten", "shared", ["10 + 21 = 31"], ["a 21 (right: 31)"]],
  ["early", "early, right", ["13 × 3 = 39", "39", "13 × 2 = 26", "26"], ["a 21 (right: 39)", "b 14 (right: 26)"]],
  ["no sum", "no sum, right", ["[1, 2] + [3, 4] + [5, 6] = [9, 12]"], ["row (3, 2) from 1 to 6 (right: [9, 12])"]],
])) {
  test(`${name}: where another engine differs, the right sum is told, and at the end both gradients`, () => {
    const states = against(name, right);
    const told = states.events.flatMap((_, i) => rightOf(states, states.frame(i + 1))?.text ?? []);
    assert.deepEqual(told, seen);
    const { sentence = "" } = tell(states, states.frame(states.length), null).result ?? {};
    for (const part of end) assert.ok(sentence.includes(part), sentence);
  });
}

test("the same engine differs nowhere from itself", () => {
  const states = against("shared", "shared");
  for (let k = 0; k <= states.length; k += 1) {
    assert.equal(rightOf(states, states.frame(k)), null);
    for (const { id } of states.nodes) assert.equal(states.due(id, states.frame(k)), undefined);
  }
});

test("a rule that the engine did not follow is named", () => {
  const data = structuredClone(traces.named.shared);
  const event = /** @type {any} */ (data.events.find((one) => one.kind === "message"));
  const term = data.derived[event.child].terms[0];
  assert.ok(term.event !== null);
  term.agrees = false;
  const states = new TraceStates(data);
  const told = tell(states, states.frame(term.event + 1), null);
  assert.match(told.sentence, /≠/);
  assert.match(told.note, /^The rule gives another number/);
});

for (const [text, after, of] of /** @type {[string, number, object][]} */ ([
  ["broken", 31.02, {}],
  ["right", 31.02, { precision: { eps: 2 ** -10, most: 65504 } }],
  ["right", Infinity, { precision: { eps: 0.125, most: 30 } }],
  ["broken", Infinity, { precision: { eps: 2 ** -10, most: 65504 } }],
  ["right", 20, { sizes: true }],
]))
  test(`${after} as the sum of 10 and 21 is ${text} for ${JSON.stringify(of)}`, () => {
    const data = structuredClone(traces.named.shared);
    const event = /** @type {any} */ (data.events.findLast((one) => one.kind === "accumulate" && one.node === 0));
    event.after = after;
    Object.assign(data.nodes[0], of);
    const states = new TraceStates(data);
    const { sentence, note } = tell(states, states.frame(data.events.indexOf(event) + 1), null);
    assert.equal(/≠|broken/.test(sentence + note), text === "broken");
  });

test("the error of the engine stands at the last event and nowhere else", () => {
  const states = statesOf("only forward");
  assert.equal(states.length, 1);
  assert.match(tell(states, states.frame(0), null).note, /^The forward pass computes everything/);
  assert.equal(tell(states, states.frame(1), null).note, "Here the engine stopped: It was told to stop.");
});

test("a trace that has no backward pass yet ends with its forward pass", () => {
  const states = new TraceStates({ ...traces.named["only forward"], error: "" });
  const { phase, note, result } = tell(states, states.frame(states.length), null);
  assert.equal(phase, "Forward pass");
  assert.equal(result, undefined);
  assert.equal(note, "The forward pass is done. The backward pass has not begun.");
});

test("infinities and what is no number are told by their signs", () => {
  const states = statesOf("infinite");
  const { sentence } = tell(states, states.frame(1), 0);
  assert.match(sentence, /1 \/ 0 gives ∞\.$/);
  assert.ok(isOperation(states.nodes[2]));
  assert.match(tell(states, states.frame(2), 1).sentence, /log\(\(−1\)\) gives NaN\.$/);
});

test("the ledger is true for random programs", () => {
  for (const { data, gradients } of traces.random) {
    const states = new TraceStates(data);
    /** @type {Map<number, number>} */
    const sums = new Map();
    states.events.forEach((event, i) => {
      const { equation } = tell(states, states.frame(i + 1), null);
      if (event.kind !== "accumulate") return;
      const [before, message, after] = [event.before, event.message, event.after].map((x) => toNumber(flat(x)[0]));
      assert.ok(near(before + message, after, 1e-9), `${before} + ${message} is not ${after}`);
      sums.set(event.node, (sums.get(event.node) ?? 0) + message);
      const sum = `${factor(before)} + ${factor(message)}`;
      const sign = equation[equation.length - 2].text;
      const wanted = event.first ? `nothing yet → ${numeral(after)}` : `${sum} ${sign} ${numeral(after)}`;
      assert.equal(equation.map((part) => part.text).join(" "), wanted);
      if (!event.first) comesTo(sum, numbersIn(numeral(after))[0], wanted, sign);
    });
    const frame = states.frame(states.length);
    for (const [node, value] of Object.entries(gradients)) {
      const found = frame.gradients.get(Number(node));
      assert.deepEqual(found, value);
      const sum = sums.get(Number(node));
      if (Number(node) !== states.output && found !== undefined && sum !== undefined) {
        assert.ok(near(sum, toNumber(flat(found)[0]), 1e-9), `messages to ${node}`);
      } else assert.equal(Number(node), states.output);
    }
  }
});

test("where no input requires a gradient there is no graph, and the engine says why it stopped", () => {
  const states = statesOf("no graph");
  const told = tell(states, states.frame(0), null);
  assert.match(told.sentence, /^The values are computed\. No operation is recorded/);
  assert.match(told.note, /^Here the engine stopped: backward\(\) has nothing to differentiate/);
});

test("of an array of which some cells were kept, the ledger names shape and cell as the program has them", () => {
  const states = statesOf("recorded");
  const stories = states.events.map((_, i) => tell(states, states.frame(i + 1), null));
  const texts = stories.flatMap(({ sentence, equation }) => [sentence, ...equation.map(({ text }) => text)]);
  assert.ok(texts.some((text) => text.includes("(20, 20)")));
  for (const text of texts) assert.doesNotMatch(text, /\(5, 10\)/); // what was kept of a (20, 20) array
  const { sentence } = tell(states, states.frame(states.length), 13);
  assert.match(sentence, / to w\[4, 6\]: /); // row 1 and column 3 of every fourth row and every second column
});
