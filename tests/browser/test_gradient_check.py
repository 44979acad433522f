"""The step h in a browser: the slider redraws at once, the page hears of it when the hand rests."""

import pytest
from playwright.sync_api import expect

from tests.support import settled


@pytest.mark.flow
def test_the_slider_redraws_without_the_server_and_is_in_the_address_afterwards(open_page):
    page = open_page("gradient-check")
    sentence, slider = page.locator(".sentence"), page.get_by_role("slider", name="Step h")
    expect(sentence).to_contain_text("h = 1 is too large")
    before = page.locator(".pictures path.secant").first.get_attribute("d")
    slider.focus()
    page.context.set_offline(True)  # what is drawn came with the page
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(sentence).to_contain_text("h = 1e−5 is a good step")
    assert page.locator(".pictures path.secant").first.get_attribute("d") != before
    page.context.set_offline(False)
    expect(slider).to_be_focused()
    page.get_by_text("forward", exact=True).click()
    page.wait_for_url(lambda url: "method=forward" in url and "h=-5" in url)
    page.go_back()
    expect(page.get_by_role("radio", name="central")).to_be_checked()

    page.goto(page.url.split("?")[0] + "?h=-16&expression=relu(x)&in_x=0")
    expect(sentence).to_contain_text("there is no derivative")
    expect(page.locator(".tangent")).to_have_count(0)
    expect(page.locator(".side")).to_have_count(2)
    page.get_by_text("As a table").click()
    expect(page.locator("details tbody tr")).to_have_count(18)
    page.set_viewport_size({"width": 360, "height": 740})
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
