"""The player in a real browser: it scrubs without the server, follows a finger, and is usable by keyboard and ear."""

import json
import re
import textwrap

import pytest
from playwright.sync_api import expect

from lab.text import strict_json
from lab.trace.export import playable, standalone
from lab.trace.recording import Recording, record
from tests.browser.conftest import prepared
from tests.programs import LEAVES, shared
from tests.support import ROOT, settled


@pytest.fixture
def open_player(tab, player_url):
    """open_player("case=arrays", theme=..., width=...): the page with nothing but the player, drawn."""

    def note_request(request):
        request.frame.page.requests.append(request.url)

    def note_error(error):
        pages[-1].errors.append(str(error))

    pages = []

    def open_player(query="", **options):
        page = tab(**options)
        page.requests, page.errors = [], []
        page.on("request", note_request)
        page.on("pageerror", note_error)
        pages.append(page)
        page.goto(f"{player_url}/?{query}")
        page.locator(".graph .card").first.wait_for()
        return page

    yield open_player
    for page in pages:
        page.remove_listener("request", note_request)
        page.remove_listener("pageerror", note_error)


@pytest.fixture
def open_export(tab, tmp_path):
    """open_export(reduced_motion=...): the same player on a page from a disk, which is there sooner than an app."""

    def note_error(error):
        page.errors.append(str(error))

    def open_export(**options):
        nonlocal page
        path = tmp_path / "player.html"
        path.write_text(standalone(record(shared, LEAVES)), "utf-8")
        page = tab(**options)
        page.errors = []
        page.on("pageerror", note_error)
        page.goto(path.as_uri())
        page.locator(".graph .card").first.wait_for()
        return page

    page = None
    yield open_export
    page.remove_listener("pageerror", note_error)


def rest(page):
    """What is out of sight follows when no event has come for a tenth of a second after a frame, by the page's clock."""
    page.evaluate(
        """() => new Promise((done) =>
            requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), 150)))"""
    )


def row(page, name):
    """What the table says of a node: value, gradient."""
    tab(page, "Nodes")
    return page.locator(".nodes tr", has=page.get_by_role("button", name=name, exact=True)).locator("td")


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def press(page, *keys):
    page.locator(".scrubber").focus()
    for key in keys:
        page.keyboard.press(key)


def test_from_the_first_event_to_the_last(open_export):
    page = open_export()
    press(page, "Home")
    expect(row(page, "a")).to_have_text(["2", "not computed yet"])
    expect(row(page, "v1 = a * b").nth(0)).to_have_text("not run yet")
    sentences = []
    for _ in range(21):
        press(page, "ArrowRight")
        sentences.append(page.locator(".sentence").inner_text())
    assert sentences[0] == "v1 = a * b: 2 * 3 gives 6."
    assert sentences[4] == "The backward pass starts at out with the starting gradient 1."
    assert "v1 (*) sends 7 × 3 = 21 to a: before 10, after 31." in sentences
    expect(row(page, "a")).to_have_text(["2", "31"])
    assert page.errors == []


@pytest.mark.flow
def test_an_event_is_heard_and_its_source_line_and_closure_are_seen(open_export):
    page = open_export()
    press(page, "Home", "ArrowRight")
    told = re.compile(r"^Event 1\. v1 = a \* b: 2 \* 3 gives 6\.")
    expect(page.locator("[aria-live=polite]")).to_have_text(told)
    assert page.locator(".scrubber").get_attribute("aria-valuetext") == "event 1 of 21"
    press(page, "Home", *["ArrowRight"] * 18)  # v1 sends its message to a
    lit = page.locator(".source [aria-current]:visible").inner_text()
    number = int(re.match(r"\d+", lit)[0])
    line = (ROOT / "model.py").read_text("utf-8").splitlines()[number - 1]
    assert lit[len(str(number)) :].strip() == line.strip()
    assert "accumulate(upstream * right)" in line
    copied = page.locator(".codes pre:visible").evaluate(
        """(code) => {
          getSelection().selectAllChildren(code);
          const text = getSelection().toString();
          getSelection().removeAllRanges();
          return text;
        }"""
    )
    first = int(page.locator(".codes pre:visible .line-number").first.inner_text())
    lines = (ROOT / "model.py").read_text("utf-8").splitlines()[first - 1 :][: len(copied.splitlines())]
    assert len(lines) > 3
    assert copied.splitlines() == textwrap.dedent("\n".join(lines)).splitlines()
    tab(page, "Closure")
    captured = page.locator(".closure tbody tr").first.locator("td, th")
    expect(captured).to_have_text(["left", "input: the value of a", "2", "unchanged"])


@pytest.mark.parametrize("front", [pytest.param("Source", marks=pytest.mark.flow), "Derivation"])
def test_an_event_lays_out_only_the_parts_that_it_changes(open_player, front):
    """One part that the browser cannot lay out alone, such as an item of a flexbox, makes it lay out the whole page."""
    page = open_player()
    tab(page, front)
    press(page, "Home")
    settled(page)
    browser = page.context.browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.locator(".scrubber").evaluate(
        """async (scrubber) => {
          for (let k = 1; k <= 15; k += 1) {
            scrubber.value = k;
            scrubber.dispatchEvent(new Event("input"));
            await new Promise(requestAnimationFrame);
          }
        }"""
    )
    events = json.loads(browser.stop_tracing())["traceEvents"]
    bounded = [
        one["args"]["beginData"]["partialLayout"] for one in events if one["name"] == "Layout" and one["ph"] == "X"
    ]
    assert len(bounded) >= 12
    assert bounded.count(False) <= 2, bounded  # the first focus, a tab's first painting


@pytest.mark.flow
def test_scrubbing_runs_no_script(open_player):
    page = open_player("nodes=30")
    page.locator("[data-test-script-state=notRunning]").wait_for()
    runs = page.get_by_text("runs:")
    before = int(runs.inner_text().split()[1])
    press(page, "Home", *["ArrowRight"] * 50)
    assert page.locator(".count").inner_text().startswith("50 /")
    box = page.locator(".scrubber").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(50):
        page.mouse.move(box["x"] + 5 + step * (box["width"] - 10) / 50, box["y"] + box["height"] / 2)
    page.mouse.up()
    page.get_by_label("a", exact=True).press("ArrowRight")
    expect(row(page, "a").nth(0)).to_have_text("2.1")
    expect(runs).to_have_text(f"runs: {before + 1}")  # for this change of an input, and none before it


def card_of(page, name):
    return page.locator(".card", has=page.locator(".name", has_text=re.compile(f"^{name}( =| \\(|$)")))


@pytest.mark.flow
def test_a_number_follows_the_hand_and_what_was_predicted_stays_beside_it(open_player):
    page = open_player()
    settled(page)
    box = card_of(page, "a").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 10
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 40, steps=10)  # ten steps of 0.1
    expect(card_of(page, "out").locator(".value")).to_have_text("104")
    expect(page.locator(".sentence")).to_have_text("Predicted 101 (gradient × change). Now out is 104.")
    expect(page.locator("text.ghost")).to_have_text("predicted 101")
    page.mouse.up()
    for kind in ("range", "number"):
        expect(page.locator(f'.inputs input[type={kind}][aria-label^="a"]')).to_have_value("3")
    expect(card_of(page, "a").locator(".gradient")).to_have_text("37")
    card_of(page, "a").focus()
    page.keyboard.press("ArrowDown")  # another move: its prediction begins at 3
    expect(page.locator(".phase")).to_have_text("a: 3 → 2.9")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".phase")).to_have_text("a: 3 → 1.9")
    expect(page.locator(".ledger [aria-live]")).to_contain_text("Predicted 63.3 (gradient × change).")
    press(page, "ArrowLeft")
    expect(page.locator(".phase")).to_have_text("Backward pass, event 20 of 21")
    expect(page.locator("text.ghost")).to_have_text("")
    assert not page.errors


def test_a_cell_of_an_array_is_moved_on_its_card(open_player):
    page = open_player("case=arrays")
    settled(page)
    card_of(page, "W").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".phase")).to_contain_text("W[0, 0]: ")
    expect(page.locator(".sentence")).to_contain_text("Predicted ")
    assert not page.errors


def test_a_number_moved_before_the_forward_pass_runs_it(open_player):
    page = open_player("event=0")
    settled(page)
    card_of(page, "a").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".count")).to_have_text("4 / 21")
    expect(page.locator(".sentence")).to_have_text("a moves by +0.1, and out moves by +3.13: 31.3 for each 1 of a.")
    assert page.locator("text.ghost").text_content() == ""  # no gradient has been computed


def test_nothing_jumps_until_it_is_moved(open_player):
    page = open_player()
    cards = page.locator(".graph .card")

    def look():
        return cards.evaluate_all(
            "(all) => all.map((c) => c.getAttribute('transform') + c.querySelector('.box').outerHTML)"
        )

    last = look()
    press(page, "Home")
    rest(page)
    first = look()
    press(page, *["ArrowRight"] * 9)
    rest(page)
    assert first == look() == last

    scene = page.locator(".graph > g")
    fitted = scene.get_attribute("transform")
    page.get_by_role("button", name="Zoom in").click()
    zoomed = scene.get_attribute("transform")
    box = page.locator(".graph").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 80, box["y"] + 60, steps=4)
    page.mouse.up()
    panned = scene.get_attribute("transform")
    page.get_by_role("button", name="Fit the graph").click()
    assert len({fitted, zoomed, panned}) == 3
    assert scene.get_attribute("transform") == fitted


@pytest.mark.flow
def test_every_control_by_keyboard_and_the_address_keeps_the_event(open_player):
    page = open_player()
    count = page.locator(".count")
    for key, expected in [("Home", "0"), ("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1"), ("End", "21")]:
        press(page, key)
        assert count.inner_text().startswith(f"{expected} /")
    for label, expected in [
        ("First (Home)", "0"),
        ("Step forward (right arrow)", "1"),
        ("Last (End)", "21"),
        ("Step back (left arrow)", "20"),
    ]:
        page.get_by_role("button", name=label).focus()
        page.keyboard.press("Enter")
        assert count.inner_text().startswith(f"{expected} /")
    press(page, "Home")
    page.get_by_label("Speed").select_option("0.5×")  # a pass of 46 s, which is not over before it is stopped
    press(page, " ")
    page.get_by_role("button", name="Pause (space)").wait_for()
    expect(count).to_have_text(re.compile(r"^([2-9]|\d\d) /"))
    press(page, " ")
    page.get_by_role("button", name="Play (space)").wait_for()

    press(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    page.wait_for_url("**event=3")
    page.reload()
    expect(page.locator(".count")).to_have_text("3 / 21")


def test_a_node_is_selected_by_click_and_by_tab_and_enter_and_its_gradient_derived(open_player):
    page = open_player()
    expect(page.locator(".chosen")).to_have_text(re.compile("^[a-z].* is shown now. Choose a node to stay with it.$"))
    page.locator(".card", has_text="v2 = v1 + c").click()
    assert page.locator(".derivation h3").inner_text() == "Derivation of ∂out/∂v2"
    page.locator(".card", has_text="v2 = v1 + c").focus()
    page.keyboard.press("Shift+Tab")
    name = page.locator(".card:focus").get_attribute("aria-label")
    page.keyboard.press("Enter")
    assert page.locator(".card:focus").get_attribute("aria-pressed") == "true"
    assert name.split(" ")[0].rstrip(",") in page.locator(".derivation h3").inner_text()
    tab(page, "Closure")
    assert page.get_by_text("kept:").or_(page.get_by_text("keeps nothing for the backward pass")).count() == 1

    tab(page, "Derivation")
    page.locator('.card[data-node="0"]').click()
    lines = page.locator(".derivation .formula").all_inner_texts()
    assert lines == ["= ∂out/∂v3 · ∂v3/∂a + ∂out/∂v1 · ∂v1/∂a", "= 10 · 1 + 7 · b", "= 10 · 1 + 7 · 3", "= 10 + 21"]
    assert page.locator(".derivation .result").inner_text() == "= 31"
    press(page, "Home", *["ArrowRight"] * 11)
    expect(page.locator(".derivation .result")).to_have_text("= 10 so far: 1 more message to come")
    page.locator(".derivation .formula .link", has_text="∂out/∂v3").click()
    assert page.locator(".derivation h3").inner_text() == "Derivation of ∂out/∂v3"


def test_words_for_no_path_and_not_computed_yet_differ(open_player):
    page = open_player("case=unused")
    press(page, "Home")
    expect(row(page, "a").nth(1)).to_have_text("not computed yet")
    expect(row(page, "b").nth(1)).to_have_text("0 (no path)")
    press(page, "End")
    expect(row(page, "a").nth(1)).to_have_text("0")
    expect(row(page, "b").nth(1)).to_have_text("0 (no path)")
    expect(row(page, "2").nth(1)).to_have_text("none (constant)")


def change(page, label, value):
    page.get_by_label(label, exact=True).fill(str(value))


@pytest.mark.flow
def test_a_live_input_is_computed_by_the_engine(open_player):
    page = open_player()
    page.get_by_label("a", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(row(page, "out = v2 * v3").nth(0)).to_have_text("73.13")  # (2.1 * 3 + 4) * (2.1 + 5)
    expect(row(page, "a").nth(0)).to_have_text("2.1")
    expect(row(page, "a").nth(1)).to_have_text("31.6")
    change(page, "b, exact number", -1)
    page.locator(".nodes tr.output").get_by_text("13.49").wait_for()
    change(page, "b, exact number", "")
    assert page.get_by_label("b, exact number").get_attribute("aria-invalid") == "true"
    assert page.locator(".nodes tr.output").get_by_text("13.49").count() == 1
    said = "b stays −1. Use a number from −1,000,000 to 1,000,000."
    expect(page.locator(".refused")).to_have_text("")
    page.get_by_label("b, exact number").blur()
    expect(page.locator(".refused")).to_have_text(said)
    expect(page.get_by_label("b, exact number")).to_have_value("-1")
    change(page, "a, exact number", 2)
    expect(page.locator(".refused")).to_have_text("")
    change(page, "b, exact number", "1e308")
    expect(page.locator(".refused")).to_have_text(said)
    page.get_by_label("b, exact number").blur()
    expect(page.get_by_label("b, exact number")).to_have_value("-1")

    press(page, "Home")
    figures = page.locator(".equation .figure b")
    expect(figures).to_have_text(["2", "−1", "4", "5"])
    change(page, "b, exact number", 7)
    expect(figures).to_have_text(["2", "7", "4", "5"])


def test_a_drag_is_followed(open_player):
    page = open_player()
    shown = row(page, "a").nth(0).element_handle()
    slider = page.get_by_label("a", exact=True)
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.6, y)
    page.mouse.down()
    values = set()
    for share in (0.95, 0.25, 0.4):
        page.mouse.move(box["x"] + box["width"] * share, y, steps=10)
        page.wait_for_function(  # and the button is still down. The browser may go on with the move for a while
            "([slider, shown]) => shown.textContent === slider.value.replace('-', '−')",
            arg=[slider.element_handle(), shown],
        )
        values.add(slider.input_value())
    page.mouse.up()
    assert len(values) == 3


def test_the_cards_of_a_folded_graph_follow_the_events_in_sight_or_not(open_player):
    page = open_player("nodes=150")
    expect(page.locator(".card.group")).to_have_count(20)
    settled(page)  # until then the drawing may move to another part of the graph
    counts = page.locator(".scrubber").evaluate(
        """(scrubber) => [0, 40, Number(scrubber.max)].map((event) => {
          scrubber.value = event;
          scrubber.dispatchEvent(new Event("input"));
          return scrubber.getRootNode().querySelectorAll(".card.not-run").length;
        })"""
    )
    assert counts[0] == 20 > counts[1] > counts[2] == 0


def test_a_large_graph_opens_at_a_readable_size_and_follows_the_events_until_it_is_fitted(open_player):
    page = open_player("case=arrays", width=1280, height=720)
    state = """(graph) => {
      const area = graph.getBoundingClientRect();
      const inside = ({ left, right, top, bottom }) =>
        left >= area.left && right <= area.right && top >= area.top && bottom <= area.bottom;
      const cards = [...graph.querySelectorAll(".card.to .box")];
      return {
        scale: graph.querySelector(":scope > g").transform.baseVal.consolidate().matrix.a,
        cards: cards.length,
        seen: cards.every((card) => inside(card.getBoundingClientRect())),
      };
    }"""
    page.emulate_media(reduced_motion="reduce")
    for _ in range(12):
        press(page, "ArrowLeft")
        rest(page)
        now = page.locator(".graph").evaluate(state)
        assert now["scale"] >= 0.9  # digits of 11 pixels
        assert now["cards"] == 1
        assert now["seen"]
    press(page, "Home")
    expect(page.locator(".card").first).to_be_in_viewport()
    page.get_by_role("button", name="Fit the graph").click()
    fitted = page.locator(".graph").evaluate(state)["scale"]
    press(page, *["ArrowRight"] * 3)
    assert page.locator(".graph").evaluate(state)["scale"] == fitted < 0.75


@pytest.mark.flow
def test_a_matrix_is_edited_in_a_grid_and_counted_by_cell(open_player):
    page = open_player("case=arrays")
    total = row(page, "v6 = sum(v5)").nth(0)
    before = total.inner_text()
    change(page, "W[0, 1]", 1.5)
    expect(total).not_to_have_text(before)
    page.get_by_role("button", name="bias", exact=True).click()
    tab(page, "Derivation")
    page.locator(".cells button", has_text="0.1").first.click()
    expect(page.locator(".cells .readout")).to_have_text(re.compile(r"^bias\[0\]: value 0\.1, gradient "))
    press(page, "End")
    while "to bias" not in page.locator(".sentence").inner_text():
        press(page, "ArrowLeft")
    assert "bias[0]" in page.locator(".sentence").inner_text()
    page.locator(".cells button").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".cells button:focus").get_attribute("aria-label").startswith("value [1]")

    page.get_by_label("W[1, 0]", exact=True).click()  # its slider follows the number that is typed
    slider = page.locator('.inputs input[type="range"][aria-label="W[1, 0]"]')
    assert slider.input_value() == "0.1"
    page.locator('.inputs input[type="number"][aria-label="W[1, 0]"]').fill("1.5")
    assert slider.input_value() == "1.5"
    slider.press("ArrowRight")
    assert page.locator('.inputs input[type="number"][aria-label="W[1, 0]"]').input_value() == "1.51"


def test_a_label_is_text_everywhere(open_player):
    page = open_player("case=nasty")
    for _ in range(6):
        press(page, "ArrowLeft")
    page.locator(".card.leaf").click()
    assert page.locator(".player img").count() == 0
    tab(page, "Nodes")
    assert "<img src=x onerror=alert(1)>" in page.locator(".nodes").inner_text()
    assert not any("/x" in url.rsplit(":", 1)[-1][-3:] for url in page.requests)
    assert page.errors == []


def test_a_loss_is_folded_and_states_are_said_in_words_that_a_screen_reader_knows(open_player):
    page = open_player("case=arrays")
    cards = page.locator(".graph .card").count()
    page.get_by_role("button", name="mse_loss 1").click()
    page.locator(".card.group").wait_for()
    assert page.locator(".graph .card").count() == cards - 6  # four operations and three constants become one card
    page.get_by_role("button", name="mse_loss 1", exact=True).click()
    page.locator(".card.group").wait_for(state="detached")
    expect(page.locator(".graph .card")).to_have_count(cards)

    page.locator('.card[data-node="0"]').click()
    cells = page.locator(".heat button")
    cells.first.click()
    assert cells.first.get_attribute("aria-pressed") == "true"
    assert cells.nth(1).get_attribute("aria-pressed") == "false"
    assert cells.first.evaluate("(cell) => getComputedStyle(cell).outlineStyle") == "solid"
    fold = page.locator(".folding button").first
    before = fold.get_attribute("aria-pressed")
    fold.click()
    assert {before, page.locator(".folding button").first.get_attribute("aria-pressed")} == {"true", "false"}
    assert page.locator(".ledger .equation").get_attribute("aria-hidden") == "true"
    assert page.locator(".buttons svg").first.get_attribute("aria-hidden") == "true"


def test_the_cells_of_small_arrays_have_their_numbers_on_the_card_and_nothing_leaves_the_machine(
    open_player, player_url
):
    page = open_player("case=arrays")
    tab(page, "Nodes")
    rows = page.locator(".nodes tbody tr")
    checked = 0
    for i in range(rows.count()):
        value, gradient = (rows.nth(i).locator("td").nth(j).inner_text() for j in (0, 1))
        cells = page.locator(f'.card[data-node="{i}"] .cell-number')
        if cells.count() and value.startswith("["):  # the table has longer ones by their shape
            numbers = re.findall(r"[^\[\], ]+", value + (gradient if gradient.startswith("[") else ""))
            assert cells.all_text_contents() == numbers
            checked += 1
    assert checked >= 1
    for text in ("value: negative positive", "grad: negative positive", "NaN or ∞"):
        assert text in page.locator(".legend").inner_text().replace("\n", " ")
    press(page, "Home")
    rest(page)
    gradients = page.locator(".card.leaf .mark.gradient")
    assert set(gradients.all_text_contents()) == {"–"}

    host = player_url.removeprefix("http://")
    assert [url for url in page.requests if host not in url and not url.startswith(("data:", "blob:"))] == []


def test_motion_is_reduced_on_request(open_player):
    def travels(page):
        """Whether the number that goes along an edge is seen to move."""
        press(page, "Home", *["ArrowRight"] * 5)
        return page.locator(".player").evaluate(
            """(player) => {
              player.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
              return player.querySelector(".pill").getAnimations().length > 0;
            }"""
        )

    page = open_player(reduced_motion="reduce")
    assert not travels(page)
    page.emulate_media(reduced_motion="no-preference")
    assert travels(page)


@pytest.mark.flow
def test_files_to_take_away(open_player, browser, tmp_path):
    page = open_player("event=19")

    def download(name):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    svg = download("SVG").read_text("utf-8")
    assert svg.startswith("<svg")
    assert ">31<" in svg
    assert "light-dark" not in svg
    assert download("Python script").read_text() == "print(1)\n"
    path = download("HTML page")
    context = browser.new_context(offline=True)
    alone = prepared(context.new_page())
    requests = []
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(path.as_uri())
    alone.locator(".graph .card").first.wait_for()
    assert alone.locator(".count").inner_text() == "19 / 21"
    assert "before 10, after 31" in alone.locator(".sentence").inner_text()
    alone.keyboard.press("ArrowRight")  # with nothing in focus
    assert alone.locator(".count").inner_text() == "20 / 21"
    alone.keyboard.press("f")  # here it is the player's own key
    alone.locator(".player.present").wait_for()
    assert all(url.startswith(("file:", "blob:", "data:")) for url in requests)
    context.close()


def test_a_pass_that_stopped_before_it_began_says_so(new_page, tmp_path):
    recording = Recording(LEAVES)
    trace = recording.finish(shared(**recording.tensors), "RuntimeError: no <b>seed</b>")
    path = tmp_path / "player.html"
    path.write_text(standalone(trace), "utf-8")
    page = new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(path.as_uri())
    page.locator(".graph .card").first.wait_for()
    page.locator(".note", has_text="Here the engine stopped: RuntimeError: no <b>seed</b>").wait_for()
    assert page.locator(".phases span").all_inner_texts()[0] == "forward"
    assert not page.locator(".phases span").last.is_visible()
    press(page, "ArrowLeft")
    assert page.get_by_role("button", name="Run backward pass").is_disabled()
    assert "stopped" not in page.locator(".ledger .note").inner_text()


def test_an_exported_label_stays_text(new_page, tmp_path):
    path = tmp_path / "player.html"
    nasty = "</script><img src=x onerror=alert(1)>"
    path.write_text(standalone(record(lambda **leaves: leaves[nasty] * 2.0, {nasty: 1.0}), title=nasty), "utf-8")
    page = new_page()
    page.goto(path.as_uri())
    page.locator(".graph .card").first.wait_for()
    assert page.locator("img").count() == 0
    tab(page, "Nodes")
    expect(page.locator(".nodes tbody")).to_contain_text(nasty)


@pytest.mark.flow
def test_without_graphviz_the_graph_is_drawn_simply(tab, player_url):
    page = tab()
    page.route("**/graphviz.js", lambda route: route.abort())
    page.goto(player_url)
    page.get_by_text("Drawn simply").wait_for()
    assert page.locator(".graph .card").count() == 8
    press(page, "Home", "ArrowRight")
    assert page.locator(".sentence").inner_text() == "v1 = a * b: 2 * 3 gives 6."


def test_a_graph_that_loses_nodes_is_drawn_anew(open_player):
    """Until the new drawing is there, the cards on the screen are those of the old one: nothing may paint or use them."""
    page = open_player()
    two = playable(record(lambda a, b: a * b, {"a": 2.0, "b": 3.0}))
    found = page.evaluate(
        """async ([first, second]) => {
          const { createPlayer } = await import("/app/static/player/player.js");
          const place = document.createElement("div");
          document.body.append(place);
          const graphviz = {
            source: new URL("/app/static/graphviz/graphviz.js", location.href).href,
            worker: "/app/static/player/worker.js",
          };
          const player = createPlayer(place, { graphviz });
          const cards = () => [...place.querySelectorAll(".card .name")].map((name) => name.textContent);
          const drawn = async (count) => { while (cards().length !== count) await new Promise(requestAnimationFrame); };
          player.update({ trace: first, event: null });
          await drawn(8);
          player.update({ trace: second, event: null });
          place.querySelector('.card[data-node="7"]').dispatchEvent(new MouseEvent("click"));
          place.querySelector('[aria-label^="Zoom in"]').click();
          const note = place.querySelector(".ledger .note").textContent;
          await drawn(3);
          const pressed = place.querySelectorAll('.card[aria-pressed="true"]').length;
          const values = [...place.querySelectorAll(".card .value")].map((value) => value.textContent);
          // Another engine's trace, asked for before the button was pressed: the server knows only the old event.
          const counts = [];
          for (const name of ["Run forward pass", "Run backward pass"]) {
            player.update({ trace: first, event: 0, opening: 1 });
            player.update({ trace: second, event: 0, opening: 2 });
            [...place.querySelectorAll("button")].find((button) => button.querySelector("[data-full]")?.dataset.full === name).click();
            player.update({ trace: first, event: 0, opening: 2 });
            counts.push(place.querySelector(".count").textContent);
          }
          player.destroy();
          return { note, pressed, values, counts };
        }""",
        json.loads(strict_json([playable(record(shared, LEAVES)), two])),
    )
    assert page.errors == []
    assert (
        found["note"]
        == "Last: out (*) sends 1 × 2 = 2 to b: the first message. The gradient is 2. out's gradient 1 times the local derivative a = 2."
    )
    assert found["pressed"] == 0
    assert found["values"] == ["2", "3", "6"]
    assert found["counts"] == ["4 / 21", "21 / 21"]


BUTTONS = {
    "Run forward pass": lambda k: 4,
    "Run backward pass": lambda k: 21 if 19 <= k < 21 else 19,  # where 10 + 21 = 31 it halts
    "First (Home)": lambda k: 0,
    "Node before (shift and left arrow)": lambda k: max([stop for stop in STOPS if stop < k], default=0),
    "Step back (left arrow)": lambda k: max(0, k - 1),
    "Step forward (right arrow)": lambda k: min(21, k + 1),
    "Next node (shift and right arrow)": lambda k: min([stop for stop in STOPS if stop > k], default=21),
    "Last (End)": lambda k: 21,
}
STOPS = (0, 1, 2, 3, 4, 5, 9, 13, 17, 21)  # four operations, the seed, and four operations that send their messages


@pytest.mark.flow
def test_every_button_does_what_it_says_at_every_event_and_the_names_of_the_passes_are_whole(open_export):
    page = open_export(reduced_motion="reduce")
    found = page.locator(".player").evaluate(
        """(player, names) => {
          const scrubber = player.querySelector(".scrubber");
          const buttons = [...player.querySelectorAll(".controls button")];
          const called = (name) => buttons.find(
            (b) => (b.getAttribute("aria-label") ?? b.querySelector("[data-full]").dataset.full) === name);
          const text = (part) => player.querySelector(part).textContent;
          const found = [];
          for (const name of names) for (let k = 0; k <= 21; k += 1) {
            scrubber.value = k;
            scrubber.dispatchEvent(new Event("input"));
            called(name).click();
            const runs = [...player.querySelectorAll(".run")].map((run) => run.className);
            found.push([name, k, Number(text(".count").split("/")[0]), runs, text(".phase"), scrubber.value]);
          }
          return found;
        }""",
        list(BUTTONS),
    )
    assert len(found) == 22 * len(BUTTONS)
    for name, k, reached, (forward, backward), phase, scrubbed in found:
        assert reached == BUTTONS[name](k), (name, k)
        assert ("done" in forward, "done" in backward) == (reached >= 4, reached == 21)
        assert ("main" in forward, "main" in backward) == (reached < 4, 4 <= reached < 21)
        assert f"event {reached} of 21" in phase
        assert scrubbed == str(reached)

    for width in (1280, 1024, 854, 700, 360):
        page.set_viewport_size({"width": width, "height": 740})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        rest(page)
        track, *names = (
            page.locator(".track").bounding_box(),
            *(
                page.locator(".phases span")
                .nth(i)
                .evaluate(
                    "(e) => { const range = document.createRange(); "
                    "range.selectNodeContents(e); return range.getBoundingClientRect().toJSON(); }"
                )
                for i in range(2)
            ),
        )
        assert track["x"] <= names[0]["x"]
        assert names[0]["right"] < names[1]["x"], width
        assert names[1]["right"] <= track["x"] + track["width"] + 1, width
        cut = "(e) => e.scrollWidth > e.clientWidth"
        assert not any(page.locator(".phases span").nth(i).evaluate(cut) for i in range(2)), width


def test_a_pass_runs_to_where_messages_add_up_then_to_its_end_and_once_more(open_player):
    page = open_player("event=9", reduced_motion="no-preference")
    count, speed = page.locator(".count"), page.get_by_label("Speed")
    count.evaluate(
        """(count) => {
          window.counts = [];
          const note = () => counts.push(count.textContent);
          new MutationObserver(note).observe(count, { characterData: true, childList: true, subtree: true });
        }"""
    )
    forward, backward = page.locator(".run").all()
    speed.select_option("4×")
    for button, end in ((forward, 4), (backward, 19), (backward, 21), (backward, 19), (forward, 4), (forward, 4)):
        page.evaluate("counts.length = 0")
        button.click()
        page.wait_for_function(f"new Set(counts).size > 1 && counts.at(-1) === '{end} / 21'")  # it is seen to go
        page.get_by_role("button", name="Play (space)").wait_for()
    backward.click()
    backward.click()  # in a hurry
    expect(count).to_have_text("19 / 21")
    expect(backward).to_have_text(re.compile("^Continue"))
    backward.click()
    expect(count).to_have_text("21 / 21")
    expect(backward).to_have_text(re.compile("^Run backward pass"))
    speed.select_option("0.5×")
    backward.click()
    page.get_by_role("button", name="Pause (space)").click()
    page.get_by_role("button", name="Play (space)").wait_for()
    expect(count).not_to_have_text("21 / 21")


def test_nothing_is_told_before_it_is_computed_and_keys_need_no_focus(open_player):
    page = open_player("event=0")
    tab(page, "Closure")
    page.get_by_text("has not run yet, so it holds nothing").wait_for()
    orange = "(cards) => cards.map((card) => getComputedStyle(card.querySelector('.chip')).fill)"
    chips = page.locator(".card.leaf")
    assert set(chips.evaluate_all(orange)) == {"rgba(0, 0, 0, 0)"}
    press(page, "End")
    page.wait_for_function(f"(card) => ({orange})([card])[0] === 'rgb(255, 159, 28)'", arg=chips.first.element_handle())

    press(page, "Home", *["ArrowRight"] * 3)
    page.mouse.click(5, 5)  # keys work also while nothing has the focus
    page.keyboard.press("ArrowRight")
    expect(page.locator(".count")).to_have_text("4 / 21")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".count")).to_have_text("3 / 21")


def test_a_compact_player_leaves_the_page_its_room_and_tells_when_the_pass_is_over(open_player):
    page = open_player("compact&case=arrays", height=800, reduced_motion="reduce")
    expect(page.get_by_role("heading", name="What follows")).to_be_in_viewport()
    player, inputs = (page.locator(f".player{part}").bounding_box() for part in ("", " .inputs"))
    assert inputs["y"] + inputs["height"] <= player["y"] + player["height"]  # three arrays: they are scrolled
    page = open_player("compact&event=21", height=800, reduced_motion="reduce")
    page.evaluate("() => { window.ends = 0; addEventListener('tensor-ops-lab-end', () => (window.ends += 1)); }")
    away = page.locator(".player :is(.tabs, .takeaway)")
    expect(away).to_have_count(2)
    assert not any(away.nth(i).is_visible() for i in range(2))
    player, stage, inputs = (page.locator(f".player{part}").bounding_box() for part in ("", " .stage", " .inputs"))
    assert 400 <= player["height"] <= 440
    assert stage["height"] >= 220
    assert inputs["x"] >= stage["x"] + stage["width"]
    expect(page.get_by_role("heading", name="What follows")).to_be_in_viewport()
    page.get_by_label("a", exact=True).press("ArrowRight")
    expect(page.locator(".card", has_text="out").locator(".value")).to_have_text("73.13")
    assert page.evaluate("window.ends") == 0  # the page opened there, and another trace is no arrival
    press(page, "End", "ArrowLeft", "ArrowRight")
    forward, backward = page.locator(".run").all()
    forward.click()
    for _ in range(2):  # to where messages add up, and on
        backward.click()
    assert page.evaluate("window.ends") == 2
    page.get_by_role("button", name="Present (F)").click()
    page.locator(".player.present .tabs").wait_for()
    page.get_by_role("button", name="Leave (F)").click()
    page.locator(".player:not(.present)").wait_for()
    page.set_viewport_size({"width": 360, "height": 740})
    page.locator(".player.narrow").wait_for()
    assert 200 <= page.locator(".stage").bounding_box()["height"] <= 240
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_presentation_opens_the_line_of_code_and_then_again_the_panel_in_front(open_export):
    page = open_export(width=1280, height=720)
    page.locator('.card[data-node="0"]').click()
    line, derivation = page.locator(".source [aria-current]"), page.locator(".derivation .result")
    for presented in (False, True, False):
        expect(line).to_be_visible(visible=presented)
        expect(derivation).to_be_visible(visible=not presented)
        if presented:
            expect(line).to_be_in_viewport(ratio=1)
            said, box = page.locator(".ledger .sentence").bounding_box(), page.locator(".ledger").bounding_box()
            assert said["y"] + said["height"] / 2 < box["y"] + 0.7 * box["height"]  # not at the lower edge
        page.keyboard.press("f")


@pytest.mark.parametrize("width", [760, 860])
def test_all_that_is_said_of_an_event_is_seen_in_a_player_of_middle_width(open_player, width):
    page = open_player("case=arrays", width=width, height=720)
    press(page, "Home")
    for event in range(27):
        assert page.locator(".ledger").evaluate("(one) => one.scrollHeight <= one.clientHeight + 1"), event
        page.keyboard.press("ArrowRight")
