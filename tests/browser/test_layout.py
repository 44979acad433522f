"""Every page and tab as it is opened, on a laptop, on a phone and projected: all of it can be read and hit, and what it
is about stands in the window, in both themes; axe finds nothing that keeps anybody out, and the browser's own console has
nothing to say."""

import re

import pytest
from playwright.sync_api import expect

from tests.layout import NAMES, PLACES, look, opened, project, violations
from tests.support import settled, switch

FINE = {"low": [], "small": [], "cut": [], "high": [], "overlap": [], "wide": 0, "below": []}
PROJECTORS = ((1024, 768), (1280, 720))
PHONE = (360, 740)
WHOLE = {"next": 10}  # a graph of arrays is drawn smaller on a laptop, so that all of it can be seen
READABLE = {"small": [], "cut": [], "overlap": [], "wide": 0}
# The side of the smallest cell of an array that is in the window.
CELLS = """() => Math.min(Infinity, ...[...document.querySelectorAll("[data-testid=stBidiComponentIsolated] *")]
  .flatMap((one) => [...one.shadowRoot?.querySelectorAll(".grids td > button") ?? []])
  .map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom }) => bottom > 0 && top < innerHeight)
  .map(({ width, height }) => Math.min(width, height)))"""
# Whether the beginning and the end of an element can be seen and touched.
BARE = """(one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return [left + 2, right - 2].every((x) => one.contains(document.elementFromPoint(x, (top + bottom) / 2)));
}"""
# Buttons, links, tabs and answers lower than 44 pixels, and narrower buttons and tabs, but no word in a sentence, no
# arrow of a field or of a strip, no explanation, and no unit of a wide layer.
SMALL_FOR_A_FINGER = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
    one.shadowRoot ? [one, ...all(one.shadowRoot)] : [one]);
  return all(document.body).filter((one) =>
    one.matches("button:not(.term, .link), [data-testid=stPageLink-NavLink], summary, select, [role=tab], .path a, "
      + "[role=group]:has(> [aria-label=Open]), label:has([type=radio], [type=checkbox]), .inputs input, .scrubber")
    && !one.matches("[aria-label^=Help], [aria-label^='Scroll tabs'], [aria-label=Open], .wide *")
    && one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([one, { width, height }]) => width > 2 && height > 2
      && (height < 43.5 || width < 43.5 && one.matches("button, [role=tab]")))
    .map(([one, { width, height }]) => `${one.tagName} ${one.ariaLabel || one.textContent}: ${width} x ${height}`);
}"""
PICTURES = ":is([class*=st-key-picture-], [data-testid=stGraphVizChart], [data-testid=stEChartsChart], .grids, section.figure .picture, .player)"


# Streamlit's browser looks for its server below the page's address first.
LOOKED_FOR = re.compile("/[^/]+/_stcore/(health|host-config)$")


@pytest.fixture
def console():
    """console(page): the errors in its console from now on, and the answers to what there is not."""
    listening = []

    def console(page):
        found = []

        def hear_answer(answer):
            if answer.status >= 400 and not LOOKED_FOR.search(answer.url):
                found.append(f"{answer.status} {answer.url}")

        def hear_line(line):
            if line.type == "error" and not LOOKED_FOR.search(line.location["url"]):
                found.append(line.text)

        ears = {
            "response": hear_answer,
            "console": hear_line,
            "pageerror": lambda error: found.append(str(error)),
        }
        for event, hear in ears.items():
            page.on(event, hear)
            listening.append((page, event, hear))
        return found

    yield console
    for page, event, hear in listening:
        page.remove_listener(event, hear)


@pytest.mark.flow
@pytest.mark.sample(8)
@pytest.mark.parametrize(("known", "tab_name"), PLACES, ids=NAMES)
def test_a_page_can_be_read_and_hit_on_a_laptop_on_a_phone_and_projected(tab, console, app_url, known, tab_name):
    """One visit for all: to open the page is most of the work."""
    page = tab(width=1280, height=720)
    errors = console(page)
    opened(page, app_url, known, tab_name)
    assert look(page, drawn=WHOLE.get(tab_name, 12)) == FINE
    assert violations(page) == []
    switch(page, "dark")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    settled(page)
    if known.tabs:
        assert page.get_by_role("tab", selected=True).first.evaluate(BARE)
    assert page.evaluate(SMALL_FOR_A_FINGER) == []
    on_a_phone = look(page, drawn=10)  # a picture is drawn smaller, and can be made larger
    unseen = {"below", "high"} | ({"cut"} if tab_name in WHOLE else set())  # the page is scrolled, a large graph moved
    on_a_phone = {name: found for name, found in on_a_phone.items() if name not in unseen}
    assert on_a_phone == {name: fault for name, fault in FINE.items() if name in on_a_phone}
    for fit in page.get_by_role("button", name="Fit the graph").all():
        fit.click()  # axe takes words beyond the edge for missing
    assert violations(page) == []
    _can_be_read_from_the_last_row(page, large_graph=tab_name in WHOLE)
    assert errors == []


@pytest.mark.parametrize("path", ["shapes", "simulate-error"])
def test_the_names_of_fields_side_by_side_stand_on_one_line(open_page, path):
    page = open_page(path, width=1280)
    row = page.locator("[data-testid=stHorizontalBlock]:has(> * > [data-testid=stButtonGroup])").last
    names = row.locator("> * > :is([data-testid^=st]) [data-testid=stWidgetLabel]")
    names.nth(2).wait_for()
    assert len({round(name.bounding_box()["y"]) for name in names.all()}) == 1


def test_code_in_a_sentence_is_in_the_code_font_and_smaller_than_its_words(open_page):
    page = open_page("simulate-error?tab=predict")
    code = page.locator(".prose code").first
    expect(code).to_have_css("font-family", '"Source Code Pro", monospace')
    expect(code).to_have_css("font-size", "13px")


def test_an_operation_with_its_arrays_stands_on_one_line_on_a_small_laptop(open_page):
    page = open_page("simulate-error?tab=predict", width=1024)
    rows = page.locator(".st-key-picture-writes [data-testid=stMarkdown]")
    rows.nth(5).wait_for()
    heights = rows.evaluate_all("(all) => all.map((one) => one.clientHeight)")
    assert len(set(heights)) == 1


def test_the_first_window_says_why_a_fault_cannot_run_yet(open_page):
    page = open_page("what-went-wrong?fault=overwrite", height=720)
    expect(page.get_by_text("First say what you expect.")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_task_is_put_away_at_the_end_of_its_text_or_once_done_where_the_learner_is(open_page):
    page = open_page("graph-lab?card=two-messages", width=PHONE[0], height=PHONE[1])
    page.locator(".card").first.wait_for()
    settled(page)
    away, onward = (page.locator(f".st-key-card-{part} >> visible=true") for part in ("task-away button", "next a"))
    cross, text = away.bounding_box(), page.locator(".st-key-card-task-two-messages p").first.bounding_box()
    assert min(cross["width"], cross["height"]) >= 44
    assert text["y"] <= cross["y"] + cross["height"] / 2 <= text["y"] + text["height"]
    title = page.get_by_role("heading", level=1)
    before = title.bounding_box()
    page.get_by_role("button", name="Last").click()
    onward.wait_for()
    assert title.bounding_box() == before  # nothing moves
    page.get_by_text("Try this.").first.scroll_into_view_if_needed()
    for seen in (onward, away):
        expect(seen).to_be_in_viewport(ratio=1)


def test_the_messages_sent_along_edges_can_be_read_on_a_phone(open_page):
    page = open_page("graph-lab?stage=backward&event=21", width=360, height=740)
    page.locator(".stage .card").first.wait_for()
    assert look(page, drawn=10)["small"] == []


def _can_be_read_from_the_last_row(page, large_graph):
    page.set_viewport_size(dict(zip(("width", "height"), PROJECTORS[0], strict=True)))
    project(page)
    shown = page.locator("html.projecting, .player.present")
    moved = {"cut": []} if large_graph else {}  # the part that is told of comes into view
    expect(shown.first).to_be_attached()
    for width, height in (*PROJECTORS, PHONE):
        far = width > PHONE[0]
        page.set_viewport_size({"width": width, "height": height})
        for _ in range(300):  # a picture takes a new size after the page has
            found = {**(look(page, font=18, drawn=18) if far else look(page, drawn=10)), **moved}
            if all(found[name] == READABLE[name] for name in READABLE):
                break
            page.wait_for_timeout(200)
        assert {name: found[name] for name in READABLE} == READABLE
        if far and page.locator("html.projecting").count():
            assert page.evaluate(CELLS) >= 40
            main, bar = (page.locator(part).bounding_box() for part in ("[data-testid=stMain]", ".project-bar"))
            assert main["y"] + main["height"] <= bar["y"]  # the bar lies on nothing
            _in_window(page, height)
    page.keyboard.press("f")
    expect(shown).to_have_count(0)


def _in_window(page, height):
    """The first picture comes into view from its top, and to its end unless it is higher than the window."""
    picture = page.locator(f"[data-testid=stMain] {PICTURES} >> visible=true").first
    if not picture.count():
        return
    for _ in range(600):  # charts take a new size after the page has
        box = picture.bounding_box()
        if box and (-1 <= box["y"] < height / 2 or box["y"] + box["height"] <= height):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"The picture is at {box}.")
