"""Build it yourself as a learner: a task is written by keyboard, fails, passes, and is still there after a reload."""

import re

import pytest
from playwright.sync_api import expect

WRONG = """class Value:
def __init__(self, data, children=(), op="", label=""):
self.data = data
self.grad = 1.0
self.label = label
self._children = tuple(children)
self._op = op
self._backward = lambda: None
"""
REPR = """def __repr__(self):
return f"Value(data={self.data}, grad={self.grad})"
"""
# The highest number of editors that have been on the page at once.
# Presses Stop as soon as it is there: a check ends by itself after two seconds, before a slow test would press it.
STOP_AT_ONCE = """(button) => {
  const look = () => {
    if (button.hidden) return requestAnimationFrame(look);
    window.said = button.getRootNode().querySelector(".headline").textContent;
    button.click();
  };
  look();
}"""


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def begin(open_page):
    """The page with an empty browser: what other tests wrote is kept there, too."""
    page = open_page("build-it-yourself")
    page.locator(".cm-content").wait_for()
    page.evaluate("localStorage.clear()")
    page.reload()
    editor = page.locator(".cm-content")
    editor.focus()
    return page, editor, page.locator(".headline")


@pytest.mark.flow
def test_a_task_is_written_by_keyboard_and_outlives_a_reload(open_page):
    page, editor, headline = begin(open_page)
    press(page, "Control+End", "Enter", "Enter")
    page.keyboard.type(WRONG)  # the editor indents
    press(page, "Backspace")
    page.keyboard.type(REPR)
    press(page, "Control+Enter")
    expect(headline).to_have_text("✗ A number that remembers: “A new value” fails.")
    expect(page.locator(".sentence")).to_contain_text("grad begins at 1")
    expect(page.locator(".came")).to_contain_text("a.grad with your code✗ 1")
    press(page, "Control+f")  # search, then back into the text
    page.keyboard.type("= 1.0")
    press(page, "Enter", "Escape")
    expect(editor).to_be_focused()
    page.keyboard.type("= 0.0\nself.data = dat")  # a mistake that has a line
    press(page, "Control+Enter")
    expect(page.locator(".sentence")).to_contain_text("NameError")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.keyboard.type("a")
    press(page, "Escape", "Tab")  # out of the editor by keyboard
    expect(editor).not_to_be_focused()
    press(page, "Shift+Tab")
    expect(editor).to_be_focused()
    press(page, "Control+Enter")
    expect(headline).to_have_text("✓ A number that remembers: passed. Next: Addition.")
    expect(page.get_by_role("heading", level=2)).to_have_text("2. Addition")
    expect(page).to_have_url(re.compile("task=add"))
    text = editor.inner_text()

    page.reload()
    expect(editor).to_have_text(re.compile(r"self\.grad = 0\.0"))
    assert editor.inner_text() == text
    expect(page.get_by_role("button", name=re.compile("remembers.*passed"))).to_be_visible()
    expect(page.get_by_role("button", name="Addition")).to_have_attribute("aria-current", "step")

    page.get_by_role("button", name="Start again").click()
    expect(editor).not_to_contain_text("class Value")
    page.get_by_role("button", name="Earlier copies").click()
    copies = page.get_by_role("dialog")
    copies.locator("summary", has_text="passed").click()
    copies.get_by_role("button", name="Restore this copy").click()
    assert editor.inner_text() == text


def test_the_verdict_of_a_failing_check_is_in_the_window(open_page):
    page, editor, headline = begin(open_page)
    page.set_viewport_size({"width": 1280, "height": 720})
    editor.focus()
    press(page, "Control+End", "Enter")
    page.keyboard.type(WRONG)
    press(page, "Backspace")
    page.keyboard.type(REPR.replace(", grad={self.grad}", "") + "\n" * 20)
    press(page, "Control+Enter")
    expect(headline).to_contain_text("fails.")
    verdict = page.locator(".result")
    expect(verdict).to_be_in_viewport(ratio=1)
    assert verdict.evaluate("box => box.scrollHeight - box.clientHeight") <= 0
    assert page.locator(".cm-scroller").evaluate("box => box.scrollHeight - box.clientHeight") > 0


def test_a_loop_without_end_is_stopped_and_the_text_stays(open_page):
    page, editor, headline = begin(open_page)
    page.set_viewport_size(
        {"width": 360, "height": 740}
    )  # where the editor fills the screen, the result comes into view
    press(page, "Control+a")
    page.keyboard.insert_text("class Value\n")
    press(page, "Control+Enter")
    expect(page.locator(".sentence")).to_contain_text("SyntaxError")
    expect(page.locator(".sentence")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 900})
    press(page, "Control+a")
    page.keyboard.insert_text("while True:\n\tpass  # " + "x" * 100_000)
    exercise = page.locator("[class*=st-key-exercise]")
    exercise.locator("button", has_text=re.compile("^Stop$")).evaluate(STOP_AT_ONCE)
    press(page, "Control+Enter")
    expect(headline).to_have_text("✗ The check did not finish.")
    assert page.evaluate("said").startswith("Checking")
    expect(editor).to_contain_text("while True:")
    assert page.evaluate("localStorage.getItem('tensor-ops-lab text scalars').length") > 100_000
