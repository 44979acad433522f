"""F projects every page: its picture is in the window, large enough for the last row, and two keys step and leave."""

import pytest
from playwright.sync_api import expect

from tests.layout import NAMES, PLACES, look, opened
from tests.support import settled

SIZES = ((1024, 768), (1280, 720))
# The side of the smallest cell of an array that is in the window.
CELLS = """() => Math.min(Infinity, ...[...document.querySelectorAll("[data-testid=stBidiComponentIsolated] *")]
  .flatMap((one) => [...one.shadowRoot?.querySelectorAll(".grids td > button") ?? []])
  .map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom }) => bottom > 0 && top < innerHeight)
  .map(({ width, height }) => Math.min(width, height)))"""
READABLE = {"small": [], "cut": [], "overlap": [], "wide": 0}
PICTURES = ":is([data-testid=stGraphVizChart], [data-testid=stEChartsChart], .grids, section.figure .picture, .player)"


def project(page):
    """Once what listens to the key is there."""
    page.locator(".project-bar").wait_for(state="attached")
    settled(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("f")


@pytest.mark.parametrize(("known", "tab_name"), PLACES, ids=NAMES)
def test_a_projected_page_can_be_read_from_the_last_row(tab, app_url, known, tab_name):
    page = tab(width=SIZES[0][0], height=SIZES[0][1])
    opened(page, app_url, known, tab_name)
    project(page)
    shown = page.locator("html.projecting, .player.present")
    expect(shown.first).to_be_attached()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        found = look(page, font=16, drawn=16)
        assert {name: found[name] for name in ("small", "cut", "overlap", "wide")} == READABLE
        if page.locator("html.projecting").count():
            assert page.evaluate(CELLS) >= 40
            _in_window(page, height)
    page.keyboard.press("f")
    expect(shown).to_have_count(0)


def _in_window(page, height):
    """The first picture comes into view from its top, and to its end unless it is higher than the window."""
    picture = page.locator(f"[data-testid=stMain] {PICTURES} >> visible=true").first
    if not picture.count():
        return
    for _ in range(100):  # charts take a new size after the page has
        box = picture.bounding_box()
        if -1 <= box["y"] < height / 2 or box["y"] + box["height"] <= height:
            return
        page.wait_for_timeout(50)
    pytest.fail(f"The picture is at {box}.")


def test_a_presenter_steps_and_leaves_without_a_mouse(open_page):
    page = open_page("simulate-error", width=1024, height=768)
    project(page)
    expect(page.locator("html.projecting")).to_be_attached()
    back = page.get_by_role("button", name="Back", exact=True)
    expect(back).to_be_disabled()
    page.keyboard.press("PageDown")
    expect(back).to_be_enabled()
    page.keyboard.press("PageUp")
    expect(back).to_be_disabled()
    page.get_by_role("button", name="Leave (F)").click()
    expect(page.locator("html.projecting")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.locator("html.projecting")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator("html.projecting")).to_have_count(0)


@pytest.mark.parametrize("focused", ["Simulate Error", "Step forward (right arrow)", "Event"])
def test_a_player_in_the_window_is_shown_alone_wherever_the_focus_is(open_page, focused):
    page = open_page("graph-lab", width=1024, height=768)
    page.locator("g.card").first.wait_for()
    page.locator(".project-bar").wait_for(state="attached")
    settled(page)
    role = {"Simulate Error": "link", "Event": "slider"}.get(focused, "button")
    page.get_by_role(role, name=focused, exact=True).last.focus()
    for shown in (1, 0):
        page.keyboard.press("f")
        expect(page.locator(".player.present")).to_have_count(shown)
        assert not page.locator("html.projecting").count()


def test_a_slider_of_steps_follows_a_presenter(open_page):
    page = open_page("descent?tab=four&soon=100", width=1024, height=768)
    project(page)
    slider = page.get_by_role("slider", name="Steps")
    for key, value in (("PageDown", "1"), ("PageDown", "2"), ("PageUp", "1")):
        page.keyboard.press(key)
        expect(slider).to_have_value(value)


def test_who_writes_an_f_projects_nothing(open_page):
    page = open_page("practise?tab=ask")
    page.locator(".project-bar").wait_for(state="attached")
    page.get_by_role("textbox").first.press_sequentially("of f")
    expect(page.get_by_role("textbox").first).to_have_value("of f")
    assert not page.locator("html.projecting").count()


def test_a_page_projected_before_its_player_came_is_left_by_the_same_key(open_page):
    page = open_page("graph-lab", width=1024, height=768)
    page.locator(".player").first.wait_for()
    page.locator(".project-bar").wait_for(state="attached")
    page.evaluate("document.documentElement.classList.add('projecting')")  # as an early F does
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("f")
    expect(page.locator("html.projecting, .player.present")).to_have_count(0)
