"""Spot the fault without a browser: evidence and its price, naming, the next case, the address; and no leak."""

import re

import pytest

from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.spot_the_fault import COSTS, CURVES, NOTHING, START, WRONG, open_case
from tests.pages.conftest import address, charts, open_at


def opened(**address):
    return open_at("what-went-wrong", **{"tab": "spot"} | address)


def points(at):
    return int(at.metric[0].value.split()[0])


def written(at):
    kinds = (at.markdown, at.caption, at.success, at.warning, at.error, at.info, at.code)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def first_case(condition):
    return next(number for number in range(1, 500) if condition(open_case(number)))


def test_the_case_begins_with_the_loss_and_all_points():
    at = opened(case=1)
    assert at.title[0].value == "What went wrong?"
    assert points(at) == START
    assert len(charts(at)) == 1
    assert at.button(key="spot name").disabled


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", COSTS)
def test_evidence_costs_points_and_is_shown_once(name):
    at = opened(case=1)
    before = len(charts(at)), written(at)
    at.button(key=f"spot ask {name}").click().run()
    assert not at.exception
    assert points(at) == START - COSTS[name]
    assert (len(charts(at)), written(at)) != before
    assert f"spot ask {name}" not in [button.key for button in at.button]


def test_evidence_that_there_is_none_of_costs_nothing():
    number = first_case(lambda case: case.culprit == "wrong-capture")  # it stops at the first step
    at = opened(case=number, seen="norms")
    assert points(at) == START
    for name in CURVES:
        assert at.button(key=f"spot ask {name}").disabled
        assert "there is none" in at.button(key=f"spot ask {name}").label
    assert "gufunc" not in written(at)
    at.button(key="spot ask step").click().run()
    assert points(at) == START - COSTS["step"]


@pytest.mark.parametrize("culprit", ["softmax-unshifted", "log-unguarded"])
def test_a_loss_that_is_no_number_is_drawn_as_none(culprit):
    at = opened(case=first_case(lambda case: case.culprit == culprit))
    assert any("its loss was no longer a number" in error.value for error in at.error)
    spec = charts(at)["spot-loss"]["spec"]
    training = next(line["data"] for line in spec["series"] if line.get("name") == "training")
    assert training[0] is not None
    assert training[1:] == [None]


def test_the_first_case_has_evidence_of_every_kind():
    at = opened()
    assert not any(at.button(key=f"spot ask {name}").disabled for name in COSTS)
    assert not at.error


def test_naming_wrongly_then_rightly():
    number = first_case(lambda case: case.fault is not None)
    case = open_case(number)
    at = opened(case=number)
    wrong = next(key for key in case.suspects if key != case.culprit)
    at.radio(key="spot suspect").set_value(wrong).run()
    at.button(key="spot name").click().run()
    assert points(at) == START - WRONG
    assert at.warning[0].value.startswith("Not “")
    assert re.search(
        r"”\. (In `|In step 3|\d+ gradient check|The same run)",
        at.warning[0].value,
    )  # why not, from what ran: tests/unit/traps/faults/test_feedback.py
    assert wrong not in at.radio(key="spot suspect").options
    at.radio(key="spot suspect").set_value(case.culprit).run()
    at.button(key="spot name").click().run()
    assert not at.exception
    assert points(at) == START - WRONG
    assert BY_KEY[case.culprit].name in at.success[0].value
    assert not at.radio
    at.button(key="spot ask check").click().run()  # curiosity afterwards is free
    assert points(at) == START - WRONG
    assert any("Solved: 1 case, 7.0 points" in m.value for m in at.markdown)


def test_a_healthy_run_is_named_as_such():
    number = first_case(lambda case: case.culprit == NOTHING)
    at = opened(case=number)
    at.radio(key="spot suspect").set_value(NOTHING).run()
    at.button(key="spot name").click().run()
    assert "nothing is wrong" in at.success[0].value
    assert points(at) == START


def test_the_next_case_begins_again():
    at = opened(case=1, seen="norms,check")
    assert points(at) == START - COSTS["norms"] - COSTS["check"]
    at.button(key="spot next").click().run()
    assert not at.exception
    assert at.number_input(key="wrong-case").value == 2
    assert points(at) == START
    assert "seen" not in address(at)


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", range(1, 31))
def test_every_kind_of_evidence_can_be_had_in_every_case_and_none_tells_the_answer(number):
    at = opened(case=number, seen=",".join(COSTS))
    case = open_case(number)
    if case.fault:
        for text in (case.fault.cause, case.fault.in_training, case.fault.fix, case.fault.broken.engine.__name__):
            assert text == "Tensor" or text not in written(at)
    assert all(chart["alt"] for chart in charts(at).values())
