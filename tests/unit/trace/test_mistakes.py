"""What known mistakes give: each held against an engine that makes it, or against its formula written out here."""

import numpy as np
import pytest

from lab.expression import parse
from lab.trace import mistakes
from lab.trace.derivation import derive
from lab.trace.mistakes import Mistakes, diagnosis, same
from lab.trace.recording import record
from lab.traps.faults.broken_engines import Overwrites
from lab.watch import watch
from model import Tensor

X, W, R = [[1.0, 2.0], [-3.0, 4.0]], [[0.5, 1.0], [2.0, -3.0]], [5.0, -6.0]
PASSES = (  # an expression and its inputs: numbers, powers and fractions, kinks and curves, small arrays
    ("((a*b) + c) * (a + d)", {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}),
    ("a * (b + a*c)", {"a": -2.0, "b": 3.0, "c": 5.0}),
    ("(a*b + c)**2 + a*a*b", {"a": 1.5, "b": -3.0, "c": 2.0}),
    ("(a / b) * (a + c)", {"a": 6.0, "b": -4.0, "c": 5.0}),
    ("relu(a*b + c) * a", {"a": 2.0, "b": 3.0, "c": -1.0}),
    ("max(a, b) * (a + c)", {"a": 2.0, "b": 3.0, "c": -1.0}),
    ("tanh(a*b + c) + sigmoid(a) * c", {"a": 0.5, "b": 1.0, "c": -2.0}),
    ("sum(x*r + b)", {"x": X, "r": R, "b": 2.0}),
    ("sum(relu(x @ w + r))", {"x": X, "w": W, "r": R}),
    ("sum(sum(x, axis=0) * r)", {"x": X, "r": R}),
)


def known(text, inputs):
    return Mistakes(record(parse(text), inputs))


def last_arrival(trace, number):
    """The index of the event after which a node's gradient is complete."""
    return [at for at, event in enumerate(trace.events) if event["kind"] == "accumulate" and event["node"] == number][
        -1
    ]


def wrong(known, name, mistake):
    """What one mistake makes of the gradient of a node, by its name: one array for each way to make it."""
    number = known.names.index(name)
    found = known.of_accumulation(last_arrival(known.trace, number))
    return [one.wrong.tolist() for one in found if one.name == mistake]


@pytest.mark.parametrize(("text", "inputs"), PASSES)
def test_an_engine_that_overwrites_makes_the_mistake_of_that_name(text, inputs):
    good, bad = record(parse(text), inputs), record(parse(text), inputs, tensor=Overwrites)
    right, broken = good.gradients_after(), bad.gradients_after()
    for number, gradient in broken.items():
        senders = {e["node"] for e in good.events if e["kind"] == "message" and e["child"] == number}
        if all(same(broken[sender], right[sender]) for sender in senders) and not same(gradient, right[number]):
            assert mistakes.OVERWRITTEN in diagnosis(
                Mistakes(good).of_accumulation(last_arrival(good, number)), gradient
            )


@pytest.mark.parametrize(("text", "inputs"), PASSES)
def test_local_derivatives_alone_are_told_as_a_missing_upstream_factor(text, inputs):
    trace = record(parse(text), inputs)
    for number, node in enumerate(derive(trace)):
        if len(node["terms"]) != 1 or any(
            trace.nodes[n]["shape"] for n in (number, *(t["node"] for t in node["terms"]))
        ):
            continue  # of numbers alone: no message is summed
        locals_ = [term["local"] for term in node["terms"]]
        if None not in locals_ and not same(sum(locals_), trace.gradients_after()[number]):
            assert mistakes.UPSTREAM in diagnosis(
                Mistakes(trace).of_accumulation(last_arrival(trace, number)), sum(locals_)
            )


@pytest.mark.parametrize(("text", "inputs"), PASSES)
def test_what_was_sent_before_it_was_summed_is_told_as_such(text, inputs):
    trace = record(parse(text), inputs)
    after = trace.gradients_after()
    for message in trace.events:
        if message["kind"] != "message" or np.shape(message["contribution"]) == np.shape(after[message["child"]]):
            continue
        sent = [e for e in trace.events if e["kind"] == "message" and e["child"] == message["child"]]
        if len(sent) == 1:
            told = diagnosis(
                Mistakes(trace).of_accumulation(last_arrival(trace, message["child"])), message["contribution"]
            )
            assert mistakes.UNSUMMED in told


FORMULAS = {  # expression, inputs, node -> mistake -> what it gives there, worked out by hand
    "a*b twice": (
        "a*b + a",
        {"a": 2.0, "b": 3.0},
        "a",
        {
            mistakes.OVERWRITTEN: [3.0],
            mistakes.UPSTREAM: [],
            mistakes.OWN: [3.0],
            mistakes.OUTPUT: [7.0],
            mistakes.SIGN: [-4.0, -2.0],
            mistakes.FORGOTTEN: [1.0],
            mistakes.VALUE: [2.0],
        },
    ),
    "tanh": ("tanh(a) * b", {"a": 2.0, "b": 3.0}, "a", {mistakes.INPUT: [3 * (1 - 4.0)], mistakes.OUTPUT: [3 * np.tanh(2)], mistakes.EXPONENT: [3 * (1 - np.tanh(2))]}),
    "exp": ("exp(a) * b", {"a": 2.0, "b": 3.0}, "a", {mistakes.INPUT: [6.0], mistakes.UPSTREAM: [np.exp(2)]}),
    "square": ("a**2 * b", {"a": 5.0, "b": 3.0}, "a", {mistakes.OUTPUT: [75.0, 150.0], mistakes.FACTOR: [6.0, 15.0], mistakes.EXPONENT: [150.0], mistakes.UPSTREAM: [10.0]}),
    "sigmoid": ("sigmoid(a) * b", {"a": 3.0, "b": 2.0}, "a", {mistakes.INPUT: [2 * 3 * (1 - 3)]}),
    "division": ("a / b * c", {"a": 6.0, "b": 2.0, "c": 5.0}, "b", {mistakes.INVERTED: [-15.0], mistakes.OWN: [-2.5], mistakes.OUTPUT: [-3.75]}),
    "tie": ("max(a, b) * c", {"a": 2.0, "b": 2.0, "c": 4.0}, "a", {mistakes.GATE: [4.0, 0.0]}),
    "relu": ("relu(a) * b", {"a": -2.0, "b": 4.0}, "a", {mistakes.GATE: [4.0, 4.0]}),
    "broadcast": ("sum(x + r)", {"x": [[1.0, 2.0], [3.0, 4.0]], "r": [5.0, 6.0]}, "r", {mistakes.UNSUMMED: [[[1.0, 1.0], [1.0, 1.0]]], mistakes.AVERAGED: [[1.0, 1.0]]}),
    "matrices": (
        "sum((x @ w) * r)",
        {"x": [[1.0, 2.0], [3.0, 4.0]], "w": [[0.0, 1.0], [2.0, 3.0]], "r": [1.0, 2.0]},
        "w",
        {mistakes.TRANSPOSED: [[[3.0, 6.0], [7.0, 14.0]], [[4.0, 6.0], [8.0, 12.0]]]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_a_mistake_gives_what_its_rule_says(name):
    text, inputs, node, due = FORMULAS[name]
    trace = known(text, inputs)
    for mistake, numbers in due.items():
        found = wrong(trace, node, mistake)
        for number in numbers:
            assert any(same(one, number) for one in found), (mistake, found)
        assert found or not numbers


def test_two_mistakes_with_the_same_numbers_are_both_told():
    trace = known("a*b + a", {"a": 2.0, "b": 3.0})
    of_a = trace.of_accumulation(last_arrival(trace.trace, trace.names.index("a")))
    assert diagnosis(of_a, 3.0) == (
        "This is what you get if you overwrite instead of adding (only the message from v1 is left), or if you use the "
        "operand itself, not the other one (in the message from v1: a in place of b)."
    )
    assert diagnosis(of_a, 1000.0) == ""


def test_what_an_earlier_pass_left_can_be_overwritten():
    w = Tensor(1.5, label="w")
    with watch() as pass_:
        for _ in range(2):
            ((w * 3.0 - 2.0) ** 2).backward()
    number = next(node["id"] for node in pass_.trace.nodes if node["label"] == "w")
    found = Mistakes(pass_.trace).of_accumulation(last_arrival(pass_.trace, number))
    assert mistakes.OVERWRITTEN in diagnosis(found, 15.0)


def test_what_gives_the_right_numbers_is_no_mistake():
    trace = known("a + b", {"a": 1.0, "b": 1.0})  # the upstream factor is 1, and so is the value
    assert [one.name for one in trace.of_accumulation(last_arrival(trace.trace, 0))] == [mistakes.SIGN]


def test_after_each_message_the_mistakes_in_it_are_known():
    trace = record(parse("((a*b) + c) * (a + d)"), {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0})
    arrivals = Mistakes(trace).wrong_gradients_by_event(6)
    events = {index for index, event in enumerate(trace.events) if event["kind"] == "accumulate"}
    assert set(arrivals) == events
    to_a = [index for index in sorted(events) if trace.events[index]["node"] == 0]
    first, second = ({one["wrong"]: one["said"] for one in arrivals[index]} for index in to_a)
    assert mistakes.OVERWRITTEN not in "".join(first.values())
    assert mistakes.OVERWRITTEN in second[21.0]
    assert "the upstream factor is missing (in the message from v1)" in second[13.0]
    assert Mistakes(trace).wrong_gradients_by_event(0) == {}
    assert known("log(a)", {"a": 0.0}).wrong_gradients_by_event(6) == {}  # nobody is asked for an infinite gradient
