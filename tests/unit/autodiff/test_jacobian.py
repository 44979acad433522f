"""Both directions through one graph: they agree for every operation, and nothing but the engine's rules is used."""

import numpy as np
import op_table
import pytest

from lab.autodiff.jacobian import FunctionGraph, UnfitError
from lab.expression import parse
from model import Tensor

SHARED = {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}


def graph(text, **leaves):
    return FunctionGraph(parse(text), leaves)


def by_columns(graph):
    """The Jacobian, by n passes of forward mode."""
    return np.stack([graph.column(place) for place in graph.inputs], axis=1)


def by_rows(graph):
    """The same, by m passes of reverse mode."""
    return np.stack([graph.row(place) for place in graph.outputs])


def of_case(case):
    leaves = {f"x{number}": array for number, array in enumerate(case.inputs)}
    return FunctionGraph(lambda **tensors: case.call(tuple(tensors.values())), leaves)


def fits(case):
    # Small enough; and an operation, not what returns its operand (`reshape` to the same shape is one, `+x` is not).
    result = case.call(tuple(Tensor(array) for array in case.inputs))
    return 0 < case.size <= 24 and 0 < result.size <= 24 and result.closure is not None


def test_forward_and_reverse_mode_agree_for_every_operation():
    seen = set()
    for case in filter(fits, op_table.CASES):
        found = of_case(case)
        columns, rows = by_columns(found), by_rows(found)
        assert columns.shape == (len(found.outputs), len(found.inputs))
        np.testing.assert_allclose(columns, rows, rtol=1e-12, atol=1e-12, err_msg=case.id)
        seen.add(case.op)
    assert seen == {case.op for case in op_table.CASES}


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("(a*b + c) * (a + d)", SHARED),
        ("tanh(x @ w + b)", {"x": [[1, 2], [3, -4]], "w": [[0.5, 1], [-0.3, 2]], "b": [0.1, 0.2]}),
        ("h = softmax(x); h * sum(h**2) + x[0]", {"x": [1, -2, 0.5]}),
        ("[sin(t), cos(t), t**t]", {"t": 1.5}),
        ("where(c > 0, x, x**2)", {"c": [1, -1], "x": [2, 3]}),
    ],
)
def test_they_agree_through_whole_graphs(text, leaves):
    found = graph(text, **leaves)
    jacobian = by_rows(found)
    np.testing.assert_allclose(by_columns(found), jacobian, rtol=1e-12, atol=1e-12)
    v = np.linspace(-1, 2, len(found.outputs))
    np.testing.assert_allclose(found.backward(v), v @ jacobian, rtol=1e-12, atol=1e-12)


def test_a_broken_rule_breaks_both_directions():
    assert by_columns(graph("a*b", a=2.0, b=3.0)).tolist() == [[3, 2]]
    broken = FunctionGraph(op_table.doubled_product, {"a": 2.0, "b": 3.0})
    assert by_columns(broken).tolist() == by_rows(broken).tolist() == [[6, 4]]


@pytest.mark.parametrize(
    ("text", "leaves", "said"),
    [
        ("sum(x)", {"x": np.ones((10, 10))}, "has 100 numbers as inputs"),
        ("broadcast_to(x, 100)", {"x": 1.0}, "has 100 numbers as its result"),
        ("sum(broadcast_to(x, 2000))", {"x": 1.0}, "computes 2,002 numbers"),
    ],
)
def test_what_cannot_be_followed_is_said(text, leaves, said):
    with pytest.raises(UnfitError, match=said):
        graph(text, **leaves)
