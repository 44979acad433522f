"""A teacher makes a list, a student opens it, mends a program of it by typing, first wrongly, and sees the tick."""

import re

import pytest
from playwright.sync_api import expect


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.flow
def test_a_list_is_made_and_its_program_mended(open_page, app_url):
    page = open_page("for-teachers")
    page.evaluate("localStorage.clear()")
    page.get_by_role("tab", name="Debug these").click()
    page.get_by_role("button", name="A loss that grows").click()
    page.get_by_label("Name of the list").fill("Monday")
    page.keyboard.press("Enter")
    code = page.get_by_test_id("stCode").first
    expect(code).to_contain_text("?set=debug.sign&name=Monday")
    link = code.inner_text().strip()
    assert link.startswith(f"{app_url}/?")

    page.goto(link)
    listed = page.locator("li", has_text="Debug: A loss that grows")
    expect(page.get_by_role("heading", name="Monday")).to_be_visible()
    expect(listed.get_by_role("img", name="open")).to_be_visible()
    listed.get_by_role("link").click()
    expect(page.get_by_role("heading", name="7. A loss that grows")).to_be_visible()
    editor, headline = page.locator(".cm-content"), page.locator(".headline")
    editor.focus()
    press(page, "Control+f")
    page.keyboard.type("w.data + lr")
    press(page, "Enter", "Escape")  # what was found is selected
    page.keyboard.type("w.data - lr * abs(w.grad)  #")
    press(page, "Control+Enter")
    expect(headline).to_have_text("✗ A loss that grows: “The way” fails.")
    expect(page.locator(".sentence")).to_contain_text("abs() makes every step go one way")
    expect(page.get_by_text("Solved.")).to_have_count(0)
    hidden = page.locator(".cm-scroller").evaluate("one => one.scrollHeight - one.clientHeight")
    assert hidden <= 1, "the result hides lines of the program"

    page.get_by_role("button", name="Reset the program").click()
    expect(editor).to_contain_text("w.data + lr * w.grad")
    page.get_by_role("button", name="Earlier copies").click()
    copies = page.get_by_role("dialog")
    copies.locator("summary", has_text="fails").click()
    expect(copies).to_contain_text("abs(w.grad)")  # nothing written is lost
    copies.get_by_role("button", name="Close").click()
    editor.focus()
    press(page, "Control+f")
    page.keyboard.type("w.data + lr")
    press(page, "Enter", "Escape")
    page.keyboard.type("w.data - lr")
    press(page, "Control+Enter")
    expect(headline).to_have_text("✓ A loss that grows: passed.")
    expect(page.get_by_text("The wrong sign: a step along the gradient climbs.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("A loss that grows.*passed"))).to_be_visible()

    page.get_by_role("link", name="Start", exact=True).click()
    expect(listed.get_by_role("img", name="done on")).to_be_visible()
    page.wait_for_url(re.compile("set=debug.sign"))  # written once the page stands
    page.reload()
    expect(page.get_by_text("1 of 1 done")).to_be_visible()
    page.get_by_role("button", name="Close this list").click()
    expect(listed).to_have_count(0)
    expect(page).not_to_have_url(re.compile("set="))
    page.evaluate("localStorage.clear()")  # the browser is that of all tests
