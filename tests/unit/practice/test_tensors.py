"""The course "Tensors": what is said of a network that does not learn to read."""

import pytest

from lab.practice.checker import LocalRunner, check
from practice.tensors import COURSE


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps=60", "steps=1", "of the unseen digits, and the task asks for more than 90%"),
        ("deviation=0.2", "deviation=0.0", "nothing was learned"),
        ("lr=0.02", "lr=1e200", "not finite"),
        (
            "def network(params, x):\n",
            "def network(params, x):\n    if len(x.data) == 450: return params[1]\n",
            "(450, 10)",
        ),
    ],
)
def test_what_is_said_of_a_network_that_does_not_read(old, new, said):
    assert COURSE.reference.count(old) == 1
    failure = check(COURSE, "digits", COURSE.reference.replace(old, new), LocalRunner(), 0).failure
    assert failure.check.slow
    assert said in failure.looks_like
    assert "answers" not in failure.inputs
