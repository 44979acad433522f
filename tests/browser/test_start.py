"""Start in a real browser: a number is pulled, the reason of its gradient is read, and a reload keeps all of it."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import settled, written


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
    expect(page.locator(".sentence")).to_contain_text("out moves by −1.5, as the local derivatives say")
    reasons = []
    for message in range(1, 5):
        page.locator(".runs .run").last.click()
        expect(page.locator(".count")).to_have_text(f"{3 + 2 * message} / 11")
        reasons.append(page.locator(".ledger .note").inner_text())
    assert "v1's gradient 1 times the local derivative b = −3." in " ".join(reasons)
    page.get_by_role("radio", name="0", exact=True).click()
    expect(page.get_by_text("✓ Yes: a's gradient is v1's gradient, 1, times b")).to_be_visible()


def test_a_reload_keeps_the_pass_and_the_answer(open_page):
    page = open_page(width=1280, height=720)
    page.locator(".card.leaf").first.wait_for()
    settled(page)
    expect(page.locator(".count")).to_have_text("2 / 11")
    for _ in range(3):
        page.locator(".runs .run").last.click()
    expect(page.locator(".count")).to_have_text("9 / 11")
    page.get_by_role("radio", name="−3").click()
    expect(page.get_by_text("✗ No: a's gradient")).to_be_visible()
    written(page)
    page.reload()
    expect(page.locator(".count")).to_have_text("9 / 11")
    expect(page.get_by_text("✗ No: a's gradient")).to_be_visible()
    page.get_by_role("button", name="First").click()
    written(page)
    page.reload()
    expect(page.locator(".count")).to_have_text("0 / 11")


def test_the_card_of_start_itself_brings_its_picture_into_the_window(open_page):
    page = open_page("?in_a=3")
    player = page.locator(".card.leaf").first
    player.wait_for()
    settled(page)
    page.get_by_role("link", name="A first gradient").click()
    expect(player).to_be_in_viewport()
    settled(page)
    expect(player).to_contain_text("3")
    expect(page).to_have_url(re.compile("in_a=3"))
