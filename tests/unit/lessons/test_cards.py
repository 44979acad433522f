"""The path: each card leads to a page that there is, and is not done before its action."""

import re

import pytest

from lab.lessons.cards import CARD, CARDS
from lab.lessons.pages import BY_FILE, GROUPS, PAGES
from tests.pages.conftest import ROOT, app, press, progress, run, texts


def test_keys_pages_and_groups_are_what_they_should_be():
    assert len({card.key for card in CARDS}) == len(CARDS)
    assert {card.file for card in CARDS} <= BY_FILE.keys()
    assert {page.group for page in PAGES} <= set(GROUPS)
    assert len(GROUPS) <= 8
    assert all((ROOT / page.file).is_file() for page in PAGES)
    assert len({page.path for page in PAGES}) == len(PAGES)


def test_there_are_few_doors():
    assert len(PAGES) <= 13
    assert sum(len(page.tabs) for page in PAGES) <= 28


def test_each_card_is_announced_by_one_page_and_no_page_announces_another():
    announced = [
        key
        for place in ("pages", "lab/ui")
        for file in (ROOT / place).glob("**/*.py")
        for key in re.findall(r'progress\.done\("([^"]*)"', file.read_text("utf-8"))
    ]
    assert sorted(announced) == sorted(card.key for card in CARDS)


@pytest.mark.sample(8)
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_a_card_opens_a_state_in_which_nothing_is_done_yet(card):
    at = app(card.file)
    at.session_state["path"] = BY_FILE[card.file].path
    run(at, **card.query)
    assert "does not fit" not in texts(at.info)
    assert sent_cards(at)["done"] == []
    assert (card.key in sent_cards(at)["atEnd"]) == (card.at_end and card.key not in ("by-hand", "topological-order"))


def sent_cards(at):
    """What the page tells the browser of its cards."""
    said = progress(at, "note")
    return {name: sorted({key for one in said for key in one[name]}) for name in ("done", "atEnd")}


def opened(key, **more):
    (card,) = (card for card in CARDS if card.key == key)
    at = app(card.file)
    at.session_state["path"] = BY_FILE[card.file].path
    return run(at, **card.query, **more)


def chosen(kind, key, value):
    return lambda at: getattr(at, kind)(key=key).set_value(value).run()


def pressed(key):
    return lambda at: press(at, key)


WAYS = {  # card -> what is done in the state that it opens; the last step completes it
    "caught-write": [*2 * [pressed("trap next")], chosen("radio", "trap-guess", "error"), pressed("trap next")],
    "broken-engine": [chosen("selectbox", "wrong-gradient", "numbers"), chosen("selectbox", "wrong-curve", "same"), pressed("fault go")],
    "what-it-costs": [chosen("segmented_control", "why-slower", "1000"), pressed("why measure")],
    "forward-wins": [chosen("text_input", "why text 1", "t * [1, 2, 3, 4, 5, 6, 7, 8]"), chosen("segmented_control", "why-zeros", "nowhere"), pressed("jacobian next")],
    "whole-jacobian": [chosen("segmented_control", "why-zeros", "nowhere"), chosen("slider", "why-passes", 3), pressed("jacobian next")],
    "why-the-loss-fell": [chosen("segmented_control", "descent-guess", "past"), *10 * [pressed("descent step")]],
    "forgotten-sum": [chosen("segmented_control", "shapes-guess", "error")],
    "breaking-step": [chosen("slider", "check-h", -16)],
}  # fmt: skip


@pytest.mark.parametrize("key", WAYS)
def test_the_last_step_completes_a_card_and_none_before_it(key):
    at = opened(key)
    for step in WAYS[key]:
        assert sent_cards(at)["done"] == []
        step(at)
        assert not at.exception
    assert sent_cards(at)["done"] == [key]


def test_a_pass_by_hand_counts_only_while_the_player_asks():
    at = opened("by-hand")
    at.session_state["graph player"] = {"state": {"predict": True}}
    at.run()
    assert "by-hand" in sent_cards(at)["atEnd"]
    assert "by-hand" not in sent_cards(opened("by-hand"))["atEnd"]


def test_the_message_that_is_sent_too_early_is_found_in_the_pass_and_not_shown_before_it():
    at = opened("topological-order", **{CARD: "topological-order"})
    for engine, waits in (("overwrites", []), ("any-order", ["topological-order"])):
        at.segmented_control(key="graph-engine").set_value(engine).run()
        assert not at.exception
        assert at.session_state["graph-stage"] == ("forward" if waits else "backward")
        assert sent_cards(at)["done"] == []
        assert [key for key in sent_cards(at)["atEnd"] if key == "topological-order"] == waits


def test_a_copied_link_completes_no_card():
    at = app("pages/what_went_wrong.py")
    at.session_state["path"] = "what-went-wrong"
    run(at, **{"wrong-fault": "overwrite", "wrong-run": "1", "wrong-gradient": "same", "wrong-curve": "same"})
    assert sent_cards(at)["done"] == []
    at.run()
    assert sent_cards(at)["done"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_has_its_title_for_its_address_and_its_file(page):
    slug = re.sub(r"\W+", "-", page.title.lower()).strip("-")
    assert page.path == ("" if page.title == "Start" else slug)
    assert page.file == f"pages/{slug.replace('-', '_')}.py"
