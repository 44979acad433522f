"""N runners against two in a browser."""

from playwright.sync_api import expect

from tests.support import settled


def test_the_runners_wait_for_a_guess_and_then_run(open_page):
    page = open_page("why-reverse-mode?n=5")
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_disabled()
    expect(page.locator(".tracks .count").first).to_have_text("5 runners")  # the number of passes is the answer
    page.get_by_role("radio", name="100×", exact=True).click()
    run.click()
    two, many = page.locator(".tracks .count").nth(1), page.locator(".tracks .count").nth(0)
    expect(two).to_have_text("✓ 2 of 2 passes")
    expect(many).to_have_text("✓ 10 of 10 passes")
    expect(page.locator(".said")).to_contain_text("Finite differences made 10 passes, reverse mode 2")
    slider = page.get_by_role("slider", name="Number of parameters, N")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(many).to_have_text("0 of 20 passes")
    page.wait_for_url("**n=10**")
    settled(page)
    page.emulate_media(reduced_motion="reduce")
    run.click()
    assert many.inner_text() == "✓ 20 of 20 passes"  # at once
    slider.focus()
    page.keyboard.press("ArrowRight")
    run.click()  # before the page has answered to the new N, and its answer does not undo it
    page.wait_for_url("**n=20**")
    settled(page)
    expect(many).to_have_text("✓ 40 of 40 passes")
