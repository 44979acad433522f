"""A trace's gradients next to numerical ones: both are there, within a budget that is counted, not timed."""

import numpy as np
import pytest

from lab.expression import parse
from lab.trace.numerical import NODE_OVERHEAD, check
from lab.trace.recording import record
from tests.programs import LEAVES, shared


def test_both_gradients_stand_side_by_side():
    rows, sentence = check(record(shared, LEAVES), shared)
    assert [(row.name, row.value, float(row.analytic)) for row in rows] == [
        ("a", 2.0, 31.0),
        ("b", 3.0, 14.0),
        ("c", 4.0, 7.0),
        ("d", 5.0, 10.0),
    ]
    np.testing.assert_allclose([row.numerical for row in rows], [31, 14, 7, 10], rtol=1e-6)
    assert all(row.agrees is True for row in rows)
    assert sentence == ""


def test_a_vector_result_is_summed():
    expression = parse("tanh(X @ w) * w")
    rows, _ = check(record(expression, {"X": [[0.5, 1.0], [1.5, -0.5]], "w": [0.2, 0.3]}), expression)
    assert [np.shape(row.numerical) for row in rows] == [(2, 2), (2,)]
    assert all(row.agrees for row in rows)


def test_a_leaf_without_a_path_and_a_gradient_that_is_wrong():
    def build(a, b):
        return a * a

    trace = record(build, {"a": 3.0, "b": 1.0})
    trace.gradients["a"] = trace.gradients["a"] + 1.0
    (a, b), _ = check(trace, build)
    assert a.agrees is False
    assert (b.analytic, float(b.numerical), b.agrees) == (None, 0.0, None)


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_does_not_warn():
    def build(a):
        return (a.log() * 1e308) * 1e308

    (row,), _ = check(record(build, {"a": 0.0}), build)
    assert not np.isfinite(row.numerical)


def test_what_goes_beyond_the_budget_is_left_out_and_named():
    expression, calls = parse("sum(X)*a + sum(y)"), []

    def build(**leaves):
        calls.append(1)
        return expression(**leaves)

    trace = record(build, {"X": np.ones((10, 10)), "a": 2.0, "y": np.ones(40)})
    work = sum(NODE_OVERHEAD + np.size(node["value"]) for node in trace.nodes)
    calls.clear()
    rows, sentence = check(trace, build, budget=5 * work)  # four evaluations for a, none for the others
    assert len(calls) == 4
    assert [(row.name, row.numerical is None, row.agrees) for row in rows] == [
        ("X", True, None),
        ("a", False, True),
        ("y", True, None),
    ]
    assert sentence == ("Not checked numerically, because it would take too long: X, y. Smaller arrays can be checked.")


def test_many_large_inputs_are_not_computed_thousands_of_times():
    expression, calls = parse("sum(" + "+".join(f"a{i}" for i in range(40)) + ")"), []

    def build(**leaves):
        calls.append(1)
        return expression(**leaves)

    trace = record(build, {name: np.ones(1 if name == "a0" else 100) for name in expression.names})
    calls.clear()
    rows, sentence = check(trace, build)
    assert len(calls) == sum(4 * row.numerical.size for row in rows if row.numerical is not None) < 200
    assert rows[0].agrees
    assert "a39" in sentence
