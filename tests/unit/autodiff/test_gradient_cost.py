"""What a gradient costs: the passes that are said are the passes that are made, and the gradients are the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from lab.autodiff import gradient_cost
from lab.autodiff.gradient_cost import METHODS, SIZES, counted_differences, measure, network, passes


def test_the_passes_that_are_made_are_those_that_are_said():
    for point in measure((1, 20, 60)):
        assert point.passes == {method: passes(method, point.parameters) for method in METHODS}
        assert all(seconds > 0 for seconds in point.seconds.values())
        assert point.max_abs_diff["forward"] < 1e-12
        assert 0 < point.max_abs_diff["finite"] < 1e-6
        assert point.max_abs_diff["reverse"] == 0


def test_a_network_has_the_nearest_number_of_parameters_that_is_not_larger():
    assert [sum(array.size for array in network(size)[0]) for size in SIZES] == [6, 6, 6, 30, 96, 300, 996]


# Calls of the function: two for a difference, one forward and one reverse warm up; then reverse mode is timed.
@pytest.mark.parametrize(
    "slow", [{5}, range(5, 9), range(5, 25)], ids=["one pause", "several pauses", "as long as it is timed"]
)
def test_a_pause_is_not_the_cost_of_a_gradient(slow, monkeypatch):
    """Another visitor's thread may hold the interpreter for 50 ms, in which reverse mode runs five hundred times."""
    calls, now = 0, 0.0
    monkeypatch.setattr(gradient_cost, "time", SimpleNamespace(perf_counter=lambda: now))  # a clock of this test's own

    def function(w):
        nonlocal calls, now
        calls += 1
        now += 0.05 if calls in slow else 0.0001
        return (w * w).sum()

    (point,) = measure((1,), lambda count: ([np.ones(count)], function))
    assert point.seconds["reverse"] == pytest.approx(0.0001)
    assert not point.contradictory


def test_ten_million_parameters_are_counted():
    assert passes("finite", 10_000_000) == (20_000_000, 0)
    assert passes("forward", 10_000_000) == (10_000_000, 0)
    assert passes("reverse", 10_000_000) == (1, 1)


def test_differences_call_the_function_twice_for_each_parameter():
    gradient, calls = counted_differences((1.0, -2.0, 0.5, 3.0))
    assert gradient == pytest.approx([2, -4, 1, 6])
    assert calls == sum(passes("finite", 4))
