"""What assets/app.css changes of Streamlit's own style, in a real browser, and the theme."""

from playwright.sync_api import expect

from lab.charts.chart import COLOURS
from tests.support import switch


def test_a_line_of_text_asks_for_enter_and_counts_no_characters(open_page):
    page = open_page("why-reverse-mode?tab=one&zeros=nowhere")
    page.get_by_role("textbox", name="v, an upstream gradient").fill("1, 3")
    said = page.locator("[data-testid=InputInstructions]")
    said.get_by_text("4/500").wait_for(state="attached")
    assert said.locator("visible=true").inner_text() == "Press Enter to apply"


def test_a_chart_follows_the_theme_at_once(open_page):
    page = open_page("descent")
    canvas, payload = page.locator(".figure canvas").first, page.locator("[class*=st-key-feed-]").first
    canvas.wait_for()
    for theme, other in (("dark", "light"), ("light", "dark")):
        switch(page, theme)
        expect(payload).to_contain_text(COLOURS[theme]["text"])
        expect(payload).not_to_contain_text(COLOURS[other]["text"])
        expect(canvas).to_be_visible()


LINK = """(words) => {
  const { color, textDecorationLine, textIndent } = getComputedStyle(words);
  const plain = getComputedStyle(document.querySelector("[data-testid=stMain]")).color;
  return { link: color !== plain, underlined: textDecorationLine === "underline", hangs: parseFloat(textIndent) < 0 };
}"""


def test_a_line_of_the_failures_looks_like_a_link(open_page):
    page = open_page("what-went-wrong", width=1024)
    line = page.get_by_role("button", name="19 A parameter that the optimizer does not have")
    words = line.locator("p")
    assert words.evaluate(LINK) == {"link": True, "underlined": False, "hangs": True}
    line.hover()
    assert words.evaluate(LINK)["underlined"]
    page.get_by_role("heading", level=1).hover()
    page.get_by_role("button", name="13 ").focus()
    page.keyboard.press("Tab")
    expect(line).to_be_focused()
    assert words.evaluate(LINK)["underlined"]
