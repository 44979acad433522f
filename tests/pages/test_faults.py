"""A fault in What went wrong? without a browser: every fault, the guesses, the address."""

import re

import pytest

from lab.text import numeral as number
from lab.trace.comparison import first_difference
from lab.training.doctor import diagnose
from lab.traps.faults.catalogue import BY_KEY, FAULTS
from lab.traps.faults.healthy_and_broken import CURVES, EFFECTS, compare, play, train_with, which_curve
from model import Tensor
from tests.pages.conftest import address, charts, components, open_at, sent, texts

UNTOUCHED = "The rules of the engine are untouched"


def opened(**address):
    return open_at("what-went-wrong", **{"fault": "overwrite"} | address)


def page_text(at):
    """Everything that is written on the page."""
    kinds = (at.markdown, at.caption, at.header, at.success, at.warning, at.error, at.info, at.code, at.button)
    parts = [getattr(e, "value", "") or getattr(e, "label", "") for kind in kinds for e in kind]
    return "\n".join([*map(str, parts), *(b.label for b in at.button), *html(at)])


def html(at):
    return [element.proto.body for element in at.get("html")]


def marked(at):
    return re.findall(r"<td[^>]*>≠ ([^<]*)</td>", "".join(html(at)))


def test_nothing_is_shown_before_both_guesses():
    at = opened()
    assert at.title[0].value == "What went wrong?"
    go = at.button(key="fault go")
    assert go.disabled
    assert "The gradients" not in [s.value for s in at.header]
    at.selectbox(key="wrong-gradient").set_value("numbers").run()
    assert at.button(key="fault go").disabled
    at.selectbox(key="wrong-curve").set_value("same").run()
    assert not at.button(key="fault go").disabled
    at.button(key="fault go").click().run()
    assert not at.exception
    assert "The gradients" in [s.value for s in at.header]
    assert "✓ As you guessed. Found:" in texts(at.markdown)
    assert BY_KEY["overwrite"].example in [code.value for code in at.code]


@pytest.mark.parametrize("key", BY_KEY)
@pytest.mark.sample(1)
def test_every_fault_shows_what_was_just_computed(key):
    fault = BY_KEY[key]
    at = opened(fault=key, seed="2", run="1")
    trained = train_with(fault.broken, 2)
    truth = which_curve(train_with(fault.healthy, 2), trained)
    found = [m.value for m in at.markdown if m.value.startswith("Found:")]
    assert found[-1] == f"Found: **{CURVES[truth]}**. {fault.in_training}"
    if fault.kind == "engine":
        comparison = compare(fault, 2)
        assert found[:-1] == [f"Found: **{EFFECTS[comparison.effect]}**. {fault.symptom}"]
        assert marked(at)
        for name, gradient in comparison.broken.gradients.items():
            assert gradient is None or number(gradient.flat[0]) in "".join(html(at)), name
    assert fault.fix in [code.value for code in at.code]
    seen_nothing = [box.value for box in at.markdown if "The run looks healthy" in box.value]
    records = trained.records
    assert bool(seen_nothing) == (bool(records) and diagnose(records, fault.broken.config(2), own_loop=True)[0].well)
    shown = charts(at).values()
    assert 2 <= len(shown) <= 3
    assert all(chart["alt"] and chart["rows"] for chart in shown)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.kind == "engine"], ids=lambda fault: fault.key)
@pytest.mark.sample(1)
def test_every_broken_engine_is_played_beside_the_healthy_one(fault):
    at = opened(fault=fault.key, seed="3", run="1", play="true")
    healthy, broken = play(fault, Tensor, 3), play(fault, fault.broken.engine, 3)
    first = first_difference(healthy, broken) + 1
    assert sent(at)["event"] == first
    assert len(sent(at)["trace"]["events"]) == len(broken.events)
    assert f"Event {first} of the broken engine" in texts(at.markdown)
    at.segmented_control(key="fault engine").set_value("healthy").run()
    assert not at.exception
    assert len(sent(at)["trace"]["events"]) == len(healthy.events)
    assert sent(at)["event"] == min(first, len(healthy.events))


def test_the_player_is_there_when_it_is_asked_for_and_opens_at_an_event():
    at = opened(fault="overwrite", run="1")
    assert not components(at, "player")
    at = opened(fault="overwrite", run="1", play="true", event="4")
    assert sent(at)["event"] == 4
    at.number_input(key="wrong-seed").set_value(5).run()
    assert sent(at)["event"] == 9
    assert at.session_state["wrong-event"] is None
    at.button(key="wrong fault mean-undivided").click().run()
    assert not components(at, "player")
    assert not components(opened(fault="zero-init", run="1", play="true"), "player")  # no single pass shows it


def test_a_wrong_guess_is_told_beside_what_was_found():
    at = opened(fault="relu-side", gradient="same", curve="worse", run="1")
    found = f"✗ Not as you guessed. Found: **{EFFECTS['numbers']}**. {BY_KEY['relu-side'].symptom}"
    assert found in [m.value for m in at.markdown]


def test_what_was_guessed_stays_as_it_was():
    at = opened(fault="relu-side", gradient="same", curve="worse")
    at.button(key="fault go").click().run()
    assert not at.selectbox
    assert not at.radio
    at.number_input(key="wrong-seed").set_value(3).run()
    assert address(at)["gradient"] == "same"
    assert "✗ Not as you guessed." in texts(at.markdown)


def test_of_a_training_loop_only_the_curve_is_asked():
    at = opened(fault="rate-too-high", curve="worse")
    assert [box.key for box in at.selectbox] == ["wrong-curve"]
    assert UNTOUCHED in page_text(at)
    at.button(key="fault go").click().run()
    assert not at.exception
    assert UNTOUCHED in page_text(at)


def test_another_fault_begins_again():
    at = opened(fault="relu-side", gradient="numbers", curve="worse", run="1")
    at.button(key="wrong fault mean-undivided").click().run()
    assert not at.exception
    assert at.selectbox(key="wrong-gradient").value is None
    assert "Gradient of" not in "".join(html(at))
    assert address(at)["fault"] == "mean-undivided"
    assert "run" not in address(at)
