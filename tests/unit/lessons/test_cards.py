"""The path: each card leads to a page that there is, and is not done before its action."""

import json
import re

import pytest

from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE, GROUPS, PAGES
from tests.pages.conftest import ROOT, app, components, press, run, texts


def test_keys_pages_and_groups_are_what_they_should_be():
    assert len({card.key for card in CARDS}) == len(CARDS)
    assert {card.file for card in CARDS} <= BY_FILE.keys()
    assert {page.group for page in PAGES} <= set(GROUPS)
    assert len(GROUPS) <= 8
    assert all((ROOT / page.file).is_file() for page in PAGES)
    assert len({page.path for page in PAGES}) == len(PAGES)


def test_each_card_is_announced_by_one_page_and_no_page_announces_another():
    announced = [
        key
        for place in ("pages", "lab/ui")
        for file in (ROOT / place).glob("**/*.py")
        for key in re.findall(r'progress\.done\("([^"]*)"', file.read_text("utf-8"))
    ]
    assert sorted(announced) == sorted(card.key for card in CARDS)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_a_card_opens_a_state_in_which_nothing_is_done_yet(card):
    at = app(card.file)
    at.session_state["path"] = BY_FILE[card.file].path
    run(at, **card.query)
    assert "does not fit" not in texts(at.info)
    assert sent_cards(at)["done"] == []
    assert (card.key in sent_cards(at)["atEnd"]) == card.at_end


def sent_cards(at):
    """What the page tells the browser of its cards."""
    said = [json.loads(component.proto.bytes) for component in components(at, "progress")]
    return {name: sorted({key for one in said for key in one[name]}) for name in ("done", "atEnd")}


def opened(key):
    (card,) = (card for card in CARDS if card.key == key)
    at = app(card.file)
    at.session_state["path"] = BY_FILE[card.file].path
    return run(at, **card.query)


def test_a_caught_write_completes_the_card():
    at = opened("caught-write")
    press(at, "trap next")
    press(at, "trap next")
    at.radio(key="trap choice").set_value("error").run()
    assert sent_cards(at)["done"] == []
    press(at, "trap next")
    assert sent_cards(at)["done"] == ["caught-write"]


def test_running_both_engines_after_two_guesses_completes_the_card():
    at = opened("broken-engine")
    at.selectbox(key="fault gradient").set_value("numbers").run()
    at.selectbox(key="fault curve").set_value("same").run()
    assert sent_cards(at)["done"] == []
    press(at, "fault go")
    assert sent_cards(at)["done"] == ["broken-engine"]


def test_a_measured_gradient_and_a_measured_race_complete_their_cards():
    at = opened("what-it-costs")
    at.segmented_control(key="why slower").set_value("1000").run()
    press(at, "why measure")
    while at.session_state["why timing"]:
        at.run()
    assert sent_cards(at)["done"] == ["what-it-costs"]
    at = opened("forward-wins")
    at.text_input(key="jacobian expression").set_value("t * [1, 2, 3, 4, 5, 6, 7, 8]").run()
    at.segmented_control(key="jacobian faster").set_value("forward").run()
    press(at, "jacobian both")
    assert sent_cards(at)["done"] == ["forward-wins"]


def test_a_filled_jacobian_completes_the_card():
    at = opened("whole-jacobian")
    at.segmented_control(key="jacobian zeros").set_value("nowhere").run()
    at.slider(key="jacobian passes").set_value(3).run()
    assert sent_cards(at)["done"] == []
    press(at, "jacobian next")
    assert sent_cards(at)["done"] == ["whole-jacobian"]


def test_a_copied_link_completes_no_card():
    at = app("pages/faults.py")
    at.session_state["path"] = "faults"
    run(at, run="1", gradient="same", curve="same")
    assert sent_cards(at)["done"] == []
    at.run()
    assert sent_cards(at)["done"] == []


def test_ten_steps_after_a_guess_complete_the_card():
    at = opened("why-the-loss-fell")
    at.segmented_control(key="descent guess").set_value("past").run()
    for _ in range(9):
        press(at, "descent step")
        assert sent_cards(at)["done"] == []
    press(at, "descent step")
    assert sent_cards(at)["done"] == ["why-the-loss-fell"]


def test_a_wrong_order_seen_to_go_wrong_completes_the_card():
    at = opened("topological-order")
    at.segmented_control(key="graph engine").set_value("overwrites").run()
    assert sent_cards(at)["done"] == []
    at.segmented_control(key="graph engine").set_value("any-order").run()
    assert sent_cards(at)["done"] == ["topological-order"]


def test_a_guess_about_the_forgotten_sum_completes_the_card():
    at = opened("forgotten-sum")
    assert sent_cards(at)["done"] == []
    at.segmented_control(key="broadcasting guess").set_value("error").run()
    assert sent_cards(at)["done"] == ["forgotten-sum"]


def test_a_step_that_is_too_small_completes_the_card():
    at = opened("breaking-step")
    assert sent_cards(at)["done"] == []
    at.session_state["check h"] = -16  # as the picture tells it
    at.run()
    assert sent_cards(at)["done"] == ["breaking-step"]
