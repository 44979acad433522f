"""Graph lab > Your program, as a visitor uses it."""

import re

import pytest
from playwright.sync_api import expect

from lab.practice import isolation
from tests.layout import look, project
from tests.support import settled, write

pytestmark = pytest.mark.skipif(isolation.unavailable() != "", reason="no program can run on this machine")

PROGRAM = """\
from model import Tensor
w = Tensor([1.0, 2.0])
h = w * w
loss = h.sum()
loss.backward()
print(w.grad)
loss.backward()
"""


def lit(page, name):
    return page.locator(f".cm-line.{name}")


@pytest.mark.flow
def test_a_program_is_pasted_run_played_and_kept(open_page):
    page = open_page("", height=720)
    page.get_by_role("link", name="Paste a program").click()
    write(page, PROGRAM)
    card = page.locator(".card", has_text="h = w * w")
    expect(card).to_be_visible()
    # What is there is in one window: the code, the picture, what was printed, and how it ended
    expect(page.get_by_test_id("stCode").get_by_text("[2. 4.]", exact=True)).to_be_in_viewport()
    expect(page.locator(".problem", has_text="Line 7: RuntimeError")).to_be_in_viewport()
    expect(card).to_be_in_viewport()
    assert page.locator(".controls").bounding_box()["height"] < 50  # one row
    # The lit line: of the operation forward, of backward() and the operation that sends back
    page.get_by_role("button", name="First (Home)").click()
    page.get_by_role("button", name="Step forward").click()
    expect(lit(page, "cm-now")).to_have_text("h = w * w")
    page.get_by_role("button", name="Last (End)").click()
    expect(lit(page, "cm-now")).to_have_text("loss.backward()")
    expect(lit(page, "cm-sender")).to_have_text("h = w * w")
    # Line and card point at each other
    page.locator(".cm-line", has_text="loss = h.sum()").hover()
    expect(page.locator(".card.pointed")).to_contain_text("loss = ")
    card.hover()
    expect(lit(page, "cm-pointed")).to_have_text("h = w * w")
    # The engine's own line
    page.get_by_role("tab", name="Engine: model.py").click()
    expect(page.locator(".engine [aria-current]:visible")).to_contain_text("self.grad += message")
    # While the text is not the one that ran, the picture is grey
    page.get_by_role("tab", name="Your program").click()
    page.locator(".cm-content").press("Control+End")
    page.keyboard.type("#")
    expect(page.locator(".player.outdated")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.locator(".player:not(.outdated)")).to_be_visible()
    # Kept over a reload, with nothing run again
    expect(page).to_have_url(re.compile("code="))
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("loss = h.sum()")
    expect(page.locator(".card")).to_have_count(0)
    expect(page.get_by_role("tab", name="Engine: model.py")).to_be_hidden()
    page.get_by_role("button", name="Run (Ctrl+Enter)").click()
    expect(card).to_be_visible()


def test_the_keys_are_the_player_s_after_a_run_from_the_keyboard_that_succeeds(open_page):
    page = open_page("graph-lab?kind=Your+program", width=1024, height=768)
    write(page, PROGRAM)  # its last line fails
    page.locator(".problem.failed").wait_for()
    page.locator(".player .card").first.wait_for()
    expect(page.locator(".cm-content")).to_be_focused()
    page.locator(".player [aria-current]").wait_for(state="attached")  # the source of the first program was drawn
    write(page, PROGRAM.rpartition("loss")[0].replace("w * w", "w + w * w"))
    expect(page.locator(".player")).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator(".player.present")).to_have_count(1)
    page.keyboard.press("c")
    expect(page.locator(".present .line", has_text="h = w + w * w")).to_be_visible()


def test_a_link_opens_the_program_in_another_browser(open_page, browser, app_url):
    page = open_page("graph-lab?kind=Your+program")
    page.wait_for_function("() => location.search.includes('code=')")
    before = page.url
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="A broadcast bias").click()
    expect(page.locator(".cm-content")).to_contain_text("bias = Tensor")
    page.wait_for_function("(before) => location.href !== before", arg=before)
    link = page.url
    with browser.new_context() as other:
        opened = other.new_page()
        opened.goto(link)
        expect(opened.locator(".cm-content")).to_contain_text("x @ w + bias")


def test_an_endless_loop_can_be_stopped(open_page):
    page = open_page("graph-lab?kind=Your+program")
    write(page, "import time\ntime.sleep(4)")
    page.locator(".program").get_by_role("button", name="Stop").click()
    expect(page.locator(".problem", has_text="Your code was stopped")).to_be_visible()


def test_a_long_error_is_shown_whole_and_its_code_as_code(open_page):
    page = open_page("graph-lab?kind=Your program")
    write(page, "raise ValueError('`x` is ' + 40 * 'not a number ')")
    problem = page.locator(".problem.failed")
    expect(problem.locator("code")).to_have_text("x")
    for size in ({"width": 1280, "height": 720}, {"width": 360, "height": 740}):
        page.set_viewport_size(size)
        settled(page)
        assert problem.evaluate("(one) => one.scrollHeight <= one.clientHeight"), size


def test_on_a_phone_a_run_brings_what_it_said_and_its_picture_into_the_window(open_page):
    page = open_page("graph-lab?kind=Your+program", width=360, height=740)
    for program, said in ((PROGRAM, "Line 7: RuntimeError"), (PROGRAM[: -len("loss.backward()\n")], "No step used")):
        write(page, program)
        told = page.locator(".st-key-program-told")
        expect(told.get_by_text(said.partition(":")[0])).to_be_in_viewport(ratio=1)
        expect(told.get_by_text("[2. 4.]")).to_be_in_viewport(ratio=1)
        settled(page)
        shown = (told, page.locator(".controls"), page.locator(".stage"), page.locator(".program"))
        tops = [one.evaluate("(one) => one.getBoundingClientRect().top") for one in shown]
        assert tops == sorted(tops)
        assert tops[2] < 640


def test_the_words_about_many_gradients_are_all_in_sight(open_page):
    page = open_page("graph-lab?kind=Your+program", height=720)
    loss = "loss = (net(Tensor([[0.3, 0.7]])) ** 2).sum()"
    write(page, f"from model import Tensor\nfrom nn import MLP\nnet = MLP([2, 3, 2])\n{loss}\nloss.backward()\n")
    page.get_by_role("button", name="Last (End)").click()
    expect(page.locator(".sentence")).to_contain_text("The backward pass is done")
    assert page.locator(".ledger").evaluate("(one) => one.scrollHeight <= one.clientHeight")


@pytest.mark.parametrize(("width", "height", "times", "room"), [(1440, 900, 40, 420), (1024, 768, 2, 300)])
def test_a_graph_reaches_down_and_its_program_is_as_high(open_page, width, height, times, room):
    page = open_page("graph-lab?kind=Your+program", width=width, height=height)
    write(page, f"from model import Tensor\nx = Tensor(1.0)\nfor _ in range({times}): x = x * 2\nx.backward()\n")
    page.locator(".card").first.wait_for()
    settled(page)
    expect(page.get_by_text("It printed nothing.")).to_be_in_viewport()
    bottoms = [
        page.locator(name).evaluate("(part) => part.getBoundingClientRect().bottom") for name in (".player", ".program")
    ]
    assert page.locator(".stage").bounding_box()["height"] >= room
    assert abs(bottoms[0] - bottoms[1]) < 2


def test_a_large_program_can_be_read_on_a_projector_with_its_lines_and_what_it_printed(open_page):
    page = open_page("graph-lab?kind=Your+program", width=1024, height=768)
    lines = ["from model import Tensor", "x = w = Tensor(0.5)", *20 * ["x = (x * w + w).tanh()"], "x.backward()"]
    write(page, "\n".join([*lines, "print(w.grad)"]))
    page.locator(".card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    scale = lambda: page.locator(".graph > g").evaluate("(one) => one.getCTM().a")  # noqa: E731
    page.keyboard.press("0")
    settled(page)
    assert look(page, font=18, drawn=18)["small"] == []
    fitted = scale()
    page.get_by_role("button", name="Zoom out").click()
    page.keyboard.press("-")
    expect(page.locator(".graph > g")).to_have_attribute("transform", re.compile(rf"scale\({fitted / 1.3**2:.2f}"))
    page.keyboard.press("+")
    page.get_by_role("button", name="Zoom in").click()
    page.keyboard.press("c")
    page.keyboard.press("ArrowRight")
    for part in (".card.to", "[aria-current]", ".line >> nth=-1", ".printed"):
        expect(page.locator(f".present {part}")).to_be_in_viewport()
