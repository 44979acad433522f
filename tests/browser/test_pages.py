"""One flow of each page that needs no file of its own: what a visitor presses there, and what comes of it."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import in_full, settled, written

# ---------------------------------------------------------------- broadcasting


@pytest.mark.flow
def test_cells_light_each_other_by_pointer_and_keyboard(open_page, app_url):
    page = open_page("shapes")
    words = page.locator(".words")
    upstream = page.locator("figure[data-grid=upstream] button")
    bias = page.locator("figure[data-grid='gradient of b'] button")
    expect(words).to_contain_text("1 + 4 + 7 = 12")  # what is pointed at first
    bias.nth(2).hover()
    expect(words).to_contain_text("3 + 6 + 9 = 18")
    assert [i for i in range(9) if "lit" in (upstream.nth(i).get_attribute("class") or "")] == [2, 5, 8]
    page.get_by_role("heading", level=1).hover()
    expect(words).to_contain_text("1 + 4 + 7 = 12")  # back to the cell that was chosen

    bias.nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(bias.nth(1)).to_be_focused()
    expect(words).to_contain_text("2 + 5 + 8 = 15")
    page.keyboard.press("End")
    expect(bias.nth(2)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(bias.nth(2)).to_be_focused()  # one stop for each array, at the cell that was chosen

    guessed = "tab=forgotten&guess=wrong numbers, never an error"
    for query in ("a=2,3,1&b=4&op=a × b", guessed, "tab=matmul&n=4&k=4&m=4"):
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(f"{app_url}/{in_full(f'shapes?{query}')}")
        page.locator(".words").wait_for()
        settled(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("element => element.scrollWidth <= element.clientWidth")
        if "op" in query:
            parts = (".sign:text('Forward')", "[data-grid=result]", ".sign:text('Backward')", "[data-grid^=gradient]")
            tops = [page.locator(f".grids {part}").first.bounding_box()["y"] for part in parts]
            assert tops == sorted(tops), "a heading does not stand above its own arrays"
        last = page.locator("figure button").last
        last.click()  # as a finger does
        expect(last).to_have_class("pointed")


def test_a_matrix_product_fills_the_window_and_stays_in_it(open_page):
    for sizes in ("", "&n=4&k=4&m=4"):
        page = open_page(f"shapes?tab=matmul{sizes}", width=1280, height=720)
        page.locator("figure button").first.wait_for()
        settled(page)
        picture = page.locator(".grids").bounding_box()
        boxes = [box.bounding_box() for box in page.locator("figure button").all()]
        assert max(box["x"] + box["width"] for box in boxes) - picture["x"] > 0.6 * picture["width"]
        assert max(box["y"] + box["height"] for box in boxes) <= 720


# ---------------------------------------------------------------- gradient check


@pytest.mark.flow
def test_the_step_is_pulled_down_and_is_in_the_address_afterwards(open_page):
    page = open_page("gradient-check")
    sentence, slider = page.locator("strong").first, page.get_by_role("slider", name="Step h")
    expect(sentence).to_contain_text("h = 1 is too large")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(sentence).to_contain_text("h = 1e−5 is a good step")
    expect(slider).to_be_focused()
    page.get_by_text("forward", exact=True).click()
    page.wait_for_url(lambda url: "method=forward" in url and "h=-5" in url)
    expect(page.get_by_role("img", name="secant 9.36")).to_be_visible()
    page.get_by_text("As a table").last.click()
    expect(page.locator("details[open] tbody tr")).to_have_count(18)
    page.set_viewport_size({"width": 360, "height": 740})
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# ---------------------------------------------------------------- start


@pytest.mark.flow
def test_from_opening_to_the_reason_of_the_first_gradient(open_page):
    page = open_page(width=1280, height=720)
    card = page.locator(".card.leaf").first
    card.wait_for()
    settled(page)
    box = card.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] - 28, steps=8)
    page.mouse.up()
    expect(page.locator(".sentence")).to_contain_text("a moves by +1, and out moves by −3: −3 for each 1 of a.")
    page.emulate_media(reduced_motion="reduce")  # a run goes to its end at once: no messages add up
    page.locator(".runs .run").last.click()
    reasons = []
    for message in range(4, 0, -1):
        expect(page.locator("output.count")).to_have_text(f"{3 + 2 * message} / 11")
        reasons.append(page.locator(".ledger .note").inner_text())
        page.locator(".scrubber").press("ArrowLeft")
        page.locator(".scrubber").press("ArrowLeft")
    assert "v1's gradient 1 times the local derivative b = −3." in " ".join(reasons)
    page.get_by_role("radio", name="0", exact=True).click()
    expect(page.get_by_text("✓ Yes: a's gradient is v1's gradient, 1, times b")).to_be_visible()


def test_a_reload_keeps_the_pass_and_the_answer(open_page):
    page = open_page(width=1280, height=720)
    page.locator(".card.leaf").first.wait_for()
    settled(page)
    expect(page.locator("output.count")).to_have_text("2 / 11")
    for _ in range(7):
        page.locator(".scrubber").press("ArrowRight")
    expect(page.locator("output.count")).to_have_text("9 / 11")
    page.get_by_role("radio", name="−3").click()
    expect(page.get_by_text("✗ No: a's gradient")).to_be_visible()
    written(page)
    page.reload()
    expect(page.locator("output.count")).to_have_text("9 / 11")
    expect(page.get_by_text("✗ No: a's gradient")).to_be_visible()
    page.get_by_role("button", name="First").click()
    written(page)
    page.reload()
    expect(page.locator("output.count")).to_have_text("0 / 11")


def test_the_end_of_a_pass_completes_no_card_of_a_page_that_was_left(open_page):
    """Operations has no card, and so sends none that could take the place of Start's."""
    page = open_page(width=1280)
    end = "dispatchEvent(new Event('tensor-ops-lab-end')), localStorage.getItem('tensor-ops-lab progress') ?? ''"
    page.locator(".card.leaf").first.wait_for()
    settled(page)
    page.get_by_test_id("stTopNavSection").filter(has_text="Know").click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text="Operations").click()
    page.get_by_role("heading", level=1, name="Operations").wait_for()
    settled(page)
    assert "first-gradient" not in page.evaluate(end)
    page.go_back()
    page.locator(".card.leaf").first.wait_for()
    settled(page)
    assert "first-gradient" in page.evaluate(end)


def test_the_card_of_start_itself_brings_its_picture_anew_into_the_window(open_page):
    page = open_page("?in_a=3")
    player = page.locator(".card.leaf").first
    player.wait_for()
    settled(page)
    page.get_by_role("link", name="A first gradient").click()
    expect(player).to_be_in_viewport()
    settled(page)
    expect(page.get_by_text("A first gradient. Run both passes")).to_be_in_viewport()
    page.get_by_role("button", name="Last").click()
    page.get_by_role("link", name="Next: Two messages add up").click()
    expect(page).to_have_url(re.compile("card=(?!first-gradient)"))
