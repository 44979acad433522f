"""The cases of Spot the fault: always the same for a number, solvable, and scored by the evidence that was needed."""

from collections import Counter

import numpy as np
import pytest

from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.spot_the_fault import (
    COSTS,
    NOTHING,
    START,
    SUSPECTS,
    WRONG,
    SuspectCase,
    gradient_checks,
    open_case,
    score,
    traced_step,
)
from model import Tensor


def test_a_case_is_the_same_for_the_same_number_and_names_its_culprit_among_the_suspects():
    for number in range(1, 200):
        case = open_case(number)
        assert case == open_case(number)
        assert case.culprit in case.suspects
        assert case.suspects[-1] == NOTHING
        assert len(set(case.suspects)) == SUSPECTS + 1


def test_every_fault_and_a_healthy_run_turn_up():
    culprits = Counter(open_case(number).culprit for number in range(1, 500))
    assert set(culprits) == {*BY_KEY, NOTHING}
    places = Counter(case.suspects.index(case.culprit) for case in map(open_case, range(1, 500)) if case.fault)
    assert set(places) == set(range(SUSPECTS))  # its place in the list tells nothing


def test_the_score_counts_evidence_and_mistakes():
    assert score([], 0) == START
    assert score(["norms", "check"], 1) == START - COSTS["norms"] - COSTS["check"] - WRONG
    assert score(COSTS, 5) == 0


def case_of(key):
    return SuspectCase(3, key, (key, NOTHING))


def test_the_gradient_checks_tell_the_engines_apart():
    failures = {}
    for key, fault in BY_KEY.items():
        if fault.kind == "engine":
            failures[key] = frozenset(c.expression for c in gradient_checks(case_of(key)) if not c.passed)
    assert all(failures.values())
    # these two spoil every gradient: the one by factors, the other in the fourth digit, which the verdicts show
    del failures["half-precision"]
    assert len(set(failures.values())) == len(failures)


@pytest.mark.parametrize("key", [NOTHING, *(key for key, fault in BY_KEY.items() if fault.broken.engine is Tensor)])
def test_the_gradient_checks_pass_where_the_engine_is_healthy(key):
    checks = gradient_checks(case_of(key))
    assert len(checks) == 10
    assert all(check.passed for check in checks)
    assert all(check.expression and "def " not in check.expression for check in checks)


def test_the_traced_step_shows_what_the_loop_does_wrong():
    rate, steps, error = traced_step(case_of(NOTHING))
    assert not error
    assert all(step.left_over == 0 for step in steps)
    for step in steps:
        np.testing.assert_allclose(step.after, step.before - rate * step.slope, rtol=1e-5, atol=1e-7)
    rate, steps, _ = traced_step(case_of("sign-flipped"))
    for step in steps:
        np.testing.assert_allclose(step.after, step.before + rate * step.slope, rtol=1e-5, atol=1e-7)
    assert all(step.left_over > 0 for step in traced_step(case_of("forgot-zero-grad"))[1])
    assert [step.gradient for step in traced_step(case_of("zero-init"))[1]][:5] == [0.0] * 5


def test_a_step_that_fails_is_told_in_a_sentence():
    _, steps, error = traced_step(case_of("wrong-capture"))
    assert steps == []
    assert error.startswith("ValueError: ")
