"""A training in the background with a learner's engine, and with the lab's."""

import math

import pytest

from lab.practice import isolation, process_pool
from lab.practice.learner_training import GRADUATED, TRAININGS, Contest, Side
from practice import COURSES

SCALARS = COURSES["scalars"]
pytestmark = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
PATIENCE = 100


def over(*edit):
    source = SCALARS.reference.replace(*edit) if edit else SCALARS.reference
    assert not edit or source != SCALARS.reference
    contest = Contest(SCALARS, source, 0, process_pool.runner)
    contest.wait(PATIENCE)
    assert contest.done
    return contest


def test_both_come_to_their_end_with_the_same_numbers():
    contest = over()
    assert contest.yours.ended
    assert contest.labs.ended
    assert (contest.first_difference, contest.progress, contest.graduated) == (None, 1.0, False)


def test_the_step_is_told_from_which_they_part():
    contest = over("grad +=", "grad =")
    assert contest.yours.ended
    assert contest.first_difference == 1  # the losses of step 0 come before any gradient


def test_a_loss_that_is_not_a_number_parts():
    contest = over("t = math.tanh(self.data)", "t = math.nan")
    assert contest.first_difference == 0
    assert math.isnan(contest.yours.points[0].loss)


@pytest.mark.parametrize(
    ("edit", "why", "line"),
    [
        (("t = math.tanh(self.data)", "t = math.tanh(self.dat)"), "AttributeError", True),
        (("t = math.tanh(self.data)", "raise SystemExit"), "SystemExit", True),
        (("import math", "import math\n1 / 0"), "ZeroDivisionError", True),
        (("t = math.tanh(self.data)", "return Value([1, 2])"), "TypeError", True),
    ],
)
def test_an_engine_that_fails_says_why_and_the_lab_s_goes_on(edit, why, line):
    contest = over(*edit)
    assert why in contest.yours.why
    assert bool(contest.yours.line) is line
    assert not contest.yours.ended
    assert contest.labs.ended


def test_an_endless_loop_is_stopped_by_hand():
    source = SCALARS.reference.replace("t = math.tanh(self.data)", "while True: pass")
    contest = Contest(SCALARS, source, 0, process_pool.runner)
    contest.wait(0.5)
    assert not contest.done
    contest.stop()
    contest.wait(PATIENCE)
    assert contest.done
    assert contest.yours.why == "You stopped it."
    assert not contest.labs.points


@pytest.mark.parametrize(
    ("share", "graduated"), [(None, False), (0.5, False), (0.89, False), (0.9, False), (0.91, True)]
)
def test_the_graduation_asks_for_more_than_nine_of_ten_digits(share, graduated):
    contest = Contest.__new__(Contest)  # no training: what its numbers are worth is asked
    contest.yours = Side(share=share, ended=True)
    assert contest.graduated is graduated
    assert f"over {GRADUATED:.0%} of the unseen ones" in TRAININGS["tensors"]
    assert GRADUATED == 0.9


def test_an_engine_that_stopped_has_not_graduated():
    contest = Contest.__new__(Contest)
    contest.yours = Side(share=0.95, ended=False)
    assert not contest.graduated
