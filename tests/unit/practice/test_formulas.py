"""The formula that gives a learner's numbers in every case."""

import numpy as np
import pytest

from lab.practice.comparison import same
from lab.practice.formulas import formula

RNG = np.random.default_rng(3)
SHAPES = ((2, 2), (3, 3), (4, 4), (2, 2))
X, G = ([RNG.normal(size=shape) for shape in SHAPES] for _ in range(2))
RIGHT = [g / x for x, g in zip(X, G, strict=True)]


def formula_of(got, **more):
    return formula({"x": X, "g": G} | more, got, RIGHT, lambda a, b: same(a, b, 1e-6))


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (lambda x, g, right: 0 * x, "`0`"),
        (lambda x, g, right: g, "`g`"),
        (lambda x, g, right: -x, "`-x`"),
        (lambda x, g, right: x.T, "`x.T`"),
        (lambda x, g, right: g.sum(axis=0), "`g.sum(axis=0)`"),
        (lambda x, g, right: x * g, "`x * g`"),
        (lambda x, g, right: g - x**2, "`g - (x ** 2)`"),
        (lambda x, g, right: g @ x.T, "`g @ x.T`"),
        (lambda x, g, right: right / x.size, "what it should be, divided by `x.size`"),
        (lambda x, g, right: right * len(x), "what it should be, times `x.shape[0]`"),
        (lambda x, g, right: -right, "what it should be, with the wrong sign"),
        (lambda x, g, right: right.T, "the transpose of what it should be"),
        (lambda x, g, right: 3 * right, "3 times what it should be"),
        (lambda x, g, right: right / 4, "1/4 of what it should be"),
        (lambda x, g, right: 11 / 6 * right, ""),
        (lambda x, g, right: right + 1, ""),
    ],
)
def test_the_shortest_formula_that_holds_in_every_case(written, words):
    assert formula_of([written(*each) for each in zip(X, G, RIGHT, strict=True)]) == words


def test_a_formula_that_fails_in_one_case_is_not_said():
    assert formula_of([X[0] * G[0], X[1] * G[1], X[2] * G[2], X[3] + G[3]]) == ""


@pytest.mark.parametrize("got", [["a"] * 4, [None] * 4, [True] * 4, [RNG.normal(size=5)] * 4])
def test_of_what_is_no_number_and_of_any_others_nothing_is_said(got):
    assert formula_of(got) == ""
