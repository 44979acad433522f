"""Four points and a network of 41 parameters: the loss falls below 0.01 within 100 steps."""

from itertools import pairwise

import pytest

from lab.training.descent.four_points import LEARNED_LIMIT, MAX_STEPS, RATE, train


@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_steps_are_enough(seed):
    last = train(RATE, seed, MAX_STEPS)[-1]
    assert last.loss < LEARNED_LIMIT == 0.01
    assert last.predictions == pytest.approx([1, -1, -1, 1], abs=0.25)


def test_every_moment_has_all_parameters_and_follows_from_the_one_before():
    moments = train(0.05, 3, 5)
    assert len(moments) == 6
    assert moments[0].loss > moments[-1].loss
    for before, after in pairwise(moments):
        assert len({name for name, _, _ in before.parameters}) == 41
        for (name, value, gradient), (same, moved, _) in zip(before.parameters, after.parameters, strict=True):
            assert name == same
            assert moved == pytest.approx(value - 0.05 * gradient)


def test_a_rate_too_high_ends_in_numbers_that_are_none():
    assert not train(2.0, 0, MAX_STEPS)[-1].loss < LEARNED_LIMIT
