"""Words that are explained: by keyboard, by mouse and by touch, within a narrow window."""

import pytest
from playwright.sync_api import expect

from tests.support import settled


@pytest.mark.flow
def test_a_term_is_explained_where_it_stands(open_page):
    page = open_page("simulate-error", width=360)
    term = page.get_by_role("button", name="in place", exact=True)
    term.wait_for()
    settled(page)
    explanation = page.locator(".definition").first
    expect(explanation).to_be_hidden()
    term.focus()
    expect(explanation).to_have_text(
        "in place A write into an array that already exists, so that every name for it sees the new numbers."
    )
    expect(explanation).to_be_visible()
    expect(term).to_have_accessible_description(explanation.inner_text().replace("\n", " "))
    box, word = explanation.bounding_box(), term.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert 0 <= word["y"] - (box["y"] + box["height"]) < 20  # above its line: what is done next stands below
    shown = "([x, y]) => document.elementFromPoint(x, y).closest('.definition') !== null"
    assert page.evaluate(shown, [box["x"] + 20, box["y"] + box["height"] - 10]), "something covers it"
    term.evaluate("(element) => element.blur()")
    expect(explanation).to_be_hidden()
    term.hover()
    expect(explanation).to_be_visible()
    page.mouse.move(0, 0)
    expect(explanation).to_be_hidden()
    term.click()  # so does a tap
    expect(explanation).to_be_visible()
    page.keyboard.press("Escape")
    expect(explanation).to_be_hidden()
    page.mouse.move(0, 0)
    settled(page)
    expect(explanation).to_be_hidden()  # though the focus is still there
    term.evaluate("(element) => element.blur()")
    term.hover()  # it is not closed for ever
    expect(explanation).to_be_visible()
    page.mouse.move(0, 0)


def test_an_explanation_leaves_free_what_is_done_next(open_page):
    page = open_page("", width=360, height=720)
    page.locator(".stage .card").first.wait_for()
    explanation = page.locator(".term:hover + .definition")
    shown = "([x, y]) => document.elementFromPoint(x, y)?.closest('.definition') !== null"
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 720})
        settled(page)
        page.locator(".term", has_text="gradient").first.hover()
        expect(explanation).to_be_visible()
        box, run = explanation.bounding_box(), page.get_by_role("button", name="Run backward pass").bounding_box()
        assert box["y"] + box["height"] <= run["y"]
        for y in (box["y"] + 6, box["y"] + box["height"] - 6):
            assert page.evaluate(shown, [box["x"] + 20, y]), "something covers it"
        page.mouse.move(0, 0)


def test_an_explanation_shows_once_escape_can_close_it(tab, app_url):
    page = tab()
    held = []
    page.route("**/page/terms.js", lambda route: held.append(route))
    page.goto(f"{app_url}/simulate-error")
    term, explanation = page.get_by_role("button", name="in place", exact=True), page.locator(".definition").first
    term.click()
    settled(page)
    expect(explanation).to_be_hidden()
    while not held:
        page.wait_for_timeout(100)
    page.unroute("**/page/terms.js")  # which lets what was held go on
    expect(explanation).to_be_visible()
    page.keyboard.press("Escape")
    expect(explanation).to_be_hidden()
