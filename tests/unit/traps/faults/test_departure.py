"""Where the pass of a broken engine departs from the right one."""

import dataclasses

import pytest

from lab.expression.parser import parse
from lab.trace.comparison import departure, first_difference
from lab.traps.faults.broken_engines import SWITCH
from lab.traps.faults.healthy_and_broken import follow
from model import Tensor

SHARED = ("((a*b) + c) * (a + d)", {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0})
ORDER = ("t = a*b\nt * (t + c)", {"a": 2.0, "b": 3.0, "c": 1.0})
BROADCAST = ("(M + row).relu().sum()", {"M": [[1.0, -2.0], [3.0, 0.5]], "row": [0.5, 1.0]})


def passes(name, text, values):
    return tuple(follow(parse(text), engine, values) for engine in (Tensor, SWITCH[name]))


def test_an_engine_that_overwrites_departs_where_the_second_message_arrives():
    right, broken = passes("overwrites", *SHARED)
    found = departure(right, broken)
    event = broken.events[found.event]
    assert (event["kind"], event["before"], event["after"]) == ("accumulate", 10.0, 21.0)
    assert found.line == "self.grad += message"


def test_any_order_departs_where_a_gradient_is_passed_on_too_early():
    right, broken = passes("any-order", *ORDER)
    found = departure(right, broken)
    event = broken.events[found.event]
    assert event["kind"] == "message"
    assert (float(broken.gradients["a"]), float(right.gradients["a"])) == (21.0, 39.0)


def test_a_forgotten_sum_departs_at_the_operand_that_was_broadcast():
    right, broken = passes("forgets-the-sum", *BROADCAST)
    found = departure(right, broken)
    assert broken.nodes[broken.events[found.event]["node"]]["label"] == "row"


@pytest.mark.parametrize("name", SWITCH)
@pytest.mark.parametrize(
    ("text", "values"),
    [("a*b + c", {"a": 2.0, "b": -3.0, "c": 10.0}), ("exp(a)", {"a": 1.0}), ("b - sin(b*2)", {"b": 1.0})],
)
def test_where_the_gradients_are_the_same_the_pass_departs_nowhere_or_says_where(name, text, values):
    right, broken = passes(name, text, values)
    same = all(float(right.gradients[leaf]) == float(broken.gradients[leaf]) for leaf in values)
    assert (departure(right, broken) is None) == same


def test_the_same_messages_in_another_order_depart_nowhere():
    right, _ = passes("overwrites", *SHARED)
    shared = next(node["id"] for node in right.nodes if node["label"] == "a")
    first, last = (at for at, one in enumerate(right.events) if (one["kind"], one["node"]) == ("accumulate", shared))
    events = [*right.events]
    events[first] = {**events[first], "message": 21.0, "after": 21.0}
    events[last] = {**events[last], "before": 21.0, "message": 10.0}
    other = dataclasses.replace(right, events=events)
    assert first_difference(right, other) is not None
    assert departure(right, other) is None
