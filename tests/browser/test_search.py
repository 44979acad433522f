"""The search in the bar of every page: opened, asked and followed by the keyboard alone."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support import settled


def ask(page, key, text):
    """Open the search by a key, write, and wait for the first answer."""
    page.get_by_text("Try this.").wait_for()
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.locator(".opener").wait_for()
    page.keyboard.press(key)
    field = page.get_by_role("textbox", name="Search")
    expect(field).to_be_focused()
    field.fill(text)
    answers = page.locator("dialog[open] [role=option]")
    answers.nth(1).wait_for()
    return answers


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [(1280, 720), (360, 740)])
def test_an_answer_opens_its_prepared_state_and_back_returns(open_page, size):
    page = open_page("shapes?tab=matmul", width=size[0], height=size[1])
    answers = ask(page, "/", "why +=")
    expect(page.locator("dialog [role=status]")).to_contain_text(f"{answers.count() - 1} answers, or look it up")
    expect(answers.first).to_have_attribute("aria-selected", "true")
    expect(answers.first).to_contain_text("Why += and not =?")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("ArrowDown")
    expect(answers.nth(1)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("textbox", name="Search")).to_have_attribute("aria-activedescendant", "search-1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Graph lab", level=1).wait_for()
    page.wait_for_url(lambda url: dict(parse_qsl(urlsplit(url).query)).get("graph-event") == "19")
    page.go_back()
    page.get_by_role("heading", name="Shapes", level=1).wait_for()
    page.wait_for_url("**/shapes?shapes-tab=Matmul*")


def test_an_answer_on_the_same_page_is_opened_there(open_page):
    page = open_page("shapes")
    ask(page, "Control+k", "matmul")
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Search").wait_for(state="hidden")
    answers = ask(page, "/", "Forgotten sum")
    tab = answers.filter(has_text="A tab of Shapes").filter(has_text="Forgotten sum")
    tab.click()
    page.wait_for_url("**/shapes?shapes-tab=Forgotten*")
    expect(page.get_by_role("tab", name="Forgotten sum")).to_have_attribute("aria-selected", "true")


def test_the_search_opens_from_a_code_editor(open_page):
    page = open_page("build-it-yourself")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()


def test_enter_does_not_open_the_answer_to_an_older_text(open_page):
    page = open_page("")
    ask(page, "/", "broadcasting")
    page.get_by_role("textbox", name="Search").fill("loss is nan")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="nan").first.wait_for()
    expect(page).to_have_url(re.compile("what-went-wrong.*failure=nan"))


def test_a_slash_in_a_text_is_a_slash(open_page):
    page = open_page("what-went-wrong")
    box = page.get_by_label("Message, or what you see")
    box.press_sequentially("a/b")
    expect(box).to_have_value("a/b")
    expect(page.get_by_role("textbox", name="Search")).to_be_hidden()


def test_on_a_phone_the_menu_lies_on_the_search_until_its_button_closes_it(open_page):
    page = open_page("shapes", width=360, height=740)
    page.locator(".opener").click(trial=True)
    page.get_by_test_id("stExpandSidebarButton").click()
    settled(page)
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click(position={"x": 26, "y": 14})
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
