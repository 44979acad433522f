"""The grids in a browser: pointer, keyboard and a narrow window."""

import pytest
from playwright.sync_api import expect

from tests.support import settled


@pytest.mark.flow
def test_cells_light_each_other_by_pointer_and_keyboard(open_page):
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

    for address in ("?a=2,3,1&b=4&op=*", "?tab=forgotten&guess=wrong", "?tab=matmul&n=4&k=4&m=4"):
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(page.url.split("?")[0] + address)
        page.locator(".words").wait_for()
        settled(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("element => element.scrollWidth <= element.clientWidth")
        if "op" in address:
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
