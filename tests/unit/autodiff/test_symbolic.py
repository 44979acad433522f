"""The derivative as a formula: right, counted as it is written, and longer and longer."""

import pytest

from lab.autodiff.symbolic import (
    MAX_WRITTEN,
    RULED,
    VALUES,
    NoFormula,
    derivative,
    formula,
    growth,
    operations,
    text,
    value,
)
from lab.expression import parse
from model import Tensor


def written(source, **point):
    leaves = {name: Tensor(number, label=name) for name, number in point.items()}
    result = parse(source)(**leaves)
    result.backward(retain_graph=True)
    return formula(result, leaves), leaves


ALL = (
    "((x + 1) * (2 - x) / x) ** 3 + (-x) + exp(x) + log(x) + sqrt(x) + sin(x) + cos(x) + tanh(x) + sigmoid(x)"
    " + softplus(x) + relu(x) + abs(x) + x**w"
)


def test_each_rule_gives_what_the_engine_gives():
    of, leaves = written(ALL, x=1.3, w=0.7)
    assert {part for part in RULED if f"'{part}'" in repr(of)} == set(RULED)
    assert set(RULED) <= set(VALUES)
    for name, leaf in leaves.items():
        assert value(derivative(of, name), {"x": 1.3, "w": 0.7}) == pytest.approx(float(leaf.grad), rel=1e-13)


def test_a_formula_is_read_as_a_person_writes_it():
    of, _ = written("x**2*sin(x) + exp(-x) - 2.5*(x - 1)", x=2.0)
    assert text(of) == "x ** 2 * sin(x) + exp(-x) - 2.5 * (x - 1)"
    assert text(derivative(written("3*x", x=1.0)[0], "x")) == "3 * 1"
    assert text(derivative(of, "y")) == "0"


def test_what_is_too_long_or_deep_is_not_written():
    long, deep = "x", "x"
    for _ in range(60):
        long = ("*", long, long)
    for _ in range(MAX_WRITTEN):
        deep = ("sin", deep)
    assert operations(long) == 2**60 - 1
    assert (text(long), text(("sin", deep))) == ("", "")
    assert text(deep).count("sin") == MAX_WRITTEN
    assert value(long, {"x": 1.0}) == 1.0


def test_the_length_is_that_of_the_text_though_equal_parts_are_one():
    of, _ = written("h = x*x; k = h*h; k*k", x=1.1)
    assert operations(of) == 7 == text(of).count("*")
    slope = derivative(of, "x")
    assert operations(slope) == sum(text(slope).count(sign) for sign in "+*")


def test_a_function_of_itself_has_a_derivative_that_outgrows_it():
    found = growth(parse("4*x*(1 - x)"), {"x": 0.3}, "x", 5)
    assert [one.times for one in found] == [1, 2, 3, 4, 5]
    assert [one.function for one in found] == [3, 9, 21, 45, 93]
    assert [one.derivative for one in found] == [7, 27, 79, 207, 511]
    assert [one.forward for one in found] == [one.backward for one in found] == [3, 6, 9, 12, 15]


def test_what_has_no_formula_is_said():
    with pytest.raises(NoFormula, match=r"shape \(2,\)"):
        written("sum(x)", x=[1.0, 2.0])
    with pytest.raises(NoFormula, match="no rule for `maximum`"):
        written("maximum(x, 1)", x=2.0)
