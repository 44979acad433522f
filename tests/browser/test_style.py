"""What assets/app.css changes of Streamlit's own style, in a real browser."""


def test_a_line_of_text_asks_for_enter_and_counts_no_characters(open_page):
    page = open_page("operations")
    box = page.locator(".st-key-operations-find input")
    box.fill("tanh")
    said = page.locator("[data-testid=InputInstructions]")
    said.get_by_text("Press Enter").wait_for()
    assert said.locator("visible=true").inner_text() == "Press Enter to apply"
    box.press("Enter")
    said.get_by_text("4/60").wait_for(state="attached")
    said.get_by_text("Press Enter").wait_for(state="detached")
    assert said.inner_text() == ""
