"""Differences by step: where the error is least, what the branches are, and what one difference is made of."""

import itertools
import math

import numpy as np
import pytest

from lab.gradcheck.finite_differences import ElementName, best_step
from lab.gradcheck.step_size import METHODS, PRECISIONS, STEPS, CheckPoint
from model import Tensor

X = ElementName("x")


def product(x):
    return x.sin() * x


def sweeps(f, values, place=X, steps=STEPS):
    points = {precision: CheckPoint(f, values, precision) for precision in PRECISIONS}
    pairs = itertools.product(METHODS, points)
    return {(method, precision): points[precision].sweep(place, method, steps) for method, precision in pairs}


def test_the_error_shows_truncation_and_cancellation():
    found = sweeps(lambda x: product(x).sum(), {"x": [0.7, 1.9]}, ElementName("x", (0,)))
    forward, central = found["forward", "float64"], found["central", "float64"]
    assert [one.h for one in forward.differences] == list(STEPS)
    assert 1e-9 < forward.best.h < 1e-6  # about sqrt(eps)
    assert 1e-7 < central.best.h < 1e-3  # about cbrt(eps)
    assert central.best.error < forward.best.error / 10
    small = [one for sweep in (forward, central) for one in sweep.differences if one.h == 1e-14]
    assert min(one.error for one in small) > 1e-4  # the digits cancel
    assert forward.truncation.slope == pytest.approx(1, abs=0.1)  # of order h
    assert central.truncation.slope == pytest.approx(2, abs=0.1)  # of order h squared
    for sweep in (forward, central):
        assert sweep.cancellation.slope == pytest.approx(-1, abs=0.35)
        assert [h for h, _ in sweep.cancellation.points()] == sorted(sweep.cancellation.ends)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("method", ["forward", "central"])
def test_the_rule_predicts_the_best_step_within_a_hundred(method, precision):
    steps = tuple(np.logspace(-1, -12, 45))
    for x in (0.8, 2.0):
        sweep = sweeps(lambda x: x.sin() + x * x / 50, {"x": x}, steps=steps)[method, precision]
        assert sweep.rule == best_step(method, x, PRECISIONS[precision])
        assert 0.01 < sweep.best.h / sweep.rule < 100


def test_float32_runs_in_float32_and_is_judged_by_float64():
    narrow = CheckPoint(product, {"x": 0.7}, "float32")
    one = narrow.difference(X, 1e-3, "forward")
    assert one.above == np.float32(one.above)
    assert one.above != CheckPoint(product, {"x": 0.7}).difference(X, 1e-3, "forward").above
    x = float(np.float32(0.7))
    assert one.exact == pytest.approx(math.sin(x) + x * math.cos(x), rel=1e-14)


def test_one_difference_is_the_arithmetic_that_it_shows():
    one = CheckPoint(product, {"x": 2.0}).difference(X, 1e-3)
    assert (one.x, one.left, one.right, one.width) == (2.0, 2.0 - 1e-3, 2.0 + 1e-3, 2e-3)
    assert one.above == 2.001 * math.sin(2.001)
    assert one.difference == one.above - one.below
    assert one.quotient == one.difference / one.width
    assert one.error == abs(one.quotient - one.exact)
    assert one.digits_lost == pytest.approx(math.log10(one.above / abs(one.difference)))


def test_a_step_below_the_last_digit_is_stuck_and_never_the_best():
    point = CheckPoint(lambda x: x.cos() * 0 + x * 0 + 1, {"x": 2.0})
    assert point.difference(X, 1e-17).stuck
    assert not point.difference(X, 1e-15).stuck
    assert point.difference(X, 1e-17).digits_lost == math.inf
    assert point.sweep(X, "forward").best.h == 1  # no error anywhere: the largest step will do
    assert not CheckPoint(product, {"x": 0.0}).difference(X, 1e-17).stuck


def test_where_f_has_no_value_the_difference_is_nan_and_no_best():
    point = CheckPoint(lambda x: x.log(), {"x": 0.1})
    assert not math.isfinite(point.difference(X, 1e-1).error)
    sweep = point.sweep(X, "central")
    assert math.isfinite(sweep.best.error)
    assert CheckPoint(lambda x: x.log(), {"x": 0.0}).sweep(X, "forward").best is None


def test_a_function_without_bend_has_no_truncation():
    found = sweeps(lambda x, y: x * y, {"x": 2.0, "y": 3.0})
    assert found["central", "float64"].truncation is None
    assert found["central", "float64"].best.error < 1e-14


def test_the_places_are_the_elements_of_the_inputs():
    point = CheckPoint(lambda w, b: (w * w).sum() + b, {"w": [[1.0, 2.0], [3.0, 40.0]], "b": 1.0})
    assert [str(place) for place in point.places()] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]", "b"]


def test_a_result_of_many_elements_is_weighted_and_one_is_not():
    assert CheckPoint(product, {"x": 2.0}).cotangent == 1
    point = CheckPoint(lambda x: x.softmax(), {"x": [1.0, 2.0]})
    assert not np.allclose(np.abs(point.cotangent), 1)
    assert point.difference(ElementName("x", (0,)), 1e-5).error < 1e-9


def test_a_broken_rule_leaves_an_error_that_no_step_removes():
    class Broken(Tensor):
        __slots__ = ()

        def sin(self):
            return super().sin() * 1.0 + self * 0.01 - self.detach() * 0.01

    point = CheckPoint(product, {"x": 2.0}, tensor=Broken)
    assert all(point.difference(X, h).error == pytest.approx(0.02, rel=1e-3) for h in (1e-4, 1e-5, 1e-6, 1e-7))


def test_the_regime_of_a_step_says_what_its_error_comes_from():
    sweep = CheckPoint(lambda x: x.exp(), {"x": 1.0}).sweep(X, "central")
    regimes = {one.h: sweep.regime(one) for one in sweep.differences}
    assert [regimes[h] for h in (1, 1e-2, 1e-5, 1e-9, 1e-14)] == [
        "truncation",
        "truncation",
        "best",
        "cancellation",
        "cancellation",
    ]
    straight = CheckPoint(lambda x: x * 3, {"x": 0.1}).sweep(X, "central")  # all of its errors are rounding
    assert "truncation" not in {straight.regime(one) for one in straight.differences}


def test_a_large_step_bends_also_where_few_steps_lie_above_the_best_one():
    """In float32, or with a slow curve, the best step of central differences is near 0.01."""
    found = [
        CheckPoint(lambda x: x * x * x.sin() + x.exp(), {"x": 0.3}, "float32").sweep(X, "central"),
        CheckPoint(lambda x: (x * 0.01).exp(), {"x": 10.0}).sweep(X, "central"),
    ]
    assert [sweep.truncation for sweep in found] == [None, None]
    found.append(CheckPoint(lambda x: x.exp() / x, {"x": 1.0}, "float32").sweep(X, "central"))  # its branch is noise
    assert [sweep.regime(sweep.differences[0 if at < 2 else 1]) for at, sweep in enumerate(found)] == ["truncation"] * 3
    straight = CheckPoint(lambda x: x * 3, {"x": 0.1}, "float32").sweep(X, "central")
    assert "truncation" not in {straight.regime(one) for one in straight.differences}


def test_the_curve_near_x_has_each_number_of_its_precision_once():
    point = CheckPoint(lambda x: x * x, {"x": 2.0})
    wide = point.around(X, 1e-2)
    assert (wide[0][0], wide[-1][0]) == (pytest.approx(-1.6), pytest.approx(1.6))
    assert dict(wide)[0.0] == 0
    assert len(point.around(X, 1e-16)) < 4  # x and its neighbours: there are no numbers between them
    assert all(steps >= -1 for steps, _ in CheckPoint(lambda x: x.log(), {"x": 0.1}).around(X, 1e-1))
