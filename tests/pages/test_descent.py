"""Descent without a browser: the three walks, the guess, the run in slices."""

import pytest

from model import Tensor
from tests.pages.conftest import kinds, open_at, press, texts


def opened(**parameters):
    return open_at("descent", **parameters)


def table(at, header):
    (found,) = [text.value for text in at.markdown if f" {header} |" in text.value.replace("\\", "")]
    lines = [line for line in found.split("\n") if line.startswith("|")]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def run_ten(at):
    press(at, "descent ten")
    while at.session_state["descent-steps"] < at.session_state["descent until"]:
        at.run()  # the browser asks for the next step


def test_the_next_step_is_shown_and_then_taken():
    at = opened()
    first = table(at, "θ − update")[0]
    assert first == ["SGD", "x", "−3.6", "–", "–", "0.1 · (−3.6) = −0.36", "−1.8 − (−0.36) = −1.44"]
    press(at, "descent step")
    assert table(at, "1 step")
    assert table(at, "θ − update")[0][-1].startswith("−1.44 − ")
    run_ten(at)
    assert at.session_state["descent-steps"] == 11
    at.run()  # the end of the run
    assert at.query_params["descent-steps"] == "11"
    press(at, "descent reset")
    assert table(at, "0 steps")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"guess": "past it"}, "✓ As you guessed. **After 10 steps: past it.**"),
        ({"guess": "before it"}, "✗ Not as you guessed. **After 10 steps: past it.**"),
        ({"surface": "Ravine", "guess": "before it"}, "✓ As you guessed."),
        ({"surface": "Saddle", "guess": "SGD"}, "✓ As you guessed."),
    ],
)
def test_the_guess_is_answered_by_the_steps(parameters, said):
    at = opened(**parameters)
    assert said not in texts(at.markdown)
    run_ten(at)
    assert said in texts(at.markdown)


def test_a_run_takes_one_step_at_a_time_can_be_stopped_and_goes_to_the_end():
    at = opened()
    press(at, "descent run")
    assert "transparent" not in kinds(at.main)  # what the fragment draws is its own
    assert at.session_state["descent-steps"] == 1
    at.run()  # the browser asks for the next step
    assert at.session_state["descent-steps"] == 2
    press(at, "descent stop")
    at.run()
    assert at.session_state["descent-steps"] == 2
    press(at, "descent run")
    while at.session_state["descent-steps"] < at.session_state["descent until"]:
        at.run()
    assert [row[-1] for row in table(at, "state")] == [f"converged after {steps}" for steps in (38, 132, 139)]
    assert [row[-2] for row in table(at, "θ − update")] == ["no step"] * 6
    assert "shorter than 0.001" in texts(at.markdown)
    assert at.button(key="descent run").disabled
    assert not at.session_state["descent until"]


def test_what_diverges_is_said_to():
    at = opened(**{"rate-sgd": "2"}, steps="29")
    assert [row[-1] for row in table(at, "state")] == ["diverged after 6", "climbing", "descending"]
    assert "farther than 1000" in texts(at.markdown)


@pytest.mark.parametrize(("key", "value"), [("descent-x", 0.5), ("descent-y", -1.0), ("descent-rate-sgd", 0.5)])
def test_another_start_or_rate_forgets_the_guess(key, value):
    at = opened(steps="12", guess="past it")
    assert "you guessed" in texts(at.markdown)
    widget = next(one for one in (*at.slider, *at.select_slider) if one.key == key)
    widget.set_value(value).run()
    assert not at.exception
    assert not at.button_group  # the steps have been taken: there is nothing to guess
    assert "guessed" not in texts(at.markdown)
    press(at, "descent reset")
    assert at.button_group[0].value is None


def test_a_guess_is_asked_until_the_steps_that_it_is_about_have_been_taken():
    at = opened(steps="9")
    assert at.button_group
    press(at, "descent step")
    assert not at.button_group
    press(at, "descent back")
    assert at.button_group


def test_another_surface_begins_anew_with_what_suits_it():
    at = opened(steps="12", guess="past it")
    at.selectbox(key="descent-surface").select("network").run()
    assert not at.exception
    session = at.session_state
    assert (session["descent-x"], session["descent-y"]) == (-1.0, -1.6)
    assert [session[f"descent-rate-{kind}"] for kind in ("sgd", "momentum", "adam")] == [0.05, 0.01, 0.1]
    assert session["descent-steps"] == 0
    assert session["descent-guess"] is None
    assert table(at, "θ − update")[0][1] == "ΔW1[0, 1]"


def halved(operation):
    """The operation with a rule that sends half of each message."""

    def broken(*operands):
        result = operation(*operands)
        rule = result.closure
        result.closure = lambda upstream: rule(upstream * 0.5)
        return result

    return broken


def test_the_page_follows_the_engine(monkeypatch):
    gradients = [table(opened(), "θ − update")[0][2]]
    monkeypatch.setattr(Tensor, "__mul__", halved(Tensor.__mul__))
    gradients.append(table(opened(), "θ − update")[0][2])
    assert gradients == ["−3.6", "−1.8"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("start", ["9", "nan", "inf"])
def test_what_the_address_says_wrongly_is_not_used(start):
    at = opened(surface="hill", x=start, y=start, **{"rate-sgd": "7"}, steps="501", guess="Adam")
    session = at.session_state
    assert (session["descent-surface"], session["descent-x"], session["descent-y"]) == ("bowl", -1.8, 1.2)
    assert (session["descent-rate-sgd"], session["descent-steps"], session["descent-guess"]) == (0.1, 0, None)
