"""Predict, then reveal without a browser: values, then gradients; slips named; points; revealing; the address."""

import pytest

from lab.practice.exercises import exercise
from lab.practice.prediction import Prediction
from tests.pages.conftest import address, app, go_back, press, run, sent, texts

VALUES = {"v1": "6", "v2": "10", "v3": "7", "out": "70"}
GRADIENTS = {"out": "1", "v2": "7", "v3": "10", "d": "10", "v1": "7", "c": "7", "a": "31", "b": "14"}


def opened(**where):
    return run(app("pages/practise.py"), **{"tab": "predict"} | where)


def field(at, what, name):
    return at.text_input(key=f"predict blank {what} {name}")


def check(at, what, **answers):
    for name, text in answers.items():
        field(at, what, name).set_value(text)
    next(button for button in at.button if button.label == "Check").click().run()
    assert not at.exception


def page_text(at):
    """The page's texts, without the marks that keep Markdown from reading them."""
    return texts(at.markdown).replace("\\", "")


def lit(at):
    return [event["kind"] for event in sent(at)["trace"]["events"]]


def test_the_classic_from_the_first_blank_to_the_last():
    at = opened()
    assert "((a*b) + c) * (a + d)" in page_text(at)
    assert [box.label for box in at.text_input] == ["v1 = a * b", "v2 = v1 + c", "v3 = a + d", "out = v2 * v3"]
    assert lit(at) == []  # nothing of what is to be predicted
    check(at, "value", v1="6", v2="24", v3="7.0", out="168")
    assert lit(at) == ["forward", "forward"]
    assert field(at, "value", "v1").disabled
    assert "you do another operation (v1 × c)" in page_text(at)
    assert "Right, given your 24 for v2" in page_text(at)
    assert address(at)["credit"] == "4142--------"
    check(at, "value", v2="10", out="70")
    assert lit(at) == ["forward"] * 4
    assert [box.label for box in at.text_input][:2] == ["∂out/∂out", "∂out/∂v2"]
    check(at, "gradient", **(GRADIENTS | {"a": "21", "b": "−2", "c": "seven"}))
    assert "you overwrite instead of adding (only the message from v1 is left)" in page_text(at)
    assert "c**: Write a number" in page_text(at)
    check(at, "gradient", a="31", b="14", c="7")
    assert sent(at)["still"] is False
    assert "44 of 48 points" in page_text(at)
    assert address(at)["done"] == "1.1-44-48"
    assert at.session_state["predict solved"] == (1, 1)
    press(at, "predict next")
    assert at.number_input(key="predict number").value == 2
    assert {box.value for box in at.text_input} == {""}
    assert "Done: 1 graph, 44 of 48 points." in page_text(at)
    assert at.session_state["predict solved"] is None


def test_a_reload_has_it_all_again_and_back_keeps_the_score():
    at = opened()
    check(at, "value", v1="5", v2="10", v3="7", out="70")
    again = opened(**address(at))
    assert {box.label: box.value for box in again.text_input} == {
        "v1 = a * b ✗": "5",
        "v2 = v1 + c ✓": "10",
        "v3 = a + d ✓": "7",
        "out = v2 * v3 ✓": "70",
    }
    assert address(again) == address(at)
    check(again, "value", v1="6")
    before = address(again)
    check(again, "gradient", **GRADIENTS)
    press(again, "predict next")
    go_back(again, **before)
    assert "1.1-" in address(again)["done"]


def test_what_is_revealed_is_worth_nothing():
    at = opened()
    press(at, "predict reveal")
    assert field(at, "value", "v1").value == "6"
    assert field(at, "value", "v1").label.endswith("(revealed)")
    press(at, "predict reveal all")
    press(at, "predict reveal all")
    assert "0 of 48 points" in page_text(at)
    assert at.session_state["predict solved"] is None


@pytest.mark.parametrize("level", [2, 3, 4])
def test_every_level_can_be_gone_through(level):
    at = opened(level=level, graph=7)
    prediction = Prediction(exercise(level, 7))
    for what in ("value", "gradient"):
        check(at, what, **{blank.name: str(blank.right.tolist()) for blank in prediction.blanks[what]})
    blanks = sum(map(len, prediction.blanks.values()))
    assert f"{4 * blanks} of {4 * blanks} points" in page_text(at)


def test_another_level_begins_with_its_first_graph():
    at = opened(level=1, graph=5, value_v1="3")
    at.selectbox(key="predict level").set_value(4).run()
    assert not at.exception
    assert address(at) == {"tab": "predict", "level": "4", "graph": "1"}
