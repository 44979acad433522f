"""The in-place trap in a real browser: both guards, by mouse and by keyboard, at both widths, and by a pasted message."""

import pytest
from playwright.sync_api import expect

from lab.text import brief
from lab.traps.in_place import Experiment, run
from tests.layout import look
from tests.support import settled, switch

STEPS = ("1 Forward", "2 Mutate", "3 Backward", "4 Compare")
WRONG, REFUSED = "A wrong gradient, and no error.", "Refused."


def button(page, name):
    return page.get_by_role("button", name=name)


def ready(page, name):
    """The button, once it can be pressed."""
    found = button(page, name).and_(page.locator(":enabled"))
    found.wait_for()
    return found


def guess(page, text):
    page.locator("label", has=page.get_by_role("radio", name=text)).click()
    ready(page, "3 Backward")


def four_steps(page, guessed):
    for step in STEPS:
        if step == "3 Backward":
            guess(page, guessed)
        ready(page, step).click()
    ready(page, "Start again")


def compared(page):
    """What stands in the table of gradients: (name, this run, without the write, numerical)."""
    page.get_by_text("without the write", exact=True).wait_for()
    settled(page)
    rows = page.locator("table", has_text="this run").locator("tbody tr").all()
    return [tuple(cell.inner_text() for cell in row.locator("td").all()) for row in rows]


@pytest.mark.flow
def test_guard_off_then_on(open_page):
    page = open_page("simulate-error")
    four_steps(page, "b.grad is wrong")
    page.get_by_text(WRONG).wait_for()
    page.get_by_text("✓ As you guessed.").wait_for()
    result = run(Experiment())
    shown = {row[0]: row[1:] for row in compared(page)}
    for leaf, sign in (("a", "✓"), ("b", "✗")):
        right = brief(result.right[leaf])
        assert shown[f"{leaf}.grad"] == (f"{sign} {brief(result.gradients[leaf])}", right, right)
    page.locator(".sentence", has_text="y (*) sends [1, 1, 1] × [2, −1, 3] ≠ [3, 0, 4] to b").wait_for()
    page.get_by_role("tab", name="Closure").click()
    written = page.locator(".closure tbody tr", has_text="written to")
    written.wait_for()
    expect(written.locator("code")).to_have_text("left")

    button(page, "The same with the guard on").click()
    guess(page, "every gradient is right")  # asked anew: nothing of the answer is on the page
    expect(page.get_by_text(REFUSED)).to_have_count(0)
    expect(page.locator("table", has_text="this run")).to_have_count(0)
    ready(page, "3 Backward").click()
    page.get_by_text("needs its input, 'a' of shape (3,)").first.wait_for()
    ready(page, "4 Compare").click()
    page.get_by_text(REFUSED).wait_for()
    page.get_by_text("✗ Not as you guessed.").wait_for()
    page.locator(".ledger .note", has_text="Here the engine stopped: The backward pass of * needs its input").wait_for()
    page.wait_for_url("**guard=on**")
    assert "Traceback" not in page.inner_text("body")


def test_the_four_steps_by_keyboard_alone(open_page):
    page = open_page("simulate-error")
    focused = "(name) => document.activeElement.innerText.endsWith(name)"
    ready(page, "1 Forward").focus()
    page.keyboard.press("Enter")
    ready(page, "2 Mutate")
    page.wait_for_function(focused, arg="2 Mutate")  # one button: the focus is not lost
    page.keyboard.press("Enter")
    button(page, "3 Backward").wait_for()
    settled(page)
    page.wait_for_function(focused, arg="3 Backward")  # though it waits for the guess
    page.keyboard.press("Enter")
    page.get_by_text("Guess first.", exact=True).wait_for()
    page.get_by_role("radio", name="a.grad is wrong").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**guess=b*")
    ready(page, "3 Backward").focus()
    page.keyboard.press("Enter")
    ready(page, "4 Compare")
    page.wait_for_function(focused, arg="4 Compare")
    page.keyboard.press("Enter")
    page.get_by_text(WRONG).wait_for()


def test_on_a_phone_a_step_that_waits_for_a_guess_brings_the_answers(open_page):
    page = open_page("simulate-error?step=2", width=360, height=740)
    page.locator(".project-bar").wait_for(state="attached")  # what listens to presses is there
    ready(page, "3 Backward").click()
    for part in (page.get_by_text("Guess first.", exact=True), *page.locator("[role=radiogroup] label:visible").all()):
        expect(part).to_be_in_viewport(ratio=1)
    guess(page, "b.grad is wrong")
    ready(page, "3 Backward").click()
    expect(ready(page, "4 Compare")).to_be_in_viewport(ratio=1)


# What is on the screen after a step: the button that led there, its result and its explanation.
SEEN = {
    1: ("2 Mutate", ".trap-arrays", "The closure of"),
    2: ("3 Backward", ".trap-arrays .changed", "Guess first"),
    3: ("4 Compare", "table:has-text('this run')", "Are these gradients right?"),
    4: ("Start again", "table:has-text('this run')", WRONG),
}


WINDOWS = ((1280, 720, "light"), (1024, 768, "dark"))


def test_action_result_and_explanation_are_in_one_window(open_page):
    page = open_page("simulate-error?step=1")

    def inside(locator, name):
        box, window = locator.bounding_box(), page.viewport_size
        assert box, name
        assert min(box["x"], box["y"]) >= 0, (name, box)
        assert box["y"] + box["height"] <= window["height"], (name, window, box)
        assert box["x"] + box["width"] <= window["width"], (name, window, box)

    def windows():
        for width, height, theme in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            switch(page, theme)
            yield

    for step, (name, result, words) in SEEN.items():
        button(page, name).wait_for()
        for _ in windows():
            inside(button(page, name), name)
            inside(page.locator(result).last, result)
            inside(
                page.locator("[data-testid=stMarkdown], [data-testid=stAlert], [data-testid=stRadio]")
                .filter(has_text=words)
                .first,
                words,
            )
            inside(page.locator(".trap-program"), "the program")
        if step == 2:
            guess(page, "b.grad is wrong")
        if step < 4:
            ready(page, name).click()
    button(page, "The same with the guard on").click()
    guess(page, "backward() refuses")
    ready(page, "3 Backward").click()
    ready(page, "4 Compare").click()
    ready(page, "Start again")
    for _ in windows():
        inside(page.get_by_test_id("stAlert").filter(has_text="MutationError."), "the engine's message")
        inside(page.locator(".trap-arrays"), "the arrays")
        inside(page.get_by_test_id("stAlert").filter(has_text=REFUSED), "why it is refused")


def test_a_line_that_cannot_be_run_yet_looks_so(open_page):
    page = open_page("simulate-error?tab=life")
    colours = [
        button(page, line).locator("code").evaluate("code => getComputedStyle(code).color")
        for line in ("y = w * w - 2", "L = y ** 2")
    ]
    assert len({*colours}) == 2


def test_a_life_until_the_second_backward(open_page):
    page = open_page("simulate-error?tab=life")
    for done, line in enumerate(("y = w * w - 2", "L = y ** 2", "L.backward()", "L.backward()"), start=1):
        ready(page, line).first.click()
        page.wait_for_url(f"**life={'flbb'[:done]}*")
    page.get_by_text("has already gone through").first.wait_for()


def test_the_pass_is_gone_through_event_by_event(open_page):
    page = open_page("simulate-error?step=4")
    page.locator(".count", has_text="8 / 9").wait_for()
    page.locator(".scrubber").press("ArrowRight")
    page.locator(".ledger", has_text="✗ right: [2, −1, 3]").wait_for()
    page.locator(".sentence", has_text="but something went wrong on the way").wait_for()
    page.get_by_role("tab", name="Nodes").click()
    row = page.locator(".nodes tbody tr", has=page.get_by_role("rowheader", name="b", exact=True))
    row.locator("td.gradient", has_text="✗ [3, 0, 4], right: [2, −1, 3]").wait_for()
    page.get_by_role("button", name="value [2, −1, 3] → [3, 0, 4]").wait_for()
    drawn = page.locator('.card[data-node="0"]')  # a, drawn with what it holds now
    expect(drawn.locator(".name")).to_have_text("a (3,) ⚠ written to")
    assert drawn.locator(".cell-number").all_text_contents()[:3] == ["3", "0", "4"]
    page.locator(".scrubber").press("Home")
    page.locator(".sentence", has_text="This pass has not begun").wait_for()
    page.locator(".nodes tbody tr", has_text="not run yet").first.wait_for()
    assert "→" not in page.locator(".nodes").inner_text()  # nothing was written to yet
    expect(drawn.locator(".name")).to_have_text("a (3,)")
    assert drawn.locator(".cell-number").all_text_contents()[:3] == ["2", "−1", "3"]
    button(page, "The same with the guard on").click()
    guess(page, "backward() refuses")
    ready(page, "3 Backward").click()
    ready(page, "4 Compare").click()
    page.locator(".count", has_text="2 / 2").last.wait_for()
    expect(page.locator(".player")).to_have_count(1)  # that of the step before has left
    page.get_by_role("tab", name="Nodes").click()
    page.locator(".nodes tbody tr", has_text="not computed yet").nth(3).wait_for()  # none of the four is called 0


def test_nothing_beside_the_scores_is_cut(open_page):
    page = open_page("simulate-error?tab=predict", width=1280, height=720)
    button(page, "Run all 12").click()
    button(page, "Guess again").wait_for()
    for width, height in ((1280, 720), (1024, 768), (360, 740)):
        page.set_viewport_size({"width": width, "height": height})
        found = look(page)
        assert {name: found[name] for name in ("cut", "overlap", "wide")} == {"cut": [], "overlap": [], "wide": 0}


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1024, 768)])
def test_a_graph_is_in_the_window_together_with_what_is_said_about_it(open_page, width, height):
    page = open_page("simulate-error?step=2", width=width, height=height)
    expect(page.locator(".stage .card.output")).to_be_in_viewport(ratio=1)
    expect(page.locator(".stage")).to_be_in_viewport(ratio=1)
