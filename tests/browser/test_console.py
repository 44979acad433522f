"""What the browser's own console says of the pages: nothing."""

from lab.lessons.pages import PAGES


def test_no_page_has_an_error_in_the_console_or_asks_for_what_there_is_not(new_page, app_url):
    page, found = new_page(), []
    page.on("response", lambda answer: answer.status >= 400 and found.append(f"{answer.status} {answer.url}"))
    page.on("console", lambda line: line.type == "error" and found.append(line.text))
    page.on("pageerror", lambda error: found.append(str(error)))
    for known in PAGES:
        page.goto(f"{app_url}/{known.path}")
        page.get_by_text("Try this.").wait_for()
        page.locator("[data-test-script-state=notRunning]").wait_for()
        page.wait_for_load_state("networkidle")
    assert found == []
