"""What is said of the designs was counted and measured: here by other means."""

import sys

import numpy as np
import pytest

from lab.designs import closures
from lab.designs.compare import (
    DESIGNS,
    UnsuitableError,
    calls_of,
    kept_by,
    largest_difference,
    measure,
    program,
)
from lab.designs.deep_graphs import chain_gradient, doubling_calls
from lab.designs.excerpt import PARTS, excerpt
from lab.expression import ExpressionError, parse

ALL = list(DESIGNS)


def measured(text, **leaves):
    run = program(parse(text), leaves)
    return {key: measure(design, run, repeats=1) for key, design in DESIGNS.items()}


# ---------------------------------------------------------------- one expression through all


def test_all_designs_agree_and_their_counts_are_those_of_the_graph():
    found = measured("(a*b + c) * (a + d)", a=2.0, b=3.0, c=4.0, d=5.0)
    for result in found.values():
        assert result.failure == ""
        assert result.value == 70.0
        assert {name: float(g) for name, g in result.gradients.items()} == {"a": 31.0, "b": 14.0, "c": 7.0, "d": 10.0}
        assert result.seconds > 0
    assert [found[key].nodes for key in ALL] == [8, 8, 8, 8, 8, 8 * 4]  # four leaves, four results
    assert [found[key].calls for key in ALL] == [4, 4, 4, 4, 4, 0]
    assert [found[key].passes for key in ALL] == [1, 1, 1, 1, 1, 4]
    assert [found[key].second for key in ALL] == ["error", "doubles", "error", "doubles", "more", "same"]
    assert "retain_graph=True" in found["model"].second_error
    assert "forward pass again" in found["functions"].second_error


def test_of_one_operation_a_second_pass_of_scalars_doubles():
    """Nothing lies between the result, which starts from 1 again, and the leaves."""
    assert measured("a*b", a=2.0, b=3.0)["scalars"].second == "doubles"


def test_a_shared_result_is_called_once_with_an_order_and_once_for_each_path_without():
    found = measured("h = a*a; k = h + h; k*k", a=2.0)
    assert found["closures"].calls == 3
    assert found["recursive"].calls == 1 + 2 + 4


def test_scalars_make_an_object_for_each_number():
    """2x3 @ 3x2: 12 numbers, 12 products, 8 sums on the way; and 3 additions for the sum."""
    found = measured("sum(x @ y)", x=np.ones((2, 3)), y=np.ones((3, 2)))
    assert found["scalars"].nodes == 12 + 12 + 8 + 3
    assert found["scalars"].calls == 12 + 8 + 3
    assert found["closures"].nodes == 4
    assert found["closures"].calls == 2
    assert found["duals"].nodes == 4 * 12


def test_more_than_the_recursion_could_do_in_a_lifetime_is_not_run():
    lines = ["x1 = a + a"] + [f"x{i + 1} = x{i} + x{i}" for i in range(1, 30)] + ["x30 * 1"]
    found = measured("\n".join(lines), a=1.0)
    assert found["recursive"].failure.startswith("Not run: ")
    assert found["closures"].gradients["a"] == 2.0**30


def test_where_floats_refuse_that_is_said():
    found = measured("log(a)", a=0.0)
    assert found["scalars"].failure == "Stopped with ValueError: math domain error."
    assert found["closures"].value == -np.inf


def test_a_name_that_the_result_does_not_need_has_no_part():
    assert list(measured("h = b*2; a*3", a=1.0, b=1.0)["closures"].gradients) == ["a"]


@pytest.mark.parametrize(
    ("text", "leaves", "said"),
    [
        ("sin(a)", {"a": 1.0}, "also uses `sin`"),
        ("a*2", {"a": [1.0, 2.0]}, r"shape \(2,\): reduce it"),
        ("sum(sum(a, axis=0)**2)", {"a": [[1.0, 2.0]]}, "not those along one axis"),
        ("a**b", {"a": 1.0, "b": 2.0}, "power of a fixed number"),
        ("sum(a @ a)", {"a": np.ones((2, 2, 2))}, "not arrays of more axes"),
        ("sum(a)", {"a": np.ones(65)}, "hold 65 numbers.*64 at most"),
        ("sum((x*y) @ (x*y))", {"x": np.ones((32, 1)), "y": np.ones(32)}, "20,000 at most"),
    ],
)
def test_what_cannot_be_compared_gets_one_sentence(text, leaves, said):
    with pytest.raises(UnsuitableError, match=said):
        program(parse(text), leaves)


def test_a_value_that_is_missing_is_said_by_the_expression():
    with pytest.raises(ExpressionError):
        program(parse("a*b"), {"a": 1.0})


# ---------------------------------------------------------------- counting


def test_a_call_is_seen_by_python_itself_and_nothing_stays_switched_on():
    x = closures.Tensor(2.0)
    y = x * x + x
    calls = calls_of(closures, y.backward)
    assert calls["Tensor.__mul__.<locals>._backward"] == calls["Tensor.__add__.<locals>._backward"] == 1
    assert calls["topological_order"] == 1
    assert calls_of(closures, lambda: None) == {}
    with pytest.raises(RuntimeError):
        calls_of(closures, closures.Tensor([1.0, 2.0]).backward)
    assert sys.getprofile() is None


def test_kept_counts_each_array_once_however_it_is_reached():
    x = closures.Tensor(np.ones(100))
    assert kept_by(x).numbers == 800
    product = x * x  # the closure has captured the array of x, twice; the result has its own
    assert kept_by(product).numbers == 1600
    total = x.exp().sum()  # x, exp(x) in the tensor and the closure, and the sum
    assert kept_by(total).numbers == 1600 + 8 + total.data.nbytes - 8
    assert kept_by(total).memory > kept_by(total).numbers
    view = closures.Tensor(np.ones(100)[:3])
    assert kept_by(view).numbers == 800  # a view keeps the whole array alive


def test_forward_mode_keeps_nothing_but_the_result():
    found = measured("sum(exp(x)*x)", x=np.ones(10))
    assert found["duals"].kept.numbers == 16
    assert found["closures"].kept.numbers >= 3 * 80
    assert found["scalars"].kept.memory > 5 * found["closures"].kept.memory


# ---------------------------------------------------------------- the code


@pytest.mark.parametrize("key", ALL)
@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_each_design_is_found_in_its_file(key, part):
    found = excerpt(DESIGNS[key], part)
    assert found, "nothing found"
    lines = {line.strip() for line in DESIGNS[key].source.splitlines()}
    assert all(line.strip() in lines for line in found.splitlines())


def test_the_largest_difference_is_that_of_any_gradient():
    run = program(parse("a*b"), {"a": 2.0, "b": 3.0})
    first, second = measure(DESIGNS["model"], run, 1), measure(DESIGNS["closures"], run, 1)
    assert largest_difference([first, second]) == 0.0
    second.gradients["b"][...] += 0.25
    assert largest_difference([first, second]) == 0.25


# ---------------------------------------------------------------- depth


@pytest.mark.parametrize("n", [1, 2, 7, 12])
@pytest.mark.parametrize("key", ["model", "closures", "functions", "scalars", "recursive"])
def test_without_an_order_each_doubling_takes_twice_the_calls(key, n):
    assert doubling_calls(key, n) == (2**n - 1 if key == "recursive" else n)


@pytest.mark.parametrize("key", ALL)
def test_a_chain_of_5000_kills_recursion_and_not_the_stack(key):
    if key in ("recursive", "scalars"):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            chain_gradient(key, 5_000)
    else:
        assert chain_gradient(key, 5_000) == 1.0
    assert chain_gradient(key, 100) == 1.0
