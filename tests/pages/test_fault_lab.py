"""The Fault lab without a browser: every fault, the guesses, the search, the address."""

import re

import pytest

from lab.charts.side_by_side import number
from lab.faults.catalogue import BY_KEY, FAULTS
from lab.faults.compare import CURVES, EFFECTS, compare, first_difference, play, train_with, which_curve
from model import Tensor
from tests.pages.conftest import address, app, components, run, sent, texts

PASTED = (
    "Traceback (most recent call last):\n  loss.backward()\nRuntimeError: one of the variables needed for gradient "
    "computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of ReluBackward0, "
    "is at version 1; expected version 0 instead."
)


def opened(**address):
    return run(app("pages/fault_lab.py"), **address)


def said(at):
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
    assert at.title[0].value == "Fault lab"
    go = at.button(key="fault go")
    assert go.disabled
    assert "The gradients" not in [s.value for s in at.header]
    at.radio(key="fault gradient").set_value("numbers").run()
    assert at.button(key="fault go").disabled
    at.radio(key="fault curve").set_value("same").run()
    assert not at.button(key="fault go").disabled
    at.button(key="fault go").click().run()
    assert not at.exception
    assert "The gradients" in [s.value for s in at.header]
    assert any("As you expected" in s.value for s in at.success)


@pytest.mark.parametrize("key", BY_KEY)
def test_every_fault_shows_what_was_just_computed(key):
    fault = BY_KEY[key]
    at = opened(fault=key, seed="2", run="1")
    comparison = compare(fault, 2)
    truth = which_curve(train_with(fault.healthy, 2), train_with(fault.broken, 2))
    found = [m.value for m in at.markdown if m.value.startswith("Found:")]
    assert found == [f"Found: **{EFFECTS[comparison.effect]}**.", f"Found: **{CURVES[truth]}**."]
    assert bool(marked(at)) == (comparison.effect != "same")
    text = "".join(html(at))
    for name, gradient in comparison.broken.gradients.items():
        if gradient is not None and gradient.size <= 24:
            assert number(gradient.flat[0]) in text, name
    assert fault.fix in [code.value for code in at.code]
    assert fault.code.strip() in [code.value.strip() for code in at.code]
    if fault.torch_message:
        assert fault.torch_code in [code.value for code in at.code]
    charts = at.get("echarts_chart")
    assert 2 <= len(charts) <= 3
    assert all(chart.proto.alt for chart in charts)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.kind == "engine"], ids=lambda fault: fault.key)
def test_every_broken_engine_is_played_beside_the_healthy_one(fault):
    at = opened(fault=fault.key, seed="3", run="1", play="1")
    healthy, broken = play(fault, Tensor, 3), play(fault, fault.broken.engine, 3)
    first = first_difference(healthy, broken) + 1
    assert sent(at)["event"] == first
    assert len(sent(at)["trace"]["events"]) == len(broken.events)
    assert f"Event {first} of the broken engine" in texts(at.markdown)
    assert ("should make" in texts(at.markdown)) == (fault.key in ("overwrite", "half-precision"))
    at.segmented_control(key="fault engine").set_value("healthy").run()
    assert not at.exception
    assert len(sent(at)["trace"]["events"]) == len(healthy.events)
    assert sent(at)["event"] == min(first, len(healthy.events))


def test_the_player_is_there_when_it_is_asked_for_and_opens_at_an_event():
    at = opened(fault="overwrite", run="1")
    assert not components(at, "player")
    at = opened(fault="overwrite", run="1", play="1", event="4")
    assert sent(at)["event"] == 4
    at.number_input(key="fault seed").set_value(5).run()
    assert sent(at)["event"] == 9
    assert "event" not in address(at)
    at.selectbox(key="fault fault").set_value("recursive").run()
    assert not components(at, "player")
    assert not components(opened(fault="zero-init", run="1", play="1"), "player")  # no single pass shows it


def test_without_the_player_the_plain_drawing_stands_in():
    at = opened(fault="overwrite", run="1", play="1")
    at.session_state["fault player"] = {"failed": True}
    run(at)
    assert "could not be loaded" in texts(at.info)
    assert "grad −0.4" in at.get("graphviz_chart")[0].proto.spec


def test_another_seed_shows_other_numbers_and_the_same_effect():
    first, second = opened(fault="relu-side", run="1"), opened(fault="relu-side", run="1", seed="7")
    assert marked(first) != marked(second)
    assert [m.value for m in first.markdown if m.value.startswith("Found:")] == [
        m.value for m in second.markdown if m.value.startswith("Found:")
    ]


def test_a_wrong_guess_is_told_beside_what_was_found():
    at = opened(fault="recursive", gradient="numbers", curve="same", run="1")
    assert [w.value for w in at.warning if "You expected" in w.value] == [
        f"You expected: {EFFECTS['numbers']}. Found: **{EFFECTS['same']}**."
    ]
    assert "8,191" in said(at)


def test_another_fault_begins_again():
    at = opened(fault="relu-side", gradient="numbers", curve="worse", run="1")
    at.selectbox(key="fault fault").set_value("recursive").run()
    assert not at.exception
    assert at.radio(key="fault gradient").value is None
    assert not html(at)[2:]  # the style and the inputs: no gradients
    assert address(at)["fault"] == "recursive"
    assert "run" not in address(at)


def test_a_pasted_message_leads_to_the_fault():
    at = opened()
    at.text_input(key="fault search").set_value(PASTED).run()
    assert not at.exception
    at.button(key="fault found late-read").click().run()
    assert at.selectbox(key="fault fault").value == "late-read"
    at.radio(key="fault gradient").set_value("numbers").run()
    at.radio(key="fault curve").set_value("same").run()
    at.button(key="fault go").click().run()
    assert "MutationError" in said(at)
    assert "modified by an inplace operation" in said(at).replace("\\", "")


def test_a_text_that_fits_nothing_gets_a_sentence():
    at = opened()
    at.text_input(key="fault search").set_value("xyzzy").run()
    assert any("No fault here" in info.value for info in at.info)


@pytest.mark.parametrize(
    "address",
    [
        {"fault": "no-such"},
        {"seed": "x"},
        {"seed": "-1"},
        {"gradient": "1"},
        {"curve": "<b>"},
        {"run": "yes"},
        {"event": "x"},
    ],
)
def test_an_old_or_wrong_address_falls_back_with_a_note(address):
    at = opened(**address)
    assert any("does not fit" in info.value for info in at.info)
    assert at.selectbox(key="fault fault").value == FAULTS[0].key
