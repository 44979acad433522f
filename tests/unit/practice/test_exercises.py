"""Exercises: each has numbers to reckon with, whatever its level and number, and is the same one again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.practice.exercises import EXERCISES_PER_LEVEL, LEVELS, MAX_NUMBER, exercise
from lab.text import numeral

ANY = st.tuples(st.sampled_from([*LEVELS]), st.integers(1, EXERCISES_PER_LEVEL))


def test_the_first_is_the_classic():
    first = exercise(1, 1)
    assert first.text == "((a*b) + c) * (a + d)"
    gradients = {name: float(g) for name, g in first.trace.gradients.items()}
    assert gradients == {"a": 31.0, "b": 14.0, "c": 7.0, "d": 10.0}


@settings(max_examples=40, deadline=None)
@given(ANY)
def test_every_number_can_be_reckoned_and_is_shown_in_full(which):
    found = exercise(*which)
    told = [node["value"] for node in found.trace.nodes] + [*found.trace.gradients_after().values()]
    for number in np.concatenate([np.ravel(value) for value in told]).tolist():
        assert abs(number) <= MAX_NUMBER[which[0]]
        assert float(numeral(number).replace("−", "-")) == number


@settings(max_examples=10, deadline=None)
@given(ANY)
def test_level_and_number_say_which_one(which):
    assert (exercise(*which).text, exercise(*which).inputs) == (exercise(*which).text, exercise(*which).inputs)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_has_many_different_ones_of_its_kind(level):
    some = [exercise(level, number) for number in range(1, 41)]
    assert len({(one.text, str(one.inputs)) for one in some}) >= 38
    ops = {node["op"] for one in some for node in one.trace.nodes}
    own = {1: {"+", "-", "*"}, 2: {"**", "/"}, 3: {"relu", "maximum", "exp", "sigmoid"}, 4: {"sum", "@"}}
    assert own[level] <= ops


@pytest.mark.parametrize("which", [(0, 1), (5, 1), (1, 0), (1, EXERCISES_PER_LEVEL + 1)])
def test_there_are_no_others(which):
    with pytest.raises(ValueError, match="There is no exercise"):
        exercise(*which)
