"""One course of tasks in two tabs of a browser: nothing that is typed is lost, at any speed of typing."""

import pytest
from playwright.sync_api import expect

TYPED = "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def tabs(open_page):
    """Two tabs with one course, and nothing typed so far."""
    first, second = open_page("build-it-yourself?course=functions"), open_page("build-it-yourself?course=functions")
    for page in (first, second):
        page.locator(".cm-content").wait_for()
    return first, second


def emptied(first, second):
    first.bring_to_front()
    first.locator(".cm-content").focus()
    first.keyboard.press("Control+a")
    first.keyboard.press("Delete")
    expect(second.locator(".cm-line")).to_have_text([""])


def kept(page):
    return page.evaluate("localStorage.getItem('tensor-ops-lab text functions')")


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize("times", [2, 6])
def test_what_is_typed_in_one_tab_is_whole_in_both(tabs, times):
    first, second = tabs
    second.locator(".cm-content").focus()  # a tab that was written in before believes that it has the focus
    for delay in sorted([60, 10, 0] * times, reverse=True):  # milliseconds between two keys
        emptied(first, second)
        first.keyboard.type(TYPED, delay=delay)
        for page in tabs:
            expect(page.locator(".cm-line")).to_have_text([TYPED])
        assert kept(first) == TYPED
    assert first.evaluate("localStorage.getItem('tensor-ops-lab copies functions')") is None  # nothing was apart


def test_the_cursor_stays_where_it_is_while_another_tab_types(tabs):
    first, second = tabs
    emptied(first, second)
    first.keyboard.type("one\ntwo")
    expect(second.locator(".cm-line")).to_have_text(["one", "two"])
    second.bring_to_front()
    second.locator(".cm-content").focus()
    second.keyboard.press("Control+Home")
    second.keyboard.press("End")
    first.bring_to_front()
    first.keyboard.type("\nthree")
    expect(second.locator(".cm-line")).to_have_text(["one", "two", "three"])
    second.bring_to_front()
    second.keyboard.type("!")
    for page in tabs:
        expect(page.locator(".cm-line")).to_have_text(["one!", "two", "three"])


def in_both(tabs):
    """All that stands in the editors and under the earlier copies."""
    texts = [page.locator(".cm-content").inner_text() for page in tabs]
    copies = tabs[0].evaluate("JSON.parse(localStorage.getItem('tensor-ops-lab copies functions') ?? '[]')")
    return "".join([*texts, *(copy["text"] for copy in copies)])


def test_what_both_tabs_type_at_once_is_in_an_editor_or_under_earlier_copies(tabs):
    first, second = tabs
    emptied(first, second)
    for page in tabs:
        page.locator(".cm-content").focus()
    for one, other in zip("abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRST", strict=True):
        first.keyboard.press(one)
        second.keyboard.press(other)
    expect(first.locator(".cm-content")).to_contain_text("t")
    expect(second.locator(".cm-content")).to_contain_text("T")
    before, everything = None, in_both(tabs)
    while everything != before:  # what one tab has told the other may still be on its way
        first.wait_for_timeout(500)
        before, everything = everything, in_both(tabs)
    assert [letter for letter in "abcdefghijklmnopqrstABCDEFGHIJKLMNOPQRST" if letter not in everything] == []
