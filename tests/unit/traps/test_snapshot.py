"""A snapshot shows the graph that was there, with the numbers that are there."""

import numpy as np

from lab.text import body
from lab.trace.dot import draw
from lab.traps.snapshot import Snapshot
from model import Tensor


def test_the_graph_outlives_backward_and_the_values_are_those_of_now():
    a, b = Tensor(2.0, label="a"), Tensor(3.0, label="b")
    y = a * b + a
    snapshot = Snapshot(y)
    before = snapshot.trace()
    assert before.gradients_after() == {}
    y.backward()
    a.data = 7.0
    after = snapshot.trace()
    assert [node["children"] for node in after.nodes] == [node["children"] for node in before.nodes]
    by_label = {node["label"]: node for node in after.nodes}
    assert by_label["a"]["value"] == 7.0
    assert after.gradients_after()[by_label["a"]["id"]] == 4.0
    assert after.output == len(after.nodes) - 1


def test_several_results_are_one_graph_and_the_last_is_the_output():
    a = Tensor([1.0, 2.0], label="a")
    h = a * 2
    cut = h.detach() * a
    trace = Snapshot(h, cut).trace()
    assert sum(node["label"] == "a" for node in trace.nodes) == 1
    assert trace.nodes[trace.output]["op"] == "*"
    np.testing.assert_array_equal(trace.nodes[trace.output]["value"], [2, 8])
    assert draw(trace).source.count("->") == 4


def test_a_repeated_operand_keeps_both_edges():
    a = Tensor(3.0)
    assert Snapshot(a * a).trace().nodes[-1]["children"] == [0, 0]


def example():
    """A docstring is left out."""
    x = 1  # a comment stays
    if x:
        x += 1
    return x


def test_the_body_of_a_function_without_docstring_and_return():
    assert body(example) == "x = 1  # a comment stays\nif x:\n    x += 1\n"
