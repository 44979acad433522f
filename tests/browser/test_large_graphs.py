"""Graphs of 300 nodes: they are drawn, the page answers meanwhile, and there is a picture even when Graphviz has none."""

import json

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
def test_a_graph_of_300_nodes_is_drawn(open_player, shape):  # noqa: F811
    page = open_player(f"shape={shape}")
    cards, lines = page.locator(".graph .card"), page.locator(".folding").get_by_role("button", name="lines (")
    nodes = len(record(SHAPES[shape], LEAVES).nodes)
    assert 250 <= nodes <= 310
    if shape in ("iterate", "network"):  # it opens with a card for each line
        expect(lines).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".card.group").nth(29)).to_be_attached()
        lines.click()
    expect(cards).to_have_count(nodes)
    press(page, "Home")
    assert page.locator(".sentence").inner_text() == "Nothing has run yet: only the inputs have values."
    press(page, "End")
    expect(page.locator(".nodes tbody tr")).to_have_count(nodes)
    if page.get_by_text("Drawn simply").is_visible():  # a busy machine: a picture was there in time all the same
        page.get_by_role("button", name="Draw it with care").click()
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


def test_a_node_of_many_is_found_by_its_words_and_shown_in_the_picture(open_player):  # noqa: F811
    page = open_player("shape=chain")
    panel = page.locator(".node-list")
    page.get_by_role("tab", name="Nodes").click()
    last = record(SHAPES["chain"], LEAVES).nodes[-1]["id"]
    rows = panel.locator("tbody tr:visible")
    expect(rows).to_have_count(last + 1)
    names = panel.locator("tbody th")
    wanted = names.last.inner_text()
    panel.get_by_role("searchbox", name="Find a node").fill(wanted.upper())
    expect(rows).to_have_count(sum(all(w in name for w in wanted.split()) for name in names.all_text_contents()))
    rows.last.get_by_role("button").click()
    expect(page.locator(f".graph .card[data-node='{last}']")).to_be_in_viewport()
    panel.get_by_role("searchbox").fill("no such node")
    expect(rows).to_have_count(0)


def test_nobody_has_to_wait_for_graphviz(open_player):  # noqa: F811
    page = open_player()
    shapes = json.loads(strict_json([playable(record(SHAPES[shape], LEAVES)) for shape in ("tangle", "chain")]))
    page.evaluate(
        """async ([traces, asleep]) => {
          const { mount } = await import("/app/static/player/player.js");
          const worker = URL.createObjectURL(new Blob([asleep]));
          const place = document.createElement("div");
          place.id = "place";
          document.body.replaceChildren(place);
          const drawn = (source) => {
            const player = mount(place, { graphviz: { source, worker } });
            player.update({ trace: traces[0], event: null });
            return player;
          };
          const unloaded = drawn("");
          const now = performance.now;
          performance.now = () => now.call(performance) + 10_000; // as long as it may take to load
          window.load = () => {
            performance.now = now;
            unloaded.destroy();
            const player = drawn("loaded at once");
            window.next = () => player.update({ trace: traces[1], event: null });
          };
        }""",
        [shapes, ASLEEP],
    )
    stop = page.get_by_role("button", name="Do not wait: draw it simply")
    page.get_by_text("Drawn simply").wait_for()  # when the time to load it was up
    page.evaluate("load()")
    page.get_by_text("Drawn simply").wait_for()  # when the time to draw was up
    cards = page.locator("#place .graph .card")
    expect(cards).to_have_count(len(shapes[0]["nodes"]))
    page.get_by_role("button", name="Draw it with care").click()
    page.get_by_text("s so far…").wait_for()
    stop.click()  # the learner does not want to wait
    expect(stop).to_be_hidden()
    expect(cards).to_have_count(len(shapes[0]["nodes"]))
    page.get_by_role("button", name="Draw it with care").click()
    page.evaluate("next()")  # another graph comes while this one is in the making
    expect(cards).to_have_count(len(shapes[1]["nodes"]))
    assert page.errors == []


def test_a_very_large_graph_does_not_wait_until_graphviz_is_loaded(open_player):  # noqa: F811
    def long_chain(a, b, c, d):
        x = a
        for i in range(600):
            x = x.tanh() if i % 2 else x + b
        return x * c * d

    page = open_player()
    page.evaluate(
        """async (trace) => {
          const { mount } = await import("/app/static/player/player.js");
          const place = document.createElement("div");
          document.body.replaceChildren(place);
          const player = mount(place, { graphviz: { source: "", worker: URL.createObjectURL(new Blob([])) } });
          player.update({ trace, event: null });
          const later = performance.now() + 2_000; // two seconds: Graphviz may take ten to load
          performance.now = () => later;
        }""",
        json.loads(strict_json(playable(record(long_chain, LEAVES)))),
    )
    page.get_by_text("Drawn simply").wait_for()
    assert page.errors == []


def test_cards_out_of_sight_show_no_text_while_the_graph_is_drawn(new_page, tmp_path):
    """A browser lays out all texts that are there each time a few cards are added."""
    path = tmp_path / "player.html"
    path.write_text(standalone(record(SHAPES["tangle"], LEAVES)), "utf-8")
    page = new_page()
    page.add_init_script(
        """window.shown = window.hidden = 0;
        const count = (node) => {
          if (node.classList?.contains("card")) node.hasAttribute("data-away") ? (hidden += 1) : (shown += 1);
        };
        new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach(count)))
          .observe(document, { childList: true, subtree: true });"""
    )
    page.goto(path.as_uri())
    expect(page.locator(".graph .card")).to_have_count(len(record(SHAPES["tangle"], LEAVES).nodes))
    shown, hidden = page.evaluate("[shown, hidden]")
    assert hidden > 5 * shown  # none, where the picture moves while the cards are made
    page.locator(".graph .card:not([data-away])").first.wait_for()


def test_a_page_from_a_disk_has_a_worker_too(new_page, tmp_path):
    path = tmp_path / "player.html"
    path.write_text(standalone(record(SHAPES["iterate"], LEAVES)), "utf-8")
    page = new_page()
    page.goto(path.as_uri())
    expect(page.locator(".graph .card.group")).to_have_count(74)
    expect(page.get_by_text("Drawn simply")).to_be_hidden()


def test_both_passes_can_be_run_in_a_narrow_window_in_any_font(new_page, tmp_path):
    path = tmp_path / "player.html"
    path.write_text(standalone(record(lambda w: w.tanh(), {"w": 1.0})), "utf-8")
    page = new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(path.as_uri())
    page.add_style_tag(content=".run { letter-spacing: 2px }")  # a wide font
    ends = page.locator(".run").evaluate_all("(all) => all.map((button) => button.getBoundingClientRect().right)")
    assert len(ends) == 2
    assert max(ends) <= 360


def test_a_message_is_not_cut_in_the_font_of_the_machine(new_page, tmp_path):
    path = tmp_path / "player.html"
    leaves = {"w": [-0.3746, 0.03741, -0.6444, 1.184]}
    path.write_text(standalone(record(lambda w: (w.tanh() * w).sum(), leaves)), "utf-8")
    page = new_page()
    page.goto(path.as_uri())
    page.locator(".graph .card").first.wait_for()
    seen = page.locator(".player").evaluate(
        """async (player) => {
          const scrubber = player.querySelector(".scrubber");
          const seen = [];
          for (let k = 0; k <= Number(scrubber.max); k += 1) {
            scrubber.value = k;
            scrubber.dispatchEvent(new Event("input"));
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            const pill = player.querySelector(".pill");
            if (pill.getAttribute("visibility") !== "visible") continue;
            seen.push([pill.textContent, ...["text", "rect"].map((part) => pill.querySelector(part).getBBox().width)]);
          }
          return seen;
        }"""
    )
    assert max(len(text) for text, _, _ in seen) > 20
    assert [(text, wide, room) for text, wide, room in seen if wide > room - 4] == []
