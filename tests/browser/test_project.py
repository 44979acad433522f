"""F projects a page, and two keys step and leave. How each page looks then is seen in test_layout.py."""

import pytest
from playwright.sync_api import expect

from tests.layout import project
from tests.support import settled


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


def test_a_player_in_the_window_is_shown_alone_wherever_the_focus_is(open_page):
    page = open_page("graph-lab", width=1024, height=768)
    page.locator("g.card").first.wait_for()
    page.locator(".project-bar").wait_for(state="attached")
    settled(page)
    for role, focused in (("link", "Simulate Error"), ("button", "Step forward (right arrow)"), ("slider", "Event")):
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


def test_the_bar_covers_nothing_of_the_picture(open_page):
    page = open_page("simulate-error?part=life", width=1024, height=768)
    picture = page.locator("[data-testid=stGraphVizChart] svg")
    picture.wait_for()
    project(page)
    bar = page.locator(".project-bar")
    expect(bar).to_be_visible()
    for _ in range(600):  # the picture takes its new size after the page has
        box, top = picture.bounding_box(), bar.bounding_box()["y"]
        if box and box["y"] >= 0 and box["y"] + box["height"] <= top:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"The picture is at {box}, the bar at {top}.")


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
