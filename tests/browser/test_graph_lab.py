"""A learner's first minute, in a real browser."""

import numpy as np
import pytest

from lab.dot import PALETTES
from model import Tensor


def expected(**values):
    leaves = {name: Tensor(value) for name, value in values.items()}
    a, b, c, d = leaves.values()
    (((a * b) + c) * (a + d)).backward()
    return {name: float(leaf.grad) for name, leaf in leaves.items()}


def orange_gradients(page, theme="light"):
    """Leaf name -> the number that stands in orange in its box, as the browser drew it."""
    colour = PALETTES[theme]["gradient"]
    found = {}
    for node in page.locator("[data-testid=stGraphVizChart] g.node").all():
        texts = node.locator("text")
        for text in texts.all():
            if text.get_attribute("fill") == colour:
                found[texts.first.text_content()] = float(text.text_content().removeprefix("grad "))
    return found


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def press_both(page):
    press(page, "Run forward pass")
    page.get_by_role("button", name="Run backward pass", exact=True).and_(page.locator(":enabled")).click()
    page.get_by_text("Gradients of the inputs, checked numerically").wait_for()


def eventually(page, read, expected, seconds=15):
    """Wait until the drawing has caught up; the last reading is returned for the assertion."""
    for _ in range(10 * seconds):
        found = read()
        if found.keys() == expected.keys() and np.allclose(list(found.values()), list(expected.values()), rtol=1e-3):
            break
        page.wait_for_timeout(100)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_buttons_then_orange_gradients(open_page, theme):
    page = open_page(theme=theme)
    assert orange_gradients(page, theme) == {}
    press_both(page)
    right = expected(a=2, b=3, c=4, d=5)
    assert eventually(page, lambda: orange_gradients(page, theme), right) == right


def test_a_slider_moves_the_gradients(open_page):
    page = open_page()
    press_both(page)
    handle = page.locator('input[type=range][aria-label="a"]')
    handle.focus()
    for _ in range(5):
        handle.press("ArrowRight")
    right = expected(a=2.5, b=3, c=4, d=5)
    assert eventually(page, lambda: orange_gradients(page), right) == right
    assert "in_a=2.5" in page.url


def test_a_link_reproduces_the_picture(open_page):
    page = open_page("?expression=((a*b)%2Bc)*(a%2Bd)&in_a=1&in_b=2&in_c=3&in_d=4&stage=backward")
    right = expected(a=1, b=2, c=3, d=4)
    assert eventually(page, lambda: orange_gradients(page), right) == right


def test_a_label_cannot_become_markup(open_page):
    page = open_page("?expression=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    page.get_by_role("alert").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


def test_nothing_is_cut_off_on_a_phone(open_page):
    page = open_page(width=360)
    press_both(page)
    overflow = page.evaluate(
        "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"
    )
    assert overflow <= 0


def test_no_request_leaves_the_machine(browser, app_url):
    page = browser.new_page()
    hosts = set()
    page.on(
        "request", lambda request: hosts.add(request.url.split("/")[2].split(":")[0] if "//" in request.url else "")
    )
    page.goto(app_url)
    page.get_by_role("heading", level=1).wait_for()
    press_both(page)
    page.close()
    assert hosts <= {"127.0.0.1", ""}
