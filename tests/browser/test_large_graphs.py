"""Graphs of 300 nodes: they are folded until they can be drawn, and there is a picture even when Graphviz has none."""

import json
import re

import pytest
from playwright.sync_api import expect

from lab.text import strict_json
from lab.trace.export import playable, standalone
from lab.trace.recording import record
from tests.browser.apps.programs import SHAPES
from tests.browser.test_player import open_player, press  # noqa: F401 (a fixture)
from tests.programs import LEAVES

pytestmark = pytest.mark.xdist_group("test_player")  # whose process has the server with the player

# A Graphviz that never answers; without a source it is not even loaded.
ASLEEP = "onmessage = ({ data }) => data.source && postMessage({ ready: true })"


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_graph_of_300_nodes_is_drawn_folded(open_player, shape):  # noqa: F811
    page = open_player(f"shape={shape}")
    cards, folded = page.locator(".graph .card"), page.locator(".graph .card.group")
    buttons = page.locator(".folding").first
    trace = record(SHAPES[shape], LEAVES)
    nodes = len(trace.nodes)
    assert 250 <= nodes <= 310
    by_line = shape in ("iterate", "network")
    whole = buttons.get_by_role("button", name="lines (" if by_line else "stretches (")
    expect(whole).to_have_attribute("aria-pressed", "true")
    expect(whole).to_be_disabled()  # there would be too many cards
    before = int(re.search(r"\((\d+)\)", whole.inner_text())[1])
    expect(folded).to_have_count(before)
    buttons.get_by_text("One by one").click()
    shut = buttons.locator("details button[aria-pressed=true]")
    shut.nth(3).click()
    expect(folded).to_have_count(before - 1)
    for _ in range(8):  # of so many only some can be open
        shut.first.click()
    expect(folded).to_have_count(shut.count())  # it is drawn as chosen: a later drawing would move what is in sight
    assert cards.count() <= 100
    press(page, "Home")
    assert page.locator(".sentence").inner_text() == "This pass has not begun: only the inputs have values."
    press(page, "End")
    page.get_by_role("tab", name="Nodes").click()
    expect(page.locator(".nodes tbody tr")).to_have_count(nodes)
    page.locator(".nodes tbody tr").last.get_by_role("button").click()
    last = page.locator(f".graph .card[data-node='{nodes - 1}']")  # a folded card shows its last node
    expect(last).to_be_in_viewport()
    expect(page.get_by_text("Drawn simply")).to_be_hidden()
    boxes = cards.evaluate_all(
        """(all) => all.map((card) => {
          const [x, y] = card.getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
          const box = card.querySelector(".box");
          return [x, y, Number(box.getAttribute("width")), Number(box.getAttribute("height"))];
        })"""
    )
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:i]:
            apart = 2 * abs(x - other_x) >= width + other_width - 1 or 2 * abs(y - other_y) >= height + other_height - 1
            assert apart, "two cards lie on each other"
    assert page.errors == []


def test_nobody_has_to_wait_for_graphviz(open_player):  # noqa: F811
    page = open_player()
    shapes = json.loads(strict_json([playable(record(SHAPES[shape], LEAVES)) for shape in ("tangle", "chain")]))
    page.evaluate(
        """async ([traces, asleep]) => {
          const { createPlayer } = await import("/app/static/player/player.js");
          const worker = URL.createObjectURL(new Blob([asleep]));
          const place = document.createElement("div");
          place.id = "place";
          document.body.replaceChildren(place);
          const player = createPlayer(place, { graphviz: { source: "loaded at once", worker } });
          window.show = (at) => player.update({ trace: traces[at], event: null });
        }""",
        [shapes, ASLEEP],
    )
    cards, simple = page.locator("#place .graph .card"), page.get_by_text("Drawn simply")
    for at in (0, 1):
        page.evaluate("(at) => [show(1 - at), show(at)]", at)  # the second while the first is in the making
        simple.wait_for()
        expect(cards).to_have_count(24)
    assert page.errors == []


def test_a_page_from_a_disk_has_a_worker_too(new_page, tmp_path):
    path = tmp_path / "player.html"
    path.write_text(standalone(record(SHAPES["iterate"], LEAVES)), "utf-8")
    page = new_page()
    page.goto(path.as_uri())
    expect(page.locator(".graph .card.group")).to_have_count(74)
    expect(page.get_by_text("Drawn simply")).to_be_hidden()
