"""A learner's first minute, in a real browser."""

import colorsys
import json
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from lab.trace.dot import PALETTES
from model import Tensor
from tests.browser.conftest import prepared
from tests.layout import project
from tests.support import in_full, settled, switch, written

PRESETS = Path(__file__).parents[2] / "assets" / "presets.json"


def expected(**values):
    leaves = {name: Tensor(value) for name, value in values.items()}
    a, b, c, d = leaves.values()
    (((a * b) + c) * (a + d)).backward()
    return {name: float(leaf.grad) for name, leaf in leaves.items()}


def is_orange(css):
    """Does a colour such as "rgb(163, 67, 0)" have the hue of orange, and enough of it?"""
    red, green, blue = (float(part) / 255 for part in css.removeprefix("rgb(").rstrip(")").split(",")[:3])
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    return 15 <= 360 * hue <= 45 and saturation > 0.5


def in_the_player(page):
    """Leaf name -> its gradient, for the cards whose gradient the browser paints in orange."""
    cards = page.evaluate(
        """() => {
          const found = [];
          const visit = (root) => {
            for (const card of root.querySelectorAll("g.card")) {
              const text = card.querySelector("text.gradient");
              const name = card.querySelector("text.name").textContent;
              if (text) found.push([name, text.textContent, getComputedStyle(text).fill]);
            }
            for (const e of root.querySelectorAll("*")) if (e.shadowRoot) visit(e.shadowRoot);
          };
          visit(document);
          return found;
        }"""
    )
    return {name: number(text) for name, text, fill in cards if text not in ("", "–") and is_orange(fill)}


def number(text):
    return float(text.removeprefix("∂ ").replace("−", "-"))


def in_the_drawing(page):
    """As `in_the_player`, of the drawing that stands in for it."""
    nodes = page.locator("[data-testid=stGraphVizChart] g.node").evaluate_all(
        """(nodes) => nodes.map((node) => [...node.querySelectorAll("text")].map(
          (text) => [text.textContent, text.getAttribute("fill")]))"""
    )
    orange = PALETTES["light"]["gradient"]
    return {
        texts[0][0]: number(text.removeprefix("grad ")) for texts in nodes for text, fill in texts if fill == orange
    }


def press_both(page):
    page.get_by_role("button", name="Run forward pass", exact=True).click()
    page.locator(".scrubber").press("End")  # a run would halt at each sum


def places(page):
    """Where the cards are drawn, once they stay there for half a second, by the clock of the page."""
    settled(page)
    return page.evaluate(
        """() => new Promise((done) => {
          const player = [...document.querySelectorAll("*")].find((e) => e.shadowRoot?.querySelector(".player"));
          const look = () => [...player.shadowRoot.querySelectorAll("g.card")].map((e) => e.getAttribute("transform"));
          const again = (before) => setTimeout(() => requestAnimationFrame(() => {
            const now = look();
            now.length && String(now) === String(before) ? done(now) : again(now);
          }), 500);
          again(look());
        })"""
    )


def eventually(page, read, right):
    """Wait until the drawing has caught up, for up to a minute; the last reading is returned for the assertion."""
    for _ in range(600):
        found = read()
        if found.keys() == right.keys() and np.allclose(list(found.values()), list(right.values()), rtol=1e-3):
            return right
        page.wait_for_timeout(100)
    return found


@pytest.mark.flow
def test_both_buttons_then_orange_gradients(open_page):
    page = open_page("graph-lab", theme="dark")
    page.locator("g.card").first.wait_for()
    assert in_the_player(page) == {}
    press_both(page)
    right = expected(a=2, b=3, c=4, d=5)
    assert eventually(page, lambda: in_the_player(page), right) == right
    switch(page, "light")
    assert eventually(page, lambda: in_the_player(page), right) == right


def test_a_slider_moves_the_gradients(open_page):
    page = open_page("graph-lab?stage=backward")
    slider = page.locator('input[type=range][aria-label="a"]')
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    expect(slider).to_have_value("2.5")
    right = expected(a=2.5, b=3, c=4, d=5)
    assert eventually(page, lambda: in_the_player(page), right) == right
    page.wait_for_url("**in_a=2.5**")


def test_a_label_cannot_become_markup(open_page):
    page = open_page("graph-lab?expression=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    page.get_by_role("alert").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.flow
def test_without_the_player_a_drawing_stands_in(tab, app_url):
    page = tab()
    page.route("**/static/player/**", lambda route: route.abort())
    page.goto(f"{app_url}/{in_full('graph-lab?stage=backward')}")
    page.get_by_text("The player could not be loaded").wait_for()
    right = expected(a=2, b=3, c=4, d=5)
    assert eventually(page, lambda: in_the_drawing(page), right) == right


@pytest.mark.flow
def test_no_request_leaves_the_machine(browser, app_url):
    page = prepared(browser.new_page())  # in a context of its own, where nothing is cached
    asked = []
    page.on("request", lambda request: asked.append(urlsplit(request.url)))
    page.on("websocket", lambda socket: asked.append(urlsplit(socket.url)))
    page.goto(f"{app_url}/graph-lab")
    page.locator("g.card").first.wait_for()
    press_both(page)
    page.close()
    player = "/app/static/player"
    seen = {url.path for url in asked}
    assert {
        "/graph-lab",
        "/_stcore/stream",
        f"{player}/player.js",
        f"{player}/player.css",
        f"{player}/worker.js",
    } <= seen
    assert {url.hostname for url in asked if url.scheme not in ("blob", "data")} == {"127.0.0.1"}


def outside(page, *parts):
    """What is not wholly in the window, or is covered by something else, at the top of the page."""
    return page.evaluate(
        """(parts) => {
          const player = [...document.querySelectorAll("*")].find((e) => e.shadowRoot?.querySelector(".player"));
          const root = player.shadowRoot;
          return parts.filter((part) => {
            const box = root.querySelector(part)?.getBoundingClientRect();
            if (!box || box.width < 2 || box.height < 2) return true;
            if (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight) return true;
            const found = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return !root.contains(found);
          });
        }""",
        list(parts),
    )


ALWAYS = (".run", ".scrubber", ".present-button", ".ledger", ".sentence", ".stage", ".tab-list", ".inputs")


def test_action_result_and_reason_are_in_the_window_together(open_page):
    page = open_page("graph-lab", reduced_motion="reduce")
    page.locator("g.card").first.wait_for()

    def windows():
        for width, height, theme in ((1280, 720, "dark"), (1024, 768, "light")):
            page.set_viewport_size({"width": width, "height": height})
            switch(page, theme)
            yield width

    def covered(*parts):
        """What is not seen of them, in one window or the other."""
        return [(width, part) for width in windows() for part in outside(page, *ALWAYS, *parts)]

    assert covered(".card.output") == []
    page.get_by_role("button", name="Run forward pass").click()
    page.locator(".sentence", has_text="out = v2 * v3: 10 * 7 gives 70.").wait_for()
    assert covered(".card.output", ".source [aria-current]") == []
    page.locator(".scrubber").press("End")
    page.locator(".sentence", has_text="a 31, b 14, c 7, d 10").wait_for()
    assert covered(".card.leaf .chip", ".source [aria-current]") == []
    page.locator('.card[data-node="0"]').click()
    page.locator(".derivation .result", has_text="31").wait_for()
    assert covered(".derivation .lines", ".derivation .result") == []
    for width in windows():
        page.locator(".scrubber").press("End")
        for event in range(21, -1, -1):  # the ledger says all of each event, and the lit line is whole
            cut = page.locator(".ledger").evaluate(
                "(e) => [e, ...e.querySelectorAll('.equation')].some((part) => part.scrollHeight > part.clientHeight + 1)"
            )
            assert not cut, (width, event)
            assert page.locator(".sentence").inner_text()
            page.locator(".scrubber").press("ArrowLeft")
        assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollTop") == 0


@pytest.mark.flow
def test_presenting(open_page):
    page = open_page("graph-lab", width=1024, height=768, reduced_motion="reduce")
    page.locator("g.card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    settled(page)
    before = page.locator(".ledger .sentence").evaluate("(e) => e.getBoundingClientRect().height")
    assert before >= 20 * 1.25
    for x, y in ((2, 2), (1020, 2), (2, 764), (1020, 764)):  # nothing of the page around it is left
        assert page.evaluate("([x, y]) => Boolean(document.elementFromPoint(x, y).shadowRoot)", [x, y])
    assert not page.locator(".runs").is_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    phase = page.locator(".phase")
    expect(phase).to_contain_text("event 2 of 21")
    page.keyboard.press("PageDown")  # a presenter's clicker
    expect(phase).to_contain_text("event 3 of 21")
    page.keyboard.press("PageUp")
    expect(phase).to_contain_text("event 2 of 21")
    page.get_by_role("button", name="Step forward").click()
    expect(phase).to_contain_text("event 3 of 21")
    codes = page.locator(".codes")
    assert codes.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    page.keyboard.press("n")
    expect(phase).to_contain_text("event 0 of 20")
    page.keyboard.press("Shift+PageUp")
    expect(phase).to_contain_text("event 3 of 21")  # where it was left
    page.keyboard.press("p")
    expect(phase).to_contain_text("event 0 of 14")
    page.locator(".player").evaluate(  # twice, before the server can have answered
        """(player) => {
          for (let i = 0; i < 2; i += 1) player.dispatchEvent(new KeyboardEvent("keydown", { key: "n" }));
        }"""
    )
    expect(phase).to_contain_text("event 0 of 20")
    page.keyboard.press("p")
    page.keyboard.press("p")
    expect(phase).to_contain_text("event 0 of 14")
    page.keyboard.press("End")
    page.locator(".sentence", has_text="The backward pass is done").wait_for()
    page.keyboard.press("f")
    page.locator(".player.present").wait_for(state="detached")
    expect(page.locator(".player")).to_be_focused()
    assert page.locator(".controls").is_visible()
    expect(page.get_by_role("textbox", name="Expression")).to_have_value("(a*b + c).relu()")


def test_an_input_can_be_moved_in_either_direction(open_page):
    """Forward mode takes the choice of an engine off the page; what moves then is a part that runs by itself."""
    page = open_page("graph-lab?stage=backward")
    page.locator("g.card").first.wait_for()
    value = page.get_by_label("a", exact=True).first
    for direction, expected in (("Forward mode", "2.1"), ("Reverse", "2.2"), ("Forward mode", "2.3")):
        page.get_by_role("radio", name=direction).click()
        expect(page.get_by_role("radio", name=direction)).to_be_checked()
        settled(page)
        value.press("ArrowRight")
        expect(page).to_have_url(re.compile(rf"in_a={expected}&"))
        expect(page.get_by_role("radio", name=direction)).to_be_checked()
        expect(page.locator("[data-testid=stException]")).to_have_count(0)


PRESENTED = """() => {
  const player = [...document.querySelectorAll("*")].find((e) => e.shadowRoot?.querySelector(".player"));
  const root = player.shadowRoot;
  const drawn = [...root.querySelectorAll(".graph :is(.value, .gradient, .cell-number)")].filter((e) => e.textContent);
  const size = (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
  return {
    smallest: Math.min(...drawn.map(size)),
    cell: Math.min(...[...root.querySelectorAll(".cell")].map((cell) => cell.getBoundingClientRect().height)),
    card: Math.max(...[...root.querySelectorAll(".card .box")].map((card) => card.getBoundingClientRect().height)),
    stage: root.querySelector(".stage").clientHeight,
  };
}"""


def test_a_presented_warning_has_text_of_18_pixels(open_page):
    page = open_page("graph-lab?expression=x/x&in_x=0&stage=backward", width=1024, height=768)
    page.locator("g.card").first.wait_for()
    project(page)
    warnings = page.locator(".player.present .remarks p")
    expect(warnings.first).to_contain_text("0 / 0")
    assert set(warnings.evaluate_all("(all) => all.map((one) => getComputedStyle(one).fontSize)")) == {"18px"}


def test_presented_arrays_have_large_digits_and_the_event_is_in_sight(open_page):
    path = "graph-lab?expression=h%20=%20relu(X%20@%20W%20%2B%20b)%0Asum(h**2)&in_X=[[1,2],[3,4],[5,6],[7,8]]&in_W=[[1,0],[0,1]]&in_b=[1,1]"
    page = open_page(f"{path}&stage=backward", width=1024, height=768, reduced_motion="reduce")
    page.locator("g.card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    page.wait_for_function(f"() => ({PRESENTED})().cell >= 40")  # drawn anew, with larger cells
    settled(page)
    for _ in range(6):
        seen = page.evaluate(PRESENTED)
        assert seen["smallest"] >= 18
        assert seen["cell"] >= 40
        assert seen["card"] <= seen["stage"]
        expect(page.locator(".card.to")).to_have_count(1)  # cards out of sight follow once the events rest
        stage, card = page.locator(".stage").bounding_box(), page.locator(".card.to").bounding_box()
        middle = card["x"] + card["width"] / 2, card["y"] + card["height"] / 2
        assert stage["x"] < middle[0] < stage["x"] + stage["width"]
        assert stage["y"] < middle[1] < stage["y"] + stage["height"]
        page.keyboard.press("PageUp")
        settled(page)


def test_the_drawing_follows_the_window_and_present_mode(open_page):
    page = open_page("graph-lab?stage=backward", width=1280, height=720, reduced_motion="reduce")
    page.locator("g.card").first.wait_for()
    wide = places(page)
    page.set_viewport_size({"width": 700, "height": 1000})
    settled(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    assert places(page) == wide


def test_the_address_follows_the_event(open_page):
    page = open_page("graph-lab", reduced_motion="reduce")
    page.locator("g.card").first.wait_for()
    page.locator(".scrubber").press("End")
    page.wait_for_url(lambda url: url.endswith("graph-stage=backward"))
    page.locator(".scrubber").press("ArrowLeft")
    page.wait_for_url(lambda url: "stage=backward" in url and "event=20" in url)
    page.get_by_role("button", name="Run forward pass").click()
    page.wait_for_url(lambda url: url.endswith("graph-stage=forward"))
    page.get_by_role("button", name="First (Home)").click()
    page.wait_for_url(lambda url: "stage" not in url and "event" not in url)


@pytest.mark.flow
def test_a_run_takes_what_is_typed_and_enter_applies_it(open_page):
    page = open_page("graph-lab", reduced_motion="reduce")
    page.locator(".card").first.wait_for()
    settled(page)
    page.get_by_role("tab", name="Source").press("ArrowRight")
    expect(page.get_by_role("tab", name="Derivation")).to_be_focused()
    expect(page.locator(".count")).to_have_text(re.compile("^0 / "))
    field = page.get_by_role("textbox", name="Expression")
    field.fill("p * q + r")
    page.get_by_role("button", name="Run forward pass").click()  # what was typed has not been applied yet
    expect(page.locator(".sentence")).to_contain_text("6 + 4 gives 10.")
    field.click()
    field.fill("q = p * p")
    field.press("Shift+Enter")
    assert field.input_value() == "q = p * p\n"
    field.press_sequentially("p + q")
    field.press("Enter")
    expect(page.locator(".card.output .name")).to_have_text("out = p + q")
    field.fill("p * ")
    field.press("Enter")
    expect(page.locator(".player.outdated")).to_be_visible()
    page.get_by_role("button", name="Run forward pass").click()
    expect(page.locator(".count")).to_have_text(re.compile("^0 / "))


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("engine", "marked"),
    [("= for +=", "10 + 21 = 31"), ("any order", "13 × 3 = 39"), ("no sum", "[1, 0] + [1, 1] = [2, 1]")],
)
def test_a_wrong_rule_is_shown_to_a_class_in_five_touches_from_start(open_page, engine, marked):
    page = open_page("", width=1024, height=768)
    page.locator(".card").first.wait_for()
    page.get_by_role("link", name="Next: an input that is used twice").click()
    page.get_by_role("heading", name="Graph lab").wait_for()
    page.locator(".card").nth(7).wait_for()
    settled(page)
    page.keyboard.press("f")
    page.locator(".player.present").wait_for()
    bar = page.locator(".bar")
    bar.get_by_role("button", name=engine).click()
    expect(bar.get_by_role("button", name=engine)).to_have_attribute("aria-pressed", "true")
    if engine != "= for +=":
        page.locator(".player.present").get_by_role("button", name="show one that differs").click()
    expect(page.locator(".equation .right b")).to_have_text(marked)
    settled(page)
    assert page.locator(".drawing").first.bounding_box()["height"] >= 0.6 * 768
    small = page.locator(".player").evaluate(
        """(player) => [...player.querySelectorAll("*")].filter((one) => one.checkVisibility()
            && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
            && !one.closest(".for-readers")).map((one) => {
          const scale = one instanceof SVGElement ? one.getScreenCTM().a : 1;
          return [parseFloat(getComputedStyle(one).fontSize) * scale, one.textContent];
        }).filter(([size]) => size < 17.95)"""
    )
    assert small == []


@pytest.mark.flow
def test_gradients_are_predicted_before_they_are_shown(open_page):
    page = open_page("graph-lab?stage=forward", width=360)
    page.get_by_role("button", name="Predict", exact=True).click()
    question, answer = page.locator(".predict label"), page.locator("#prediction")
    note, step = page.locator(".ledger .note"), page.get_by_role("button", name="Step forward")
    page.get_by_role("button", name="Run backward pass").click()
    for said in ("7", "10"):
        expect(question).to_be_visible()
        answer.fill(said)
        answer.press("Enter")
        expect(note).to_contain_text("✓ As you predicted.")
        step.click()
    expect(question).to_have_text("Next, v3 sends a message to a. What is the gradient of a after it?")
    assert in_the_player(page) == {}  # the graph does not tell
    answer.fill("ten")
    answer.press("Enter")
    expect(page.locator(".predict .unread")).to_contain_text("Write a number")
    while question.text_content().count("v1 sends a message to a") == 0:
        page.get_by_role("button", name="Show it").click()
        step.click()
    for box in (page.locator(".ledger"), page.locator(".predict button").last):
        place = box.bounding_box()
        assert place["x"] + place["width"] <= 360
    answer.fill("21")
    answer.press("Enter")
    expect(note).to_contain_text("you overwrite instead of adding")
    last = {"a": 31.0}
    assert eventually(page, lambda: {"a": in_the_player(page)["a"]}, last) == last
    page.get_by_role("button", name="Predict", exact=True).click()
    step.click()
    expect(question).to_be_hidden()


def test_the_engine_is_switched_and_the_first_difference_is_marked(open_page):
    page = open_page("graph-lab", width=1024, height=768)
    page.locator(".card").first.wait_for()
    page.get_by_role("radio", name="= for +=").click()
    expect(page.locator(".equation b")).to_have_text(["21", "10 + 21 = 31"])
    expect(page.locator(".card.departs .name")).to_have_text("✗ a")
    expect(page.locator(".right-line")).to_have_text("✓ right engine: self.grad += message")
    expect(page.locator(".phases .departs")).to_be_visible()
    written(page)
    page.reload()
    expect(page.locator(".count")).to_have_text("19 / 21")
    expect(page.locator(".card.departs .name")).to_have_text("✗ a")
    page.locator(".scrubber").press("End")  # a wrong gradient stays marked
    expect(page.locator(".card.wrong .due")).to_have_text(["✗ right: 31"])
    expect(page.locator(".sentence")).to_contain_text("a 21 (right: 31), b 14")
    page.get_by_role("button", name="Side by side").click()
    cards = page.locator(".stage").nth(1).locator(".card[data-node='0'] .gradient")
    expect(cards).to_have_text("31")
    page.locator(".scrubber").press("Home")
    expect(cards).to_have_text("–")
    page.get_by_role("radio", name="any order").click()
    page.get_by_role("button", name="show one that differs").press("Enter")
    expect(page.locator(".player")).to_be_focused()  # the button is gone
    expect(page.locator(".ledger .note")).to_contain_text("t sends too early: 1 of its 2 messages have arrived")
    page.get_by_role("button", name="First (Home)").click()
    page.get_by_role("radio", name="The lab’s").click()
    expect(page.locator(".card.departs")).to_have_count(0)
    expect(page.locator(".phases .departs")).to_be_hidden()
    expect(page.locator(".count")).to_have_text(re.compile("^0 / "))  # nothing to go to: the learner stays


def test_tangents_travel_with_the_arrows_and_come_to_the_gradient(open_page):
    page = open_page("graph-lab?stage=backward", width=1024, height=768)
    page.locator(".card").first.wait_for()
    expect(page.locator(".ledger .sentence")).to_contain_text("a 31")
    page.get_by_role("radio", name="Forward mode").click()
    expect(page.get_by_role("button", name="Send tangents")).to_be_visible()
    expect(page.locator(".card[data-node='0'] .word").nth(1)).to_have_text("∂/∂a")
    page.get_by_role("button", name="Step forward (right arrow)").click()
    expect(page.locator(".ledger .sentence")).to_contain_text("starts at a: its tangent is 1")
    page.get_by_role("button", name="Step forward (right arrow)").click()
    expect(page.locator(".ledger .sentence")).to_contain_text("a sends 1 times b = 3 to v1: 3.")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".ledger .sentence")).to_contain_text("The tangent of out is 31")
    expect(page.locator(".ledger .sentence")).to_contain_text("For all 4 inputs it takes 4 such passes")
    written(page)
    page.reload()
    expect(page.locator(".ledger .sentence")).to_contain_text("The tangent of out is 31")
    page.get_by_role("radio", name="Reverse").click()
    expect(page.get_by_role("button", name="Run backward pass")).to_be_visible()


def test_the_sign_on_small_cards_is_explained_for_the_mode_that_is_shown(open_page):
    page = open_page("graph-lab?expression=tanh(a*b)%2Bsin(a)*exp(b)%2Ba*c*d", width=1280, height=720)
    signs = page.locator(".legend span").first
    expect(signs).to_have_text("= value, ∂ gradient of the result. ")
    page.get_by_role("radio", name="Forward mode").click()
    expect(signs).to_have_text("= value, ∂ tangent: the derivative by a. ")


def test_no_button_moves_when_an_engine_makes_no_difference_and_the_graph_keeps_its_height(open_page):
    page = open_page("graph-lab", width=1024, height=768)
    page.locator(".stage .card").first.wait_for()
    project(page)
    buttons = page.locator(".player.present .bar button")
    expect(buttons).to_have_count(6)
    before = [button.bounding_box() for button in buttons.all()]
    page.locator(".bar").get_by_role("button", name="any order").click()
    expect(page.locator(".present").get_by_role("button", name="Same here")).to_be_in_viewport(ratio=1)
    assert [button.bounding_box() for button in buttons.all()] == before
    assert page.locator(".stage").bounding_box()["height"] >= 0.6 * 768


BESIDE = {  # engine -> expression and inputs, what the heads say at the first difference, whether all is whole
    "overwrites": ({}, ["self.grad = message", "self.grad += message"], True),
    "any-order": (
        {"expression": "t = a*b\nt * (t + c)"},
        ["Sending: t (1 of 2 messages). Still to send: v1.", "Sending: v1. Still to send: t (1 of 2 messages)."],
        True,
    ),
    "forgets-the-sum": (
        {"expression": "(M + row).relu().sum()", "in_M": "[[1,-2],[3,0.5]]", "in_row": "[0.5,1]"},
        ["self.grad = message", "summed = _sum(message, tuple(repeated))"],
        False,
    ),
}


@pytest.mark.parametrize("size", [(1024, 768), (1280, 720)])
@pytest.mark.parametrize("engine", BESIDE)
def test_both_engines_show_the_same_cards_and_their_lines_on_a_projector(open_page, size, engine):
    program, lines, whole = BESIDE[engine]
    path = f"graph-lab?{urlencode({'engine': engine, 'stage': 'backward', **program})}"
    page = open_page(path, width=size[0], height=size[1], reduced_motion="reduce")
    page.locator(".stage .card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    settled(page)
    for _ in range(100):  # alone it is always whole, once it is drawn for this window
        if not page.locator(".graph").evaluate_all(CUT):
            break
        page.wait_for_timeout(100)
    assert page.locator(".graph").evaluate_all(CUT) == []
    page.get_by_role("button", name="Side by side").click()
    expect(page.locator(".player.present .graph")).to_have_count(2)
    settled(page)
    marked = page.locator(".ledger .note", has_text="The first event that differs")
    for _ in range(30):
        if marked.count():
            break
        page.keyboard.press("ArrowLeft")
    expect(marked).to_be_visible()
    said = page.locator(".stage-head :is(code, .pending):visible:not(:empty)")
    expect(said).to_have_text(lines)
    for one in said.all():
        expect(one).to_have_css("font-size", "18px")
        assert one.evaluate("(one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight")
    page.locator(".stage").nth(1).locator(".card").first.wait_for()
    graphs, which = page.locator(".player .graph"), "" if whole else ":is(.to, .from)"
    scenes = page.locator(".player .graph > g")
    for key in ("ArrowLeft", "ArrowRight", "End", "Home", *["ArrowRight"] * 9):
        page.keyboard.press(key)
        for _ in range(100):  # a drawing follows once the events rest
            cut, seen = graphs.evaluate_all(CUT, which), scenes.evaluate_all(TRANSFORMS)
            if not cut and seen == seen[:1] * 2:
                break
            page.wait_for_timeout(100)
        assert cut == [], key
        assert seen == seen[:1] * 2, key
        assert page.locator(".player .card text:visible").evaluate_all(SMALLEST) >= 17.95
        goes_on = page.locator('.graph:not([data-cut=""])').count()
        assert goes_on == (0 if whole else 2)
    for _ in range(6):
        page.keyboard.press("-")
    for card in page.locator(".player .card .box").all():
        expect(card).to_be_in_viewport(ratio=0.99)


# Cards, all or those of the event, that are not in sight as a whole; and the size of the smallest of some drawn texts.
CUT = """(graphs, which = "") => graphs.flatMap((graph) => {
  const frame = graph.getBoundingClientRect();
  return [...graph.querySelectorAll(`.card${which} .box`)].filter((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect();
    return left < frame.left || top < frame.top || right > frame.right || bottom > frame.bottom;
  }).map((card) => card.parentElement.textContent);
})"""
TRANSFORMS = "(all) => all.map((one) => one.getAttribute('transform'))"
SMALLEST = """(all) => Math.min(...all.filter((text) => text.textContent.trim())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


@pytest.mark.flow
def test_after_a_click_in_the_presentation_the_keys_are_the_players(open_page):
    page = open_page("graph-lab?stage=backward&engine=overwrites&event=19", width=1024, height=768)
    page.locator(".stage .card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    for name in ("= for +=", "Side by side", "Fit", "Step back (left arrow)"):
        page.locator(".player").get_by_role("button", name=name).click()
        expect(page.locator(".player")).to_be_focused()
        settled(page)  # an engine's pass has come
        page.keyboard.press("Home")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Pause (space)").wait_for()
        page.keyboard.press(" ")
        page.get_by_role("button", name="Play (space)").wait_for()
    other = page.locator(".bar").get_by_role("button", name="The lab’s")
    other.press("Enter")  # who goes by keyboard stays there
    expect(other).to_have_attribute("aria-pressed", "true")
    expect(other).to_be_focused()


# Whether the card that an event comes from, and that it goes to, are cut, and the size of the smallest text on a card.
FOLLOWED = """(graph) => {
  const frame = graph.getBoundingClientRect();
  const [from, to] = [".from", ".to"].map((end) => [...graph.querySelectorAll(`.card${end} .box`)].some((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect();
    return left < frame.left || top < frame.top || right > frame.right || bottom > frame.bottom;
  }));
  const texts = [...graph.querySelectorAll(".card text")].filter((text) => text.textContent.trim());
  const sizes = texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
  return { from, to, smallest: Math.round(Math.min(...sizes)) };
}"""


@pytest.mark.parametrize(
    ("key", "far"),  # events whose two cards are too far apart for text of 18 pixels
    [("time", {18, 19, 20, 21, 28, 29, 30, 31}), ("recurrence", {19, 20}), ("layer_norm", {27, 28})],
)
def test_the_cards_of_each_presented_event_are_in_sight_and_can_be_read(open_page, key, far):
    text = next(preset["text"] for preset in json.loads(PRESETS.read_text("utf-8")) if preset["key"] == key)
    page = open_page(f"graph-lab?{urlencode({'expression': text})}", width=1024, height=768, reduced_motion="reduce")
    page.locator(".stage .card").first.wait_for()
    project(page)
    page.locator(".player.present").wait_for()
    settled(page)
    for event in range(int(page.locator(".scrubber").get_attribute("max")) + 1):
        found = page.locator(".graph").evaluate(FOLLOWED)
        assert found == {"from": event in far, "to": False, "smallest": 18}, event
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(("width", "height", "projected"), [(360, 740, False), (1024, 768, False), (1024, 768, True)])
@pytest.mark.parametrize("engine", ["overwrites", "any-order"])
def test_two_drawings_beside_each_other_are_alike_and_nothing_lies_on_their_words(
    open_page, width, height, projected, engine
):
    query = urlencode({"engine": engine, "expression": "t = a*b\nt * (t + c)", "stage": "backward"})
    page = open_page(f"graph-lab?{query}", width=width, height=height)
    page.locator(".stage .card").first.wait_for()
    page.get_by_role("button", name="Side by side").click()
    page.locator(".stage").nth(1).locator(".card").first.wait_for()
    if projected:
        project(page)
        page.locator(".player.present").wait_for()
    settled(page)
    places = "(graph) => [...graph.querySelectorAll('.card')].map((card) => card.getAttribute('transform'))"
    left, right = (graph.evaluate(places) for graph in page.locator(".graph").all())
    assert left == right
    expect(page.locator(".engine-name span")).to_have_text([re.compile("^✗ .+"), "✓ the right engine"])
    for part in page.locator(".tools button:visible, .stage-head p:visible").all():
        part.scroll_into_view_if_needed()
        assert part.evaluate(
            """(one) => {
              const { left, right, top, bottom } = one.getBoundingClientRect();
              const there = one.getRootNode().elementFromPoint((left + right) / 2, (top + bottom) / 2);
              return one.contains(there) && left >= 0 && right <= innerWidth && bottom - top < 60; // two lines
            }"""
        )


@pytest.mark.parametrize("key", ["shared", "mlp", "attention", "convolution"])
def test_a_message_touches_no_card_and_no_room_stays_empty_beside_a_graph_that_is_cut(open_page, key):
    text = next(preset["text"] for preset in json.loads(PRESETS.read_text("utf-8")) if preset["key"] == key)
    page = open_page(f"graph-lab?{urlencode({'expression': text})}", height=720, reduced_motion="reduce")
    page.locator(".stage .card").first.wait_for()
    settled(page)
    touched, empty = page.locator(".player").evaluate(
        """async (player) => {
          const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const scrubber = player.querySelector(".scrubber");
          const box = (selector) => player.querySelector(selector).getBoundingClientRect();
          const [touched, empty] = [[], []];
          for (let k = 0; k <= Number(scrubber.max); k += 1) {
            scrubber.value = k;
            scrubber.dispatchEvent(new Event("input"));
            await frames();
            const cards = [...player.querySelectorAll(".card .box")].map((card) => card.getBoundingClientRect());
            const [stage, drawn] = [box(".graph"), box(".graph > g")];
            const [left, right] = [drawn.left - stage.left, stage.right - drawn.right];
            if ((left > 16 && right < 0) || (left < 0 && right > 16)) empty.push([k, left, right]);
            const pill = player.querySelector(".pill");
            if (pill.getAttribute("visibility") !== "visible") continue;
            const one = pill.getBoundingClientRect();
            const meets = (other) => one.right > other.left && one.left < other.right
              && one.bottom > other.top && one.top < other.bottom;
            if (cards.some(meets)) touched.push([k, pill.textContent]);
          }
          return [touched, empty];
        }"""
    )
    assert touched == []
    assert empty == []


@pytest.mark.parametrize(
    ("key", "width", "height", "presented"),
    [
        *((key, 1024, 768, True) for key in ("shared", "neuron", "layer_norm", "attention")),
        *(("layer_norm", 1280, 720, False), ("mlp", 1024, 768, False), ("attention", 1024, 768, False)),
        ("broadcast", 360, 740, False),
    ],
)
def test_all_that_is_told_of_an_event_is_in_the_window_and_moves_no_picture(open_page, key, width, height, presented):
    text = next(preset["text"] for preset in json.loads(PRESETS.read_text("utf-8")) if preset["key"] == key)
    page = open_page(f"graph-lab?{urlencode({'expression': text, 'stage': 'backward'})}", width=width, height=height)
    page.locator(".stage .card").first.wait_for()
    settled(page)
    if presented:
        page.get_by_role("button", name="Present").click()
        page.locator(".player.present").wait_for()
    places = page.locator(".player").evaluate(
        """(player, presented) => {
          const [scrubber, codes, stage, equation, ledger] = [".scrubber", ".codes", ".stage", ".equation", ".ledger"]
            .map((name) => player.querySelector(name));
          const lines = () => [...codes.querySelectorAll(".line")].filter((line) => line.checkVisibility({
            visibilityProperty: true }));
          return Array.from({ length: Number(scrubber.max) + 1 }, (_, k) => {
            scrubber.value = k;
            scrubber.dispatchEvent(new Event("input"));
            const [frame, boxes] = [codes.getBoundingClientRect(), lines().map((line) => line.getBoundingClientRect())];
            const top = boxes[0]?.top ?? frame.top; // of lines that have room as a whole, all are seen
            const above = presented && top < frame.top - 1 && boxes.at(-1).bottom - top <= frame.height;
            const cut = (presented ? [ledger, equation] : [equation]).some((one) =>
              one.scrollHeight > one.clientHeight + 2);
            return [above || cut, stage.offsetTop, stage.clientHeight].join();
          });
        }""",
        presented,
    )
    assert places[0].startswith("false")
    assert [k for k, place in enumerate(places) if place != places[0]] == []


def test_the_order_of_sending_covers_no_card_and_is_absent_in_forward_mode(open_page):
    page = open_page(
        "graph-lab?expression=(M+%2B+row).relu().sum()&in_M=[[1,-2],[3,0.5]]&in_row=[0.5,1]&engine=forgets-the-sum&stage=backward",
        width=1280,
        height=720,
    )
    page.get_by_role("button", name="Order", exact=True).click()
    expect(page.locator(".pending")).to_have_text("All have sent.")
    settled(page)
    top = min(card.bounding_box()["y"] for card in page.locator("g.card").all())
    said = page.locator(".pending").bounding_box()
    assert said["y"] + said["height"] <= top
    page.get_by_role("radio", name="Forward mode").click()
    expect(page.get_by_role("button", name="Send tangents")).to_be_visible()
    expect(page.locator(".rank:visible")).to_have_count(0)
