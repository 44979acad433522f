"""Every page, with much of it open, in both themes and at both widths: axe finds nothing that keeps anybody out."""

from itertools import product
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from lab.designs.pytorch_questions import QUESTIONS
from tests.layout import violations
from tests.support import settled, switch

PAGES = {
    "graph": "graph-lab?stage=backward",
    "program": "graph-lab?kind=Your+program",
    "simulate-error": "simulate-error?step=4",
    "wrong": "what-went-wrong?failure=kept",
    "faults": "what-went-wrong?fault=wrong-order&run=1&play=1",
    "spot": "what-went-wrong?tab=spot&case=6&seen=norms,step,check",
    "training": "training-lab?epochs=6&epoch=5",
    "check": "gradient-check?h=-6&expression=sum(abs(v)*w)&in_v=[1,0]&in_w=[[1,2],[3,4]]&element=w[1,+0]",
    "operations": "operations?op=maximum&find=equal",
    "designs": "other-engines?part=the+whole+file",
    "broadcasting": "shapes?tab=forgotten&guess=wrong+numbers%2C+never+an+error",
    "field": f"other-engines?tab=beside&question={quote(QUESTIONS['result'].title)}",
    "designs, depth": "why-reverse-mode?tab=curious&topic=Depth&calls=144",
    "why": "why-reverse-mode?slower=100×",
    "why, formula": "why-reverse-mode?tab=curious&longer=30×",
    "jacobian": "why-reverse-mode?tab=one&zeros=nowhere&passes=2",
    "jacobian, chain": "why-reverse-mode?tab=curious&topic=A chain of functions&end=from the left",
    "descent": "descent?surface=Ravine&steps=40&guess=past+it",
    "build": "build-it-yourself?course=tensors&task=matmul",
    "debug": "build-it-yourself?tab=debug&program=4",
    "teachers": "for-teachers?set=cards.by-hand~scalars.add.gone",
    "a list on Start": "?set=cards.by-hand~scalars.add.gone&name=Monday",
    "questions": "build-it-yourself?tab=ask&question=backward-twice&answer=1&checked=1",
}


OTHER_WORDS_ON_A_PHONE = {"graph", "simulate-error", "faults", "a list on Start"}


def looks(name):
    """Both themes and both widths. Where the words are the same at both widths, each is looked at once: one page light
    and wide, then dark and narrow, the next page the other way round, so that what all pages share is seen in all four."""
    themes = ("light", "dark")
    if name in OTHER_WORDS_ON_A_PHONE:
        return product(themes, (1280, 360))
    turn = list(PAGES).index(name) % 2
    return (themes[turn], 1280), (themes[1 - turn], 360)


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(open_page, name):
    page = open_page(PAGES[name])
    page.get_by_text("Try this.").wait_for()
    page.wait_for_load_state("networkidle")  # the player and the colours of code come later
    for theme, width in looks(name):
        page.set_viewport_size({"width": width, "height": 800})
        switch(page, theme)
        expect(page.locator(".opener")).to_be_in_viewport()  # the search, at the top of every page
        assert (theme, width, violations(page)) == (theme, width, [])


def test_the_questions_in_the_menu_can_be_read_in_the_dark(open_page):
    page = open_page("operations", theme="dark")
    page.get_by_test_id("stTopNavSection").filter(has_text="Know").click()
    page.get_by_test_id("stTopNavPopover").get_by_text("What is the backward rule").wait_for()
    settled(page)
    assert violations(page, {"runOnly": ["color-contrast"]}, "[data-testid=stTopNavPopover]") == []


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize("path", ["", "gradient-check", "build-it-yourself"])
def test_two_keys_lead_past_the_bar_to_the_first_thing_on_the_page(open_page, path):
    page = open_page(path)
    page.locator(".opener").wait_for()
    settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the page")).to_be_in_viewport()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain")).to_be_focused()  # by Streamlit's own link, which looks for its name
    page.get_by_role("link", name="Skip to the page").focus()
    page.keyboard.press("Enter")
    title = page.get_by_role("heading", level=1)
    expect(title).to_be_focused()
    address = page.url
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-testid=stMain], .player') !== null")
    assert page.evaluate("document.activeElement.closest('.search') === null")
    assert page.url == address


def test_what_is_chosen_shows_where_the_system_sets_all_colours(open_page):
    page = open_page("simulate-error")
    page.emulate_media(forced_colors="active")
    page.locator(".swatch").first.wait_for()
    colours = page.locator(".swatch").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) == len(colours) > 4
    line = "one => getComputedStyle(one).textDecorationLine"
    tab = page.get_by_role("tab", name="Four steps")
    for chosen in (tab, page.get_by_role("radio", name="off", exact=True)):
        assert chosen.locator("p").evaluate(line) == "underline"
    others = (page.get_by_role("tab", name="Predict"), page.get_by_role("radio", name="on", exact=True))
    assert [other.locator("p").evaluate(line) for other in others] == ["none", "none"]
