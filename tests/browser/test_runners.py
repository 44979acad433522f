"""N runners against two in a browser."""

from playwright.sync_api import expect


def test_the_runners_wait_for_a_guess_and_then_run(open_page):
    page = open_page("why-reverse-mode?n=5")
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_disabled()
    page.get_by_role("radio", name="200×", exact=True).click()
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
    page.emulate_media(reduced_motion="reduce")
    run.click()
    expect(many).to_have_text("✓ 20 of 20 passes", timeout=1_000)  # at once
