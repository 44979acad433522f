"""What is answered right ticks its box, in this browser and after a reload; what is not, does not."""

import pytest
from playwright.sync_api import expect

from lab.lessons.skills import SKILLS


@pytest.mark.flow
def test_a_box_is_ticked_by_what_was_really_done(open_page, app_url):
    page = open_page("practise?tab=ask&question=leaf-step")
    skill = page.locator(".abilities section > ul > li", has_text="records for the backward pass")

    def answer(name, choice):
        page.get_by_role("heading", name=name).wait_for()
        page.get_by_text(choice).click()
        page.get_by_role("button", name="Check").click()

    answer("A result carries a closure", "None: it has no operands")
    expect(page.get_by_text("Right.")).to_be_visible()
    page.get_by_role("tab", name="What I can do").click()
    expect(skill).to_contain_text("1 of 2 done")
    expect(skill.get_by_role("img", name="open")).to_be_visible()
    skill.get_by_role("link", name="Python evaluates 2 * a").click()
    answer("Python evaluates 2 * a", "Python turns a into a number")
    expect(page.get_by_text("No.")).to_be_visible()
    page.goto(f"{app_url}/practise?tab=can")
    expect(skill).to_contain_text("1 of 2 done")
    page.goto(f"{app_url}/practise?tab=ask&question=number-first")
    answer("Python evaluates 2 * a", "Tensor has __rmul__")
    expect(page.get_by_text("Right.")).to_be_visible()
    page.get_by_role("tab", name="What I can do").click()
    expect(skill.get_by_role("img", name="ticked")).to_be_visible()
    page.reload()
    expect(skill.get_by_role("img", name="ticked")).to_be_visible()
    expect(page.get_by_text(f"of {len(SKILLS)} ticked")).to_be_visible()
    page.evaluate("localStorage.removeItem('tensor-ops-lab tasks')")  # the browser is that of all tests
