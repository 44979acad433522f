"""An optimizer on a surface: each step is the rule's, the next one is known before it is taken, and the ends have names."""

import math

import numpy as np
import pytest

from lab.training.descent.surfaces import SURFACES
from lab.training.descent.walk import KINDS, MAX_DISTANCE, MAX_STEPS, MOMENTUM, SETTLED, Walk

RAVINE = SURFACES["ravine"]  # x^2 / 2 + 10 y^2


def gradient(x, y):
    return np.array([x, 20 * y])


def by_hand(kind, rate, steps):
    """The rules once more, without the engine."""
    at, m, v = np.array(RAVINE.start), np.zeros(2), np.zeros(2)
    for step in range(1, steps + 1):
        g = gradient(*at)
        if kind == "adam":
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            at = at - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        else:
            m = (MOMENTUM if kind == "momentum" else 0) * m + g
            at = at - rate * m
    return at, m, v


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_is_the_rule_of_its_optimizer(kind):
    walk = Walk(RAVINE, kind, 0.05, RAVINE.start)
    for count in (0, 1, 2, 9):
        step, (to, m, v) = walk.step_after(count), by_hand(kind, 0.05, count + 1)
        assert step.at == pytest.approx(by_hand(kind, 0.05, count)[0])
        assert step.gradient == pytest.approx(gradient(*step.at))
        assert step.to == pytest.approx(to)
        assert step.update == pytest.approx(np.subtract(step.at, step.to))
        for remembered, due in zip(step.memory, (m, v), strict=False):
            assert remembered == pytest.approx(due)
    assert len(walk.step_after(0).memory) == {"sgd": 0, "momentum": 1, "adam": 2}[kind]


def test_the_step_ahead_is_the_step_that_is_taken():
    walk = Walk(RAVINE, "momentum", 0.02, RAVINE.start)
    for count in range(20):
        preview = walk.step_after(count).to
        assert walk.path(count + 1)[-1] == preview
    assert len(walk.path(20)) == 21 == len(walk.first_steps(20)) + 1


def test_converged_means_a_short_gradient_and_a_short_step():
    walk = Walk(RAVINE, "sgd", 0.09, RAVINE.start)
    end = walk.step_after(MAX_STEPS)
    assert end.end == "converged"
    assert math.hypot(*end.gradient) < SETTLED > math.hypot(*end.update)
    steps = len(walk.first_steps(MAX_STEPS))
    assert steps < MAX_STEPS
    assert not walk.step_after(steps - 1).end
    assert walk.path(MAX_STEPS) == walk.path(steps)  # it stays there
    rolling = Walk(SURFACES["bowl"], "momentum", 0.1, SURFACES["bowl"].start)
    passing = [step for step in rolling.first_steps(MAX_STEPS) if math.hypot(*step.gradient) < 0.05]
    assert passing  # the gradient is short while it rushes through the minimum
    assert not any(step.end for step in passing)


@pytest.mark.parametrize(
    ("kind", "rate", "said"),
    [
        ("sgd", 0.1, "descending " * 3),
        ("sgd", 1.0, "unchanged " * 3),  # from one side to the other
        ("momentum", 0.1, "descending " * 3 + "climbing " * 3 + "descending"),  # past the minimum, and back
    ],
)
def test_the_state_says_what_the_last_step_did_to_the_loss(kind, rate, said):
    walk = Walk(SURFACES["bowl"], kind, rate, SURFACES["bowl"].start)
    words = said.split()
    assert [walk.state_after(count) for count in range(len(words) + 1)] == ["at the start", *words]


@pytest.mark.parametrize("rate", [0.11, 50.0])
def test_diverged_means_far_away_or_not_finite(rate):
    walk = Walk(RAVINE, "sgd", rate, RAVINE.start)
    end = walk.step_after(MAX_STEPS)
    assert end.end == "diverged"
    assert math.hypot(*end.at) > MAX_DISTANCE
    assert not any(step.end for step in walk.first_steps(MAX_STEPS))


def test_what_overflows_at_once_has_diverged():
    walk = Walk(SURFACES["rosenbrock"], "sgd", 1e300, (-1.2, 1.0))
    assert walk.step_after(MAX_STEPS).end == "diverged"
    assert not math.isfinite(walk.step_after(MAX_STEPS).loss)


def test_on_the_ridge_of_a_saddle_it_converges_where_no_minimum_is():
    saddle = SURFACES["saddle"]
    for kind, rate in zip(KINDS, saddle.rates, strict=True):
        assert Walk(saddle, kind, rate, (-1.8, 0.0)).step_after(MAX_STEPS).at == pytest.approx((0, 0), abs=1e-3)
        assert Walk(saddle, kind, rate, (-1.8, 0.1)).step_after(MAX_STEPS).loss == pytest.approx(-1, abs=1e-4)
