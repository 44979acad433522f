"""The derivative as a formula: right, counted as it is written, and longer and longer."""

import sys

import pytest

from lab.autodiff.symbolic import (
    RULED,
    VALUES,
    NoFormula,
    derivative,
    distinct,
    formula,
    growth,
    operations,
    simplified,
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
    of, _ = written("x**2*sin(x) + exp(-x)", x=2.0)
    assert text(of, 100) == "((x**2) * sin(x)) + exp(-(x))"
    assert text(derivative(written("3*x", x=1.0)[0], "x"), 100) == "3 * 1"
    assert text(of, 10) == "((x**2) *  …"
    assert text(derivative(of, "y"), 100) == "0"


def test_the_length_is_that_of_the_text_though_equal_parts_are_one():
    of, _ = written("h = x*x; k = h*h; k*k", x=1.1)
    assert operations(of) == 7 == text(of, 100).count("*")
    assert distinct(of) == 3
    slope = derivative(of, "x")
    assert operations(slope) == sum(text(slope, 10_000).count(sign) for sign in "+*")
    assert distinct(slope) < operations(slope)


def test_a_function_of_itself_has_a_derivative_that_outgrows_it():
    found = list(growth(parse("4*x*(1 - x)"), {"x": 0.3}, "x", 5))
    assert [one.times for one in found] == [1, 2, 3, 4, 5]
    assert [one.function for one in found] == [3, 9, 21, 45, 93]
    assert [one.derivative for one in found] == [7, 27, 79, 207, 511]
    assert [one.forward for one in found] == [one.backward for one in found] == [3, 6, 9, 12, 15]
    assert [one.named for one in found] == [7, 15, 23, 31, 39]


def test_what_has_no_formula_is_said():
    with pytest.raises(NoFormula, match=r"shape \(2,\)"):
        written("sum(x)", x=[1.0, 2.0])
    with pytest.raises(NoFormula, match="no rule for `maximum`"):
        written("maximum(x, 1)", x=2.0)


def test_sympy_simplifies():
    sympy = pytest.importorskip("sympy")
    found = simplified(derivative(written("4*x*(1 - x)", x=0.3)[0], "x"))
    assert found.operations == 2
    assert found.text == "4 - 8*x"
    slope = derivative(written(ALL, x=1.3, w=0.7)[0], "x")  # every operation is known to it
    short = simplified(slope)
    assert short.operations < operations(slope)
    names = {name: sympy.Symbol(name) for name in "xw"}
    again = sympy.sympify(short.text, locals=names).subs({names["x"]: 1.3, names["w"]: 0.7})
    assert float(again) == pytest.approx(value(slope, {"x": 1.3, "w": 0.7}), rel=1e-12)
    doubled = written("; ".join(f"x{i + 1} = x{i} * x{i}" for i in range(10)), x0=0.9)[0]
    assert simplified(derivative(doubled, "x0")) is None  # too long
    deep = "x"
    for _ in range(800):
        deep = ("sin", deep)
    assert simplified(deep) is None


def test_large_powers_do_not_become_a_billion_digits():
    pytest.importorskip("sympy")
    (*_, last) = growth(parse("(999999*x)**1000000"), {"x": 0.3}, "x", 6)
    assert last.simplified.operations == 2


def test_without_sympy_the_rest_is_counted(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError):
        simplified("x")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (found,) = growth(parse("x*x"), {"x": 2.0}, "x", 1)
    assert (found.derivative, found.simplified) == (3, None)
