"""F projects a page, and two keys step and leave. How each page looks then is seen in test_layout.py."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.layout import look, project
from tests.support import settled


@pytest.mark.flow
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
    for role, focused in (
        ("link", "Next: break a backward pass with a single write"),
        ("button", "Step forward (right arrow)"),
        ("slider", "Event"),
    ):
        page.get_by_role(role, name=focused, exact=True).last.focus()
        for shown in (1, 0):
            page.keyboard.press("f")
            expect(page.locator(".player.present")).to_have_count(shown)
            assert not page.locator("html.projecting").count()


@pytest.mark.parametrize(
    ("path", "picture", "shown"),
    [("graph-lab", ".stage .card", ".player.present"), ("simulate-error", ".trap-program", "html.projecting")],
)
def test_a_key_pressed_twice_at_once_leaves_and_enters_again(open_page, path, picture, shown):
    page = open_page(path, width=1024, height=768)
    page.locator(".project-bar").wait_for(state="attached")
    page.locator(picture).first.wait_for()  # before its player has come, the page itself is projected
    settled(page)
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement")
    page.evaluate("() => [1, 2].forEach(() => dispatchEvent(new KeyboardEvent('keydown', {key: 'f'})))")
    page.wait_for_timeout(500)  # the browser announces the end of the first full screen
    page.wait_for_function("() => document.fullscreenElement")
    expect(page.locator(shown)).to_have_count(1)


@pytest.mark.parametrize("path", ["descent", "simulate-error", "operations", "gradient-check", "graph-lab"])
def test_who_leaves_is_where_the_page_was(open_page, path):
    page = open_page(path, width=1024, height=768)
    page.get_by_text("Try this.").first.wait_for()
    page.locator(".project-bar").wait_for(state="attached")
    settled(page)
    main = page.get_by_test_id("stMain")
    main.evaluate("(one) => one.scrollTop = 57")
    project(page)
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop !== 57")
    page.keyboard.press("f")
    settled(page)
    assert main.evaluate("(one) => one.scrollTop") == 57


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_a_presenter_sees_line_sentence_and_guess_at_each_step_and_goes_by_the_arrows(open_page, width, height):
    page = open_page("simulate-error", width=width, height=height)
    project(page)
    shown = {  # name of the next step -> what is said before it
        "1 Forward": "So far there are only the inputs.",
        "2 Mutate": "The closure of",
        "3 Backward": "Does the closure still hold what it needs?",
        "4 Compare": "Are these gradients right?",
    }
    tops = set()
    for step, said in shown.items():
        settled(page)
        tops.add(round(ends(page, ".trap-program")[1]))
        assert page.get_by_text(said).bounding_box()["y"] > 5  # a margin
        line = page.locator(".trap-program .next", has_text=step)
        for part in (line, page.get_by_text(said)):
            expect(part).to_be_in_viewport(ratio=0.98)  # less than a pixel of its margin may be out of it
        if step == "3 Backward":
            for seen in page.locator("[role=radiogroup] label:visible, .trap-arrays").all():
                expect(seen).to_be_in_viewport(ratio=1)
            page.keyboard.press("3")
            expect(page.get_by_role("radio", name="b.grad is wrong")).to_be_checked()
        else:
            assert ends(page, ".stage")[3] <= ends(page, ".project-bar")[1]
            assert look(page, font=18, drawn=18)["small"] == []
        page.keyboard.press("ArrowRight")  # also while the answer has the focus
    assert len(tops) == 1
    for key in ("ArrowRight", "PageDown"):  # nothing comes after the last step
        page.get_by_role("button", name="Start again (Home)").wait_for()
        page.keyboard.press(key)
    settled(page)
    for part in (page.get_by_text("A wrong gradient, and no error."), page.locator("table", has_text="numerical")):
        expect(part).to_be_in_viewport(ratio=0.99)
    assert ends(page, "[data-testid=stAlert]")[3] <= ends(page, ".project-bar")[1]
    assert look(page, font=18)["small"] == []
    page.keyboard.press("Home")
    expect(page.locator(".trap-program .next", has_text="1 Forward")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["shapes?tab=forgotten", "gradient-check", "other-engines"])
def test_a_projected_picture_has_no_row_above_it_that_is_cut(open_page, path):
    page = open_page(path, width=1024, height=768)
    project(page)
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 0")
    settled(page)
    parts = "[data-testid=stColumn]:first-child label, [data-testid=stButtonGroup] button, [role=tab]"
    cut = page.locator(parts).evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).filter(({ top, bottom }) => top < -1 && bottom > 1).length"
    )
    assert cut == 0


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
@pytest.mark.parametrize(
    ("path", "slider", "said"), [("gradient-check", "Step h", "h = 1 is too large"), ("operations", "x", "At x = 1:")]
)
def test_what_moves_a_projected_curve_is_in_sight_with_it(open_page, path, slider, said, width, height):
    page = open_page(path, width=width, height=height)
    project(page)
    curve = page.locator("[data-chart=curve] .picture")
    bars = page.locator(":is(.st-key-check-inputs, .st-key-operations-op, .st-key-check-h, .st-key-operations-x)")
    for part in (curve, page.get_by_text(said), *bars.all()):
        expect(part).to_be_in_viewport(ratio=0.99)
    settled(page)
    before = curve.bounding_box()
    assert before["height"] >= 0.599 * height
    assert path != "operations" or page.get_by_test_id("stMain").evaluate("(main) => main.scrollTop") == 0
    page.get_by_role("slider", name=slider).press("ArrowLeft")
    expect(page.get_by_text(said)).to_have_count(0)
    settled(page)
    assert curve.bounding_box() == pytest.approx(before, abs=0.5)


def test_a_projected_chart_is_drawn_with_the_pixels_of_its_size(open_page):
    page = open_page("descent", width=1024, height=768)
    sharp = "one => one.width >= 0.99 * one.getBoundingClientRect().width * devicePixelRatio"
    for pressed in (False, True, True):
        if pressed:
            project(page)
            settled(page)
        assert page.locator("[data-chart] canvas").first.evaluate(sharp)


def test_a_click_on_a_projected_chart_is_where_the_pointer_is(open_page):
    page = open_page("descent", width=1024, height=768)
    canvas = page.locator("[data-chart] canvas").first
    places = []
    for projected in (False, True):
        if projected:
            project(page)
            settled(page)
        box, before = canvas.bounding_box(), page.url
        canvas.click(position={"x": 0.6 * box["width"], "y": 0.4 * box["height"]})
        page.wait_for_function("before => location.href !== before", arg=before)
        settled(page)
        places.append(
            [float(number) for number in re.search(r"descent-x=([-\d.]+)&descent-y=([-\d.]+)", page.url).groups()]
        )
    assert np.allclose(*places, atol=0.2), places


def test_a_presenter_steps_and_plays_a_descent_by_the_keys_of_the_player(open_page):
    page = open_page("descent", width=1280, height=720)
    project(page)
    page.get_by_role("radio", name="past it").click()  # an answer with the focus does not keep the keys
    settled(page)
    for key, steps in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("PageDown", 2), ("PageUp", 1)):
        page.keyboard.press(key)
        page.locator("th", has_text=re.compile(f"^{steps} steps?$")).wait_for()
    page.evaluate("document.activeElement.blur()")  # the space bar is that of what has the focus
    for key in (" ", "p"):
        for shown in ("Stop", "Run"):
            page.keyboard.press(key)
            page.get_by_role("button", name=re.compile(f"^{shown}( P)?$")).wait_for()
            settled(page)
    assert len({button.bounding_box()["y"] for button in page.locator(".st-key-descent-picture button").all()}) == 1


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_a_projected_training_shows_its_network_its_loss_and_the_doctor_in_one_window(open_page, width, height):
    page = open_page("training-lab", width=width, height=height)
    page.get_by_role("button", name="A healthy run").click()
    page.get_by_role("menuitem", name="Overfitting").click()
    settled(page)
    project(page)
    page.get_by_role("button", name="Start (P)", exact=True).wait_for()  # the right arrow trains on one batch
    page.keyboard.press(" ")
    for state in ("Pause", "Done"):  # the doctor's longest findings, without and with the buttons beside them
        page.get_by_role("button", name=re.compile(state)).first.wait_for()
        expect(page.locator(".st-key-training-doctor")).to_contain_text("The network overfits")
        assert look(page, font=18)["small"] == []
        for part in (".network", "[data-chart=plane] canvas", "[data-chart=loss] canvas", ".st-key-training-doctor p"):
            expect(page.locator(part).first).to_be_in_viewport(ratio=0.99)
        assert ends(page, "[data-chart=plane]")[3] - ends(page, "[data-chart=plane]")[1] >= 0.45 * height


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_a_unit_clicked_on_a_projector_opens_its_pass_alone_and_leads_back(open_page, width, height):
    page = open_page("training-lab", width=width, height=height)
    project(page)
    page.get_by_role("button", name="Layer 1, unit 3", exact=True).click()
    page.locator(".present .sentence", has_text="to h1[0, 2]: the first message").wait_for()
    assert look(page, font=18, drawn=18)["small"] == []
    assert ends(page, ".stage")[3] - ends(page, ".stage")[1] >= 0.6 * height
    page.keyboard.press("ArrowRight")  # of the player, not of the training
    expect(page.locator(".present .sentence")).to_contain_text("to W2")
    page.keyboard.press("f")
    expect(page.locator(".network")).to_be_in_viewport(ratio=0.99)
    page.get_by_role("button", name="Start (P)", exact=True).wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Continue (P)", exact=True).wait_for()


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_a_table_arrays_and_the_lines_that_differ_are_seen_whole(open_page, width, height):
    for path, rows, first in (
        ("simulate-error?tab=predict", ".st-key-picture-writes [data-testid=stCheckbox]", 12),
        ("what-went-wrong?fault=overwrite", ".st-key-picture-rule pre", 1),
        ("descent?guess=past it&steps=12", ":is([class*=st-key-descent-] :is(tr, td), .st-key-descent-x)", 66),
        ("descent?surface=Two weights of a network&guess=Adam&steps=12", ".st-key-descent-next :is(tr, td)", 49),
        ("shapes", ".grids figure", 8),
        ("other-engines", ".st-key-picture-designs tr", 7),
    ):
        page = open_page(path, width=width, height=height)
        expect(page.locator(rows)).to_have_count(first)
        project(page)
        for row in page.locator(rows).all():
            expect(row).to_be_in_viewport(ratio=0.99)
        assert ends(page, f"{rows} >> nth=-1")[3] <= ends(page, ".project-bar")[1]
    expect(page.locator(".st-key-engines-inputs")).to_be_in_viewport(ratio=1)  # the engines' sliders are in the bar


def test_a_projected_task_comes_before_the_list_of_tasks(open_page):
    page = open_page("build-it-yourself?tab=debug", width=1024, height=768)
    project(page)
    settled(page)
    task = page.get_by_role("heading", name="1. A wrong gradient, and no error")
    expect(task).to_be_in_viewport(ratio=1)
    assert task.bounding_box()["y"] < ends(page, "[class*=st-key-tasks-]")[1]


PHONE = {"width": 360, "height": 740}


def ends(page, part):
    """Left, top, right and bottom of a part of the page."""
    box = page.locator(part).first.bounding_box()
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


@pytest.mark.parametrize("path", ["", "graph-lab", "other-engines?tab=next"])
def test_on_a_phone_a_presented_player_shows_all_its_buttons_and_words(open_page, path):
    page = open_page(path, **PHONE)
    page.locator(".stage .card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    settled(page)
    leave = ends(page, ".leave")
    for button in page.locator(".present .buttons button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert box["y"] + box["height"] <= leave[1]
    assert leave[3] <= PHONE["height"]
    assert ends(page, ".present .stage")[3] - ends(page, ".present .stage")[1] >= PHONE["height"] / 3
    page.get_by_role("button", name="First (Home)").click()
    forward = page.get_by_role("button", name="Step forward (right arrow)")
    for _ in range(int(page.get_by_role("slider", name="Event", include_hidden=True).get_attribute("max"))):
        forward.click()
        scrolled = page.evaluate(SCROLLED)
        assert scrolled == [], page.locator(".ledger").inner_text()
    page.get_by_role("button", name="Leave (F)").click()
    expect(page.locator(".player.present")).to_have_count(0)


# The parts of the ledger that show less than they contain.
SCROLLED = """() => [...document.querySelectorAll("*")]
  .flatMap((one) => [...one.shadowRoot?.querySelectorAll(".present :is(.ledger, .equation)") ?? []])
  .filter((one) => one.scrollHeight > one.clientHeight + 2 || one.scrollWidth > one.clientWidth + 2)
  .map((one) => one.className)"""


@pytest.mark.parametrize("path", ["simulate-error", "build-it-yourself", "shapes", "why-reverse-mode"])
def test_on_a_phone_the_bar_lies_on_nothing_and_the_page_is_as_large_as_before(open_page, path):
    page = open_page(path, **PHONE)
    expect(page.get_by_test_id("stMainMenu")).to_be_in_viewport(ratio=1)
    project(page)
    page.locator("html.projecting").wait_for(state="attached")
    settled(page)
    assert ends(page, ".project-bar")[3] <= PHONE["height"]
    assert ends(page, "[data-testid=stMain]")[3] <= ends(page, ".project-bar")[1]
    assert page.locator("html").evaluate("(html) => html.style.getPropertyValue('--projected')") == "1"
    page.get_by_role("button", name="Leave (F)").click()
    expect(page.locator("html.projecting")).to_have_count(0)
    assert ends(page, "[data-testid=stMain]")[3] == PHONE["height"]


def test_who_writes_an_f_projects_nothing(open_page):
    page = open_page("what-went-wrong")
    page.locator(".project-bar").wait_for(state="attached")
    page.get_by_role("textbox").first.press_sequentially("of f")
    expect(page.get_by_role("textbox").first).to_have_value("of f")
    assert not page.locator("html.projecting").count()


def test_f_is_heard_while_the_scripts_of_a_page_are_loading(tab, app_url):
    page = tab(width=1024, height=768)
    page.route("**/search/search.js", lambda route: (page.keyboard.press("f"), route.continue_()), times=1)
    page.goto(f"{app_url}/graph-lab")
    page.locator(".stage .card").first.wait_for()
    expect(page.locator("html:not(.projecting) .player.present")).to_have_count(1)
    page.keyboard.press("f")
    expect(page.locator("html.projecting, .player.present")).to_have_count(0)
