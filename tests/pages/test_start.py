"""Start without a browser: the first gradient, the ways on, the cards."""

import json
import re
from urllib.parse import parse_qsl

import pytest

from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE, BY_PATH
from lab.ui.player import LIMIT
from tests.pages.conftest import address, app, components, progress, run, switch, texts


@pytest.fixture
def at():
    return run(app("pages/start.py"))


def test_a_link_takes_each_number_that_the_player_takes():
    at = run(app("pages/start.py"), in_a=99, in_b=-LIMIT)
    assert not at.info
    assert (at.session_state["start-in_"]["a"], at.session_state["start-in_"]["b"]) == (99, -LIMIT)
    (shown,) = components(at, "player")
    leaf = json.loads(shown.proto.bytes)["live"]["leaves"][0]
    assert (leaf["value"], leaf["high"]) == (99, 99)


def test_the_question_is_judged_by_the_engine():
    right = run(app("pages/start.py"), guess="0")
    assert "✓ Yes: a's gradient is v1's gradient, 1, times b. With b = 0 that is 0: moving" in texts(right.markdown)
    assert "✗ No" in texts(run(app("pages/start.py"), guess="−3").markdown)
    assert "b is 0" not in texts(run(app("pages/start.py"), guess="7").markdown)  # no answer that is offered


def test_the_inputs_have_been_computed_with_when_it_opens(at):
    (player,) = components(at, "player")
    data = json.loads(player.proto.bytes)
    assert data["event"] == 2  # the end of the forward pass
    assert json.loads(components(run(app("pages/start.py"), stage="none"), "player")[0].proto.bytes)["event"] == 0


def test_the_cards_reach_the_browser(at):
    (path,) = progress(at, "path")
    assert [card["key"] for card in path["cards"]] == [card.key for card in CARDS]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_what_a_card_asks_stands_first_on_the_page_where_it_leads(card):
    at = follow(app("app.py"), card)
    assert plain(at.main.markdown[0].value) == f"{card.title}. {card.action}"
    at.button(key="card task away").click().run()
    assert not address(at).get("card")
    assert "card task away" not in {button.key for button in at.button}


def follow(at, card):
    """Open the page of a card by its link."""
    at.run()
    at.query_params.clear()
    at.query_params.update(BY_FILE[card.file].parameters(card.link) | {"entry": "1"})
    at.switch_page(card.file).run()
    assert not at.exception
    return at


def plain(markdown):
    """Return the words of a task without its symbol and Markdown's signs."""
    return re.sub(r":material/flag: |(?<!\\)\*\*|\\(?=\W)", "", markdown)


def test_a_card_prepares_its_page_anew():
    at = app("app.py")
    at.switch_page("pages/what_went_wrong.py")
    run(at, **{"wrong-fault": "relu-side"})
    switch(at, "pages/start.py")
    follow(at, next(card for card in CARDS if card.key == "broken-engine"))
    assert at.session_state["wrong-fault"] == "overwrite"
    switch(at, "pages/graph_lab.py")
    assert "card task away" not in {button.key for button in at.button}


def test_each_way_on_leads_to_an_address_that_its_page_knows():
    ways = [way.proto for way in run(app("app.py")).get("page_link") if way.proto.query_string]
    assert len(ways) == 8
    assert next(way for way in ways if way.label.startswith("Next: an input")).query_string.startswith(
        "graph-expression="
    )
    for way in ways:
        at = app(BY_PATH[way.page].file)
        at.session_state["path"] = way.page
        at.query_params.update(parse_qsl(way.query_string))
        run(at)
        assert "does not fit" not in texts(at.info)
        assert not [group.label for group in at.button_group if group.disabled]  # each question can be answered
