"""Every wrong name is told why it is wrong: with a sentence of its own, from numbers that hold."""

import re

import pytest

from lab.traps.faults import feedback
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import train_with
from lab.traps.faults.spot_the_fault import NOTHING, SuspectCase

SUSPECTS = [*BY_KEY, NOTHING]


@pytest.fixture(scope="module")
def trained():
    """train_with, which trains each run of this file once."""
    runs = {}

    def trained(setup, seed):
        if (id(setup), seed) not in runs:
            runs[id(setup), seed] = setup, train_with(setup, seed)
        return runs[id(setup), seed][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feedback, "train_with", trained)
        yield trained


@pytest.mark.sample(7)
@pytest.mark.parametrize("culprit", SUSPECTS)
def test_a_wrong_name_is_told_from_the_run_of_the_case(culprit, trained):
    case = SuspectCase(3, culprit, tuple(SUSPECTS))
    run = trained(case.setup, 3)
    told = {key: feedback.suspect(case, run, key) for key in SUSPECTS if key != culprit}
    assert len({*told.values()}) >= len(told) - 5  # where a run stops at once, the training faults have the same to say
    for key, said in told.items():
        assert re.fullmatch(r"[A-Z\d].*\.", said)
        assert_that_it_tells_two_things_apart(said)
        if key == NOTHING:
            assert "fail" in said or "without any fault" in said


def assert_that_it_tells_two_things_apart(said):
    """What the fault would do, and what this run did, are not the same words."""
    for pattern in (
        r" is (.*) with this fault and (.*) in this run\.",
        r"The same run without any fault (.*); this one (.*)\.",
    ):
        if found := re.search(pattern, said):
            assert found[1] != found[2], said
            return
    assert "gradient check" in said, said


def test_who_overwrites_is_told_what_that_would_have_left(trained):
    """By hand: y = a * b + a, of which the last message to a is b; the whole gradient is b + 1."""
    case = SuspectCase(3, "wrong-order", tuple(SUSPECTS))
    said = feedback.suspect(case, trained(case.setup, 3), "overwrite")
    assert said == (
        "In `y = a * b + a` with a = −0.4 and b = −1.3, the gradient of a is −1.3 with this fault and −0.3 in this run."
    )
