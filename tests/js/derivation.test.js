import assert from "node:assert/strict";
import { test } from "node:test";

import { derivation } from "../../static/player/derivation.js";
import { element, flat, shapeOf, toNumber } from "../../static/player/format.js";
import { TraceStates } from "../../static/player/states.js";
import { choices, comesTo, filled, numbersIn, says } from "./numbers.js";
import { statesOf, traces } from "./traces.js";

/** The text of each line, by its label. @param {Parameters<typeof derivation>} arguments_ */
function lines(...arguments_) {
  return Object.fromEntries(
    derivation(...arguments_).map(({ label, tokens }) => [label, tokens.map((token) => token.text).join("")]),
  );
}

for (const op of new Set(traces.operations.map((example) => example.op))) {
  const examples = traces.operations.filter((example) => example.op === op).map(({ data }) => new TraceStates(data));

  test(`the derivation of a gradient that came through ${op} has the numbers of the messages`, () => {
    for (const states of examples) {
      const frame = states.frame(states.length);
      for (const [id, { terms, name }] of states.derived.entries()) {
        if (!terms.length) continue;
        const gradient = frame.gradients.get(id) ?? assert.fail(name);
        for (const { cell } of choices(shapeOf(gradient))) {
          const written = derivation(states, frame, id, cell);
          const texts = written[2].tokens.map((token) => token.text);
          const whole = cell === null ? gradient : element(gradient, cell);
          const isArray = cell === null && shapeOf(gradient).length > 0;
          if (!isArray && !texts.join("").includes("Σ"))
            comesTo(texts.join(""), toNumber(flat(whole)[0]), `${name} ${texts.join("")}`);
          if (terms.length > 1 || terms.some((term) => term.event !== null && term.local === null)) {
            assert.equal(written[3].label, "messages");
            const messages = written[3].tokens.filter((token) => token.text !== " + ");
            assert.equal(messages.length, terms.length);
            terms.forEach((term, i) => {
              assert.ok(term.event !== null);
              const { message } = states.arrivalAfter(term.event);
              says(messages[i].text, cell === null ? message : element(message, cell), name);
            });
          }
          if (cell !== null) continue;
          const last = texts.filter((text) => ![" + ", " · ", "Σ(", ")"].includes(text));
          for (const term of terms) {
            assert.ok(term.event !== null);
            const { upstream } = states.message(term.event);
            const arrived = states.arrivalAfter(term.event).message;
            const text = last.shift() ?? "";
            if (term.local !== null) {
              says(text, upstream, name);
              const fills = !Array.isArray(upstream) && !Array.isArray(term.local);
              says(last.shift() ?? "", fills ? filled(arrived, term.local) : term.local, name);
            } else if (text.includes("@")) {
              const operand = states.nodes[term.node].children[1 - term.operand];
              const factors = [upstream, states.nodes[operand].value];
              const [left, right] = text.replace("ᵀ", "").split(" @ ");
              says(left, factors[term.operand], name);
              says(right, factors[1 - term.operand], name);
            } else {
              says(text, arrived, name);
            }
          }
          assert.deepEqual(last, []);
        }
      }
    }
  });
}

test("the lines of a leaf that is used twice are these", () => {
  const states = statesOf("shared");
  assert.deepEqual(lines(states, states.frame(states.length), 0, null), {
    "in symbols": "∂out/∂v3 · ∂v3/∂a + ∂out/∂v1 · ∂v1/∂a",
    "upstream numbers in": "10 · 1 + 7 · b",
    "local derivatives in": "10 · 1 + 7 · 3",
    messages: "10 + 21",
  });
});

for (const [name, id, signs] of /** @type {[string, number, string][]} */ ([
  ["shared", 0, "===="],
  ["rounded", 1, "==≈≈"],
  ["rounded", 2, "==="],
  ["broken", 0, "===≠"], // it overwrites what it should add to
]))
  test(`the lines of a derivation of "${name}" say where the digits shown do not hold`, () => {
    const states = statesOf(name);
    const written = derivation(states, states.frame(states.length), id, null);
    assert.equal(written.map(({ next }) => next).join(""), signs);
  });

test("a gradient that a hook has changed is first what the messages added up to", () => {
  const data = traces.named.shared;
  /** @type {import("../../static/types.js").TraceEvent} */
  const hook = { kind: "seed", node: 0, grad: 3.1, replaced: 31, source: data.events[0].source, line: 1 };
  const states = new TraceStates({ ...data, events: [...data.events, hook] });
  /** @param {number} k */
  const ending = (k) => derivation(states, states.frame(k), 0, null).slice(3);
  assert.deepEqual(
    ending(states.length).map(({ label, next }) => [label, next]),
    [
      ["messages", "="],
      ["before any hook", "→"],
    ],
  );
  assert.equal(ending(states.length)[1].tokens[0].text, "31");
  assert.equal(ending(states.length - 1).length, 1);
});

test("numbers of messages that have not been sent are dots", () => {
  const states = statesOf("shared");
  const first = states.derived[0].terms[0].event;
  assert.ok(first !== null);
  const before = lines(states, states.frame(first), 0, null);
  assert.equal(before["local derivatives in"], "… · … + … · …");
  const half = derivation(states, states.frame(first + 1), 0, null);
  assert.equal(half[2].tokens.map((token) => token.text).join(""), "10 · 1 + … · …");
  assert.deepEqual(
    half[0].tokens.filter((token) => token.node !== undefined).map((token) => Boolean(token.late)),
    [false, false, true, true],
  );
});

test("many messages are shortened, and say so", () => {
  const states = statesOf("many");
  const frame = states.frame(states.length);
  const messages = lines(states, frame, 0, null).messages;
  assert.deepEqual(numbersIn(messages), [11, 10, 9, 8, 7, 6, 5, 4]);
  assert.ok(messages.endsWith(" + …"));
});

test("messages that never came are in no derivation", () => {
  const states = statesOf("only forward");
  const frame = states.frame(states.length);
  assert.deepEqual(
    states.derived[0].terms.map((term) => term.event),
    [null],
  );
  assert.deepEqual(new Set(Object.values(lines(states, frame, 0, null))), new Set([""]));
});
