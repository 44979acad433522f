"""What assets/app.css changes of Streamlit's own style, in a real browser."""

from tests.support import settled


def test_a_line_of_text_asks_for_enter_and_counts_no_characters(open_page):
    page = open_page("")
    box = page.get_by_label("Search the lab")
    box.fill("tanh")
    said = page.locator("[data-testid=InputInstructions]")
    said.get_by_text("Press Enter").wait_for()
    assert said.locator("visible=true").inner_text() == "Press Enter to apply"
    box.press("Enter")
    said.get_by_text("4/5000").wait_for(state="attached")
    said.get_by_text("Press Enter").wait_for(state="detached")
    assert said.inner_text() == ""


def test_the_next_step_of_an_optimizer_scrolls_sideways_in_its_own_box(open_page):
    page = open_page("descent", width=360)
    table = page.locator("table", has_text="rate · direction")
    table.wait_for()
    settled(page)
    assert table.evaluate("e => e.scrollWidth > e.clientWidth")
    heights = table.locator("tbody tr").evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert max(heights) < 40  # one line each
    assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth") <= 360
