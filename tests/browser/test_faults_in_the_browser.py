"""Faults in a real browser: two visitors at once, the keyboard alone, a phone, both themes."""

import re

import pytest
from playwright.sync_api import expect

from lab.text import numeral as number
from lab.trace.dot import PALETTES
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import compare
from lab.traps.faults.spot_the_fault import open_case
from tests.support import settled, switch


def shown_gradients(page):
    """Name -> (numbers of the healthy engine, numbers of the broken one), as they stand on the page."""
    groups = page.locator('[role=group][aria-label^="Gradient of"]')
    groups.first.wait_for()  # they come in one piece
    found = groups.evaluate_all(
        """(groups) => groups.map((group) => [group.ariaLabel, ...[...group.querySelectorAll("table")].map(
          (table) => [...table.querySelectorAll("td")].map((cell) => cell.innerText))])"""
    )
    return {re.match(r"Gradient of (\w+)", label)[1]: (healthy, broken) for label, healthy, broken in found}


def computed(key, seed=0):
    comparison = compare(BY_KEY[key], seed)
    right = {name: [number(v) for v in gradient.ravel()] for name, gradient in comparison.healthy.gradients.items()}
    wrong = {name: [number(v) for v in gradient.ravel()] for name, gradient in comparison.broken.gradients.items()}
    return right, wrong


def test_a_fault_switched_on_by_one_visitor_never_shows_for_another(open_page):
    """Several visitors of one process at once: each broken engine exists on its own page only."""
    keys = ["overwrite", "relu-side", "backward-twice"]
    broken = {key: open_page(f"what-went-wrong?fault={key}&run=1") for key in keys}
    other = open_page("graph-lab?expression=a*b+%2B+a&in_a=2.0&in_b=3.0&stage=backward")

    def check():
        for key, page in broken.items():
            shown = shown_gradients(page)
            right, wrong = computed(key)
            assert {name: healthy for name, (healthy, _) in shown.items()} == right, key
            cells = {name: [cell.removeprefix("≠ ") for cell in cells] for name, (_, cells) in shown.items()}
            assert cells == wrong, key
        other.locator("g.card.leaf text.gradient").get_by_text(
            "4", exact=True
        ).wait_for()  # a * b + a: the gradient of a is b + 1

    check()
    for page in (*broken.values(), other):  # in turn, after runs of all of them
        page.reload()
    check()


@pytest.mark.flow
def test_guess_run_and_read_by_keyboard_alone(open_page):
    page = open_page("what-went-wrong?fault=relu-side", height=720)
    go = page.get_by_role("button", name="Run both engines")
    expect(go).to_be_disabled()
    settled(page)
    for question in ("gradients are", "training run"):
        box = page.get_by_role("combobox", name=re.compile(question))
        box.focus()
        settled(page)  # it has moved to show the whole box: a list that opens before it does closes again
        page.keyboard.press("ArrowDown")  # opens the list
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        page.get_by_role("option").first.wait_for(state="detached")
    go.and_(page.locator(":enabled")).focus()
    page.keyboard.press("Enter")
    found = page.get_by_text("Not as you guessed. Found: other numbers")
    found.wait_for()
    expect(found).to_be_in_viewport()  # nobody has scrolled
    rule = page.locator(".st-key-picture-rule pre")
    expect(rule).to_contain_text("result <= 0.0")
    expect(rule).to_be_in_viewport()
    expect(page.locator("canvas").first).to_be_in_viewport()
    page.wait_for_url("**run=1**")
    page.wait_for_url("**gradient=same**")


def test_a_broken_engine_is_gone_through_event_by_event(open_page):
    page = open_page("what-went-wrong?fault=overwrite&run=1")
    page.get_by_text("See it event by event").click()
    page.locator(".count", has_text="9 / 11").wait_for()  # the second message to a replaces the first
    page.locator(".sentence", has_text="before 1, after −0.4").wait_for()
    expect(page.locator(".equation .sign").last).to_have_text("≠")
    page.get_by_text("This is not what adding the message gives").first.wait_for()
    page.wait_for_url("**play=true**")
    page.locator(".scrubber").press("ArrowLeft")
    page.locator(".count", has_text="8 / 11").wait_for()
    page.wait_for_url("**event=8**")
    page.reload()
    page.locator(".count", has_text="8 / 11").wait_for()
    page.get_by_role("radio", name="healthy").click()
    page.locator(".sentence", has_text="before 1, after 0.6").wait_for()
    expect(page.locator(".equation .sign").last).to_have_text("=")


def test_a_link_reproduces_the_page(open_page):
    page = open_page("what-went-wrong?fault=relu-side&seed=5&gradient=numbers&curve=worse&run=1")
    assert {name: pair[0] for name, pair in shown_gradients(page).items()} == computed("relu-side", 5)[0]
    cell = page.locator('[role=group][aria-label^="Gradient of"] td').first
    for theme in ("dark", "light"):  # what the server has sent serves both
        switch(page, theme)
        red, green, blue = (int(PALETTES[theme]["gradient"][i : i + 2], 16) for i in (1, 3, 5))
        expect(cell).to_have_css("color", f"rgb({red}, {green}, {blue})")


@pytest.mark.flow
def test_a_case_is_solved_and_leads_to_its_fault(open_page):
    number_of_case = next(n for n in range(1, 100) if open_case(n).culprit == "sign-flipped")
    page = open_page(f"what-went-wrong?tab=spot&case={number_of_case}")
    page.get_by_role("button", name="One traced step").click()
    page.get_by_text("8 of 10").wait_for()
    radio = page.get_by_role("radio", name=BY_KEY["sign-flipped"].name)
    radio.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Name the culprit").and_(page.locator(":enabled")).click()
    page.get_by_text(f"Right: {BY_KEY['sign-flipped'].name}").wait_for()
    page.get_by_role("link", name="See it next to the healthy engine").click()
    page.get_by_role("heading", name="What finds it").wait_for()
    page.wait_for_url("**fault=sign-flipped**")
