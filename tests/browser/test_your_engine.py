"""An engine that was built on another day: back by itself from the browser's own copy, played, trained, and kept."""

import re

import pytest
from playwright.sync_api import expect

from lab.practice import isolation
from lab.practice.render_report import all_passed
from practice import COURSES
from tests.layout import violations
from tests.support import settled, switch

TENSORS = COURSES["tensors"]
NASTY = '# </script><img src=x onerror="document.body.dataset.broken=1"><b>'
TEXT = TENSORS.reference.replace("        def backward():\n", f"        def backward():  {NASTY}\n")
KEEP = """([text, tasks, note]) => {
  const passed = Object.keys(tasks).length;
  localStorage.setItem("tensor-ops-lab text tensors", text + "half = (");
  localStorage.setItem("tensor-ops-lab copies tensors", JSON.stringify([{ when: "2026-10-01T12:00", text, note, passed }]));
  localStorage.setItem("tensor-ops-lab tasks", JSON.stringify(tasks));
}"""


def look(page):
    """In both themes and at both widths axe finds nothing serious, and nothing is wider than the window."""
    for theme, width in (("light", 1280), ("dark", 360)):
        page.set_viewport_size({"width": width, "height": 800})
        switch(page, theme)
        settled(page)
        # axe leaves out what is beyond the left edge, and half a card does not read like its label.
        for fit in page.get_by_role("button", name="Fit the graph").all():
            fit.click()
        settled(page)
        assert (theme, width, violations(page)) == (theme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.flow
@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
def test_an_engine_comes_back_is_played_and_trained(open_page):
    page = open_page("build-it-yourself?tab=passes")
    expect(page.get_by_text("no finished engine yet")).to_be_visible()
    page.evaluate(KEEP, [TEXT, {f"tensors/{one.key}": "2026-10-01" for one in TENSORS.tasks}, all_passed(TENSORS)])
    page.reload()
    page.wait_for_function("document.body.innerText.includes('Checking your engine again')")
    expect(page.get_by_text(re.compile("Your engine: tensors, passed"))).to_be_visible()
    expect(page.get_by_text("Each gradient agrees with the lab’s engine")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 720})
    settled(page)
    assert page.locator("g.card").first.bounding_box()["y"] < 600
    expect(page.get_by_text("tensors.py, line")).to_be_visible()
    expect(page.locator(".sentence", has_text="The backward pass is done. Gradients")).to_be_visible()
    look(page)

    page.locator(".st-key-own-train button").click()
    expect(page.get_by_text("This is the graduation")).to_be_visible()
    settled(page)
    page.get_by_role("heading", name="Train it next to the lab’s").scroll_into_view_if_needed()
    look(page)
    done = page.evaluate("JSON.parse(localStorage.getItem('tensor-ops-lab progress'))")
    assert "own-digits" in done

    page.get_by_role("link", name="Next: the Graph lab").click()
    page.get_by_text("Yours: tensors").click()
    expect(page.get_by_role("radio", name="Yours: tensors")).to_be_checked()
    page.get_by_role("button", name="Run backward pass").click()
    expect(page.get_by_text("tensors.py, line")).to_be_visible()
    assert page.evaluate("document.body.dataset.broken") is None
