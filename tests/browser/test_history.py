"""The browser's history and the address: one entry for a page, one for a deliberate step, none for anything else."""

import re
import time
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from lab.lessons import pages
from lab.traps.faults.catalogue import FAULTS
from lab.ui.server import NAVIGATION
from tests.browser.conftest import prepared
from tests.support import in_full, settled, start_app, written


@pytest.fixture
def open_page(tab, app_url):
    """A page of the app, in a tab whose entries are counted from the empty page before it."""

    def open_page(path="", before=lambda page: None):
        page = tab()
        before(page)
        page.goto(f"{app_url}/{in_full(path)}", wait_until="commit")  # what was forward of the empty page is gone
        page.began = page.evaluate("history.length") - 1
        page.get_by_role("heading", level=1).wait_for()
        return page

    return open_page


PAGES = ("", "graph-lab", "simulate-error", "what-went-wrong", "what-went-wrong?tab=spot", "training-lab")
TRIED = "Try this."  # the last words of each page, but for the link to the next one
ONWARD = f"[data-testid=stElementContainer]:has-text('{TRIED}') + [data-testid=stElementContainer] a"


def ready(page):
    """The page has been computed, and the address written."""
    page.locator(ONWARD).last.wait_for(state="attached")  # that of the tab before may be there still
    page.locator("[data-test-script-state=notRunning]").wait_for()


def parameters(page):
    return in_short(page.url)


def in_short(url):
    """The parameters of a page's address without what their names begin with, and without the number of the entry."""
    address = urlsplit(url)
    page = pages.BY_PATH.get(address.path.strip("/"))
    short = {name.removeprefix(f"{page.key}-" if page else ""): text for name, text in parse_qsl(address.query)}
    tab = {title: name for name, title in page.tabs.items()} if page and page.key else {}
    return {name: tab.get(text, text) if name == "tab" else text for name, text in short.items() if name != "entry"}


def entries(page):
    """How many there are from the empty page on, which in a new tab is the first."""
    return page.evaluate("history.length") - getattr(page, "began", 1) + 1


def eventually(page, read, right):
    """What is read, once it is right; what it was last after a minute."""
    for _ in range(600):
        if (found := read()) == right:
            break
        page.wait_for_timeout(100)
    return found


def until(page, **wanted):
    """Wait for parameters of the address."""
    page.wait_for_url(lambda url: in_short(url).items() >= wanted.items())


def without_times(words):
    """Times are measured anew on each visit, and what is computed from them."""
    return re.sub(r"[\d.,]+ ?(ns|µs|ms|s|×)(?!\w)", "…", words)


def words_of(page):
    """The words of the page, once all has come that is loaded and drawn later."""
    page.wait_for_load_state("networkidle")
    settled(page)
    return page.evaluate("""() => new Promise((done) => {
      const main = document.querySelector("[data-testid=stMain]");
      let [words, since] = [main.innerText, performance.now()];
      const look = () => {
        const busy = !document.querySelector("[data-test-script-state=notRunning]");
        if (busy || main.innerText !== words) [words, since] = [main.innerText, performance.now()];
        if (performance.now() - since > 500) done(words);
        else setTimeout(look, 100);
      };
      look();
    })""")


def go(page, group, name):
    """To another page by the menu, which says what question it answers."""
    page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
    link = page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name)
    (question,) = [known.question for known in pages.PAGES if known.title == name]
    page.get_by_test_id("stTopNavPopover").get_by_text(question).wait_for()
    link.click()


def choose(page, menu, option):
    page.locator(f".st-key-{menu} button:visible").click()
    page.get_by_role("menuitem", name=option, exact=True).click()


def test_a_page_is_one_entry(new_page, app_url):
    page = new_page()
    for others, path in enumerate(PAGES, start=1):  # the empty page that the tab was opened with, and those before
        page.goto(f"{app_url}/{in_full(path)}")
        ready(page)
        # longer than the address waits to be written
        page.evaluate("() => new Promise((done) => setTimeout(done, 300))")
        assert entries(page) == others + 1, path


@pytest.mark.flow
def test_keys_typed_text_buttons_and_events_make_no_entry(open_page):
    page = open_page("graph-lab")
    ready(page)
    slider = page.locator('input[type=range][aria-label="a"]')
    for _ in range(10):
        slider.press("ArrowRight")
    until(page, in_a="3")
    page.get_by_role("button", name="Run forward pass").click()
    until(page, stage="forward")
    page.get_by_role("textbox", name="Expression").fill("a * b")
    page.keyboard.press("Control+Enter")
    until(page, expression="a * b")
    page.locator('.scrubber[aria-valuetext="event 0 of 6"]').press("ArrowRight")  # the new picture's, once it is there
    until(page, stage="forward")  # an expression with one operation: its first event ends the pass
    assert entries(page) == 2


def test_the_menu_of_a_phone_closes_when_a_page_is_chosen(new_page, app_url):
    page = new_page(width=360, height=740)
    page.goto(f"{app_url}/shapes")
    ready(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Graph lab").click()
    page.get_by_role("heading", name="Graph lab", level=1).wait_for()
    page.get_by_role("button", name="Run forward pass").click()  # which the open menu would cover
    until(page, stage="forward")


@pytest.mark.flow
def test_back_goes_from_page_to_page_with_one_press(open_page):
    page = open_page("graph-lab?in_a=7")
    ready(page)
    go(page, "Break", "Simulate Error")
    page.get_by_role("heading", name="Simulate Error").wait_for()
    ready(page)
    page.get_by_role("button", name="1 Forward").click()
    until(page, step="1")
    go(page, "Train", "Training lab")
    page.get_by_role("heading", name="Training lab", level=1).wait_for()
    ready(page)
    assert entries(page) == 4
    assert "step" not in parameters(page)
    page.go_back()
    page.get_by_role("heading", name="Simulate Error").wait_for()
    page.get_by_role("button", name="2 Mutate").and_(page.locator(":enabled")).wait_for()
    assert parameters(page) == {"step": "1"}
    ready(page)
    page.go_back()
    page.get_by_role("heading", name="Graph lab", level=1).wait_for()
    until(page, in_a="7")
    assert "step" not in parameters(page)
    page.go_forward()
    page.get_by_role("heading", name="Simulate Error").wait_for()
    page.wait_for_url("**/simulate-error?trap-step=1")
    assert entries(page) == 4
    ready(page)
    page.keyboard.press("Control+k")
    asked = page.get_by_role("textbox", name="Search")
    expect(asked).to_be_focused()
    page.keyboard.press("Escape")
    asked.wait_for(state="hidden")
    page.evaluate("""() => {  // a paste where nothing is written
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "RuntimeError: grad can be implicitly created only for scalar outputs");
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }""")
    asked.press("Enter")
    until(page, failure="scalar")
    assert entries(page) == 4  # the page that was forward is gone
    page.go_back()
    page.get_by_role("heading", name="Simulate Error").wait_for()
    page.wait_for_url("**/simulate-error?trap-step=1")


def shown_names(page):
    return page.locator("g.card text.name").all_text_contents()


@pytest.mark.parametrize(
    ("embedded", "clicked"),
    [("", "Two messages add up"), ("", "Page: Descent"), ("&embed=true", "Two messages add up")],
)
def test_back_from_a_card_or_a_line_of_a_list_finds_start_as_it_was_left(open_page, embedded, clicked):
    page = open_page(f"?in_a=3&name=Monday&set=pages.descent{embedded}")
    page.locator(".card.leaf").first.wait_for()
    ready(page)
    page.locator(".scrubber").press("End")
    page.locator(".count", has_text="11 / 11").wait_for()
    until(page, stage="backward", in_a="3")
    page.get_by_role("radio", name="0", exact=True).click()
    until(page, guess="0", in_c="10")
    before = parameters(page)
    page.get_by_role("link", name=clicked).click()
    page.wait_for_url(lambda url: urlsplit(url).path != "/")
    ready(page)
    page.go_back()
    page.wait_for_url(lambda url: urlsplit(url).path == "/")
    ready(page)
    assert eventually(page, lambda: parameters(page), before) == before
    page.locator(".count", has_text="11 / 11").wait_for()
    assert entries(page) == 3
    page.go_back()
    page.wait_for_url("about:blank")


@pytest.mark.parametrize(
    ("path", "link"),
    [("", "Next: an input that is used twice"), ("", "1. A first gradient"), ("descent", "Next: a whole training run")],
)
def test_the_keys_go_on_from_the_title_of_the_page_that_a_link_leads_to(open_page, path, link):
    page = open_page(path)
    ready(page)
    page.get_by_role("link", name=link).press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path + urlsplit(url).query != f"/{path}")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    if not path:
        page.locator(".card").first.wait_for()
        before = page.locator("output.count").inner_text()
        page.keyboard.press("ArrowRight")
        expect(page.locator("output.count")).not_to_have_text(before)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-testid=stMain]') !== null")


def test_back_after_another_example_returns_to_the_one_before(open_page):
    page = open_page("graph-lab?expression=a*b%2Ba&in_a=2&in_b=3&stage=backward")
    page.locator("g.card").first.wait_for()
    ready(page)
    slider = page.locator('input[type=range][aria-label="a"]')
    slider.press("ArrowRight")
    until(page, in_a="2.1")
    page.locator(".scrubber").press("ArrowLeft")
    until(page, event="10")
    choose(page, "graph-example", "a*a: one leaf, two edges")
    until(page, expression="a*a")
    assert entries(page) == 3
    assert "event" not in parameters(page)
    page.locator(".count", has_text="0 / ").wait_for()
    page.go_back()
    text = page.get_by_role("textbox", name="Expression")
    assert eventually(page, text.input_value, "a*b+a") == "a*b+a"
    page.locator(".count", has_text="10 / 11").wait_for()
    assert eventually(page, lambda: slider.input_value(), "2.1") == "2.1"
    expect(page.locator(".st-key-graph-example")).to_contain_text("Your own expression")
    assert eventually(page, lambda: {"a", "b"} <= set(shown_names(page)), True)
    page.locator("g.card", has_text="8.4").first.wait_for()  # 2.1 * 3 + 2.1
    found = {"expression": "a*b+a", "in_a": "2.1", "in_b": "3", "stage": "backward", "event": "10"}
    assert eventually(page, lambda: parameters(page), found) == found
    page.go_forward()
    assert eventually(page, text.input_value, "a*a") == "a*a"
    page.locator(".count", has_text="0 / ").wait_for()
    assert entries(page) == 3


def test_back_from_a_fault_brings_the_index(open_page):
    page = open_page("what-went-wrong")
    page.get_by_role("button", name=FAULTS[0].name).click()
    until(page, fault=FAULTS[0].key)
    page.get_by_role("heading", name=FAULTS[0].name).wait_for()
    page.go_back()
    page.get_by_role("button", name=FAULTS[0].name).wait_for()
    assert "fault" not in parameters(page)


def test_back_leads_from_the_next_case_to_the_one_before(open_page):
    page = open_page("what-went-wrong?tab=spot&case=6")
    ready(page)
    page.get_by_role("button", name="Next case").click()
    until(page, case="7")
    ready(page)
    page.get_by_role("button", name=re.compile("Gradient checks")).click()
    until(page, seen="check")
    assert entries(page) == 3
    page.go_back()
    until(page, case="6")
    page.get_by_text("10 of 10").wait_for()


@pytest.fixture
def held_page(new_page):
    """A page, and what the server says to it while `held` is a list and not None: then the line to it is slow."""
    page = new_page()
    page.held = None

    def pass_on(socket):
        server = socket.connect_to_server()
        server.on_message(
            lambda message: socket.send(message) if page.held is None else page.held.append((socket, message))
        )

    page.route_web_socket("**/_stcore/stream", pass_on)
    return page


def hear(page):
    """What the server has said meanwhile arrives."""
    late, page.held = page.held, None
    for socket, message in late:
        socket.send(message)


def test_a_button_pressed_before_the_answer_to_back_has_come_leaves_page_and_address_in_agreement(held_page, app_url):
    """It is sent with the values of the page that still stands there; those that Back has set count."""
    page = held_page
    page.goto(f"{app_url}/{in_full('training-lab?hidden=4&epochs=3')}")
    ready(page)
    choose(page, "training-lesson", "Rate too high")
    until(page, lr="0.3")
    ready(page)
    page.held = []
    page.go_back()
    eventually(page, lambda: bool(page.held), True)
    page.get_by_role("button", name="More").click()
    page.wait_for_timeout(300)  # in which the server reads it
    hear(page)
    hidden = page.get_by_role("textbox", name="Hidden layers")
    expect(hidden).to_have_value("4")
    expect(page.locator(".st-key-training-lr input")).to_have_value("0.01")
    until(page, hidden="4", epochs="3")
    assert "lr" not in parameters(page)
    page.go_forward()
    until(page, hidden="16 16", lr="0.3")
    expect(page.locator(".st-key-training-lr input")).to_have_value("0.3")


def test_an_answer_that_comes_after_back_changes_neither_the_page_nor_its_address(held_page, app_url):
    page = held_page
    page.goto(f"{app_url}/{in_full('shapes?tab=matmul')}")
    ready(page)
    page.locator(".opener").click()
    page.get_by_role("textbox", name="Search").fill("why +=")
    page.locator("dialog[open] [role=option]").nth(1).wait_for()
    page.held = []
    page.keyboard.press("Enter")  # opens a page with values that the server then leaves out
    page.wait_for_url("**/graph-lab?*")
    page.wait_for_timeout(1000)  # in which the server computes it
    assert page.held
    page.go_back()
    hear(page)
    page.get_by_role("tab", name="matmul", selected=True).wait_for()
    written(page)
    assert parameters(page) == {"tab": "matmul"}
    assert entries(page) == 3


BARE = f"""<!doctype html><title>Streamlit</title><a href="graph-lab?event=19">Graph lab</a>
<script type="module">{NAVIGATION.read_text("utf-8")}
follow({{ shapes: "Shapes", "graph-lab": "Graph lab" }});
window.reads = [];
addEventListener("popstate", () => reads.push(location.pathname + location.search));
</script>"""


@pytest.mark.flow
def test_what_is_written_for_a_page_that_is_left_is_not_written(new_page):
    """Each late write that Streamlit makes, without Streamlit: of the page's path, of its values and of a step."""
    page = new_page()
    page.route("http://lab.example/**", lambda route: route.fulfill(body=BARE, content_type="text/html"))
    page.goto("http://lab.example/shapes?tab=matmul")
    page.evaluate("document.title = 'Shapes'")
    page.get_by_role("link").click()
    page.evaluate("document.title = 'Graph lab'; history.replaceState({}, '', '/graph-lab?event=18')")
    assert page.url == "http://lab.example/graph-lab?event=18"
    page.go_back()
    before = entries(page)
    for late in (
        "history.pushState({}, '', '/graph-lab?tab=matmul')",
        "history.replaceState({}, '', '/shapes?event=18')",
        "history.pushState({}, '', '/shapes?event=18')",
        "history.pushState({}, '', '/shapes?entry=1&event=18')",
        "document.title = 'Graph lab'; history.pushState({}, '', '/shapes?')",
    ):
        page.evaluate(late)
        assert page.url == "http://lab.example/shapes?tab=matmul", late
    assert page.evaluate("reads.splice(0)") == ["/graph-lab?event=19", "/shapes?tab=matmul"]
    page.evaluate("document.title = 'Shapes'")
    assert page.evaluate("reads") == ["/shapes?tab=matmul"]  # Streamlit has taken what was late for the address
    page.evaluate("history.pushState({}, '', '/shapes?entry=1&tab=sum')")
    assert page.url == "http://lab.example/shapes?entry=1&tab=sum"
    assert entries(page) == before


def test_the_address_has_each_step_of_a_run_so_that_a_reload_goes_on_from_it(open_page):
    page = open_page("descent")
    ready(page)
    page.get_by_role("button", name="Run 10").click()
    page.wait_for_url(lambda url: in_short(url).get("steps") in ("4", "5", "6", "7", "8"))
    assert entries(page) == 2


COUNT_RUNS = """() => {
  const app = document.querySelector("[data-test-script-state]");
  window.runs = 0;
  const count = () => { if (app.dataset.testScriptState === "notRunning") window.runs++; };
  new MutationObserver(count).observe(app, { attributeFilter: ["data-test-script-state"] });
}"""


def test_a_server_that_has_lost_the_visit_learns_where_the_browser_is(browser):
    url, process = start_app("app.py", "--server.disconnectedSessionTTL=1")
    sockets = []

    def pass_on(socket):
        if sockets:
            time.sleep(4)  # until the server has given up the visit
        sockets.append((socket, socket.connect_to_server()))

    try:
        page = prepared(browser.new_page())
        page.route_web_socket("**/_stcore/stream", pass_on)
        page.goto(f"{url}/{in_full('graph-lab?stage=backward')}")
        page.locator("g.card").first.wait_for()
        slider = page.locator('input[type=range][aria-label="a"]')
        slider.press("ArrowRight")
        until(page, in_a="2.1")
        settled(page)
        page.evaluate(COUNT_RUNS)
        for socket in sockets[0]:
            socket.close()
        page.wait_for_function("window.runs")  # the new visit has computed the page
        assert len(sockets) == 2
        assert eventually(page, slider.input_value, "2.1") == "2.1"
        until(page, in_a="2.1", stage="backward")
        assert entries(page) == 2
        page.close()
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.mark.parametrize(
    "path",
    [
        "graph-lab?expression=a*b&in_a=[1, 2]&in_b=3&start=sum&stage=backward&event=3",
        "simulate-error?tab=life&op=exp&a=1,0,-1&life=flb&rate=0.2&guesses=3",
        "what-went-wrong?tab=message&fault=overwrite&seed=3&gradient=numbers&curve=same&run=1&play=true&event=4",
        "what-went-wrong?tab=spot&case=6&seen=norms,check",
        "?in_a=3&stage=backward&guess=0",
        "why-reverse-mode?tab=one&zeros=nowhere&passes=2",
        "shapes?tab=forgotten&guess=wrong+numbers%2C+never+an+error",
        "gradient-check?tab=step&h=-6",
        "what-went-wrong?tab=message&failure=twice",
        "build-it-yourself?tab=debug&program=4",
        "build-it-yourself?tab=ask&question=classic&answer=21&checked=1",
        "build-it-yourself?tab=courses&course=tensors&task=matmul",
        "why-reverse-mode?tab=curious&topic=Depth&operations=500&calls=144",
        "operations?op=maximum",
        "descent?surface=Ravine&steps=40&guess=past+it",
        "for-teachers?items=scalars.add&title=Monday",
        "training-lab?data=xor&hidden=5 3&lr=0.02&unit=layer 1, unit 3&lines=gradients&part=training&speed=30&tab=Command line",
    ],
)
def test_a_link_stays_what_it_was_after_a_reload_and_when_it_is_copied(open_page, tab, path):
    page = open_page(path)
    ready(page)
    words = words_of(page)
    asked = dict(parse_qsl(urlsplit(path).query))
    found = parameters(page)
    assert {name: found.get(name, text) for name, text in asked.items()} == asked  # a default is left out
    page.reload()
    ready(page)
    assert eventually(page, lambda: parameters(page), found) == found
    main = page.locator("[data-testid=stMain]")
    words = without_times(words)
    assert eventually(page, lambda: without_times(main.inner_text()), words) == words
    copied = tab()
    copied.goto(page.url)
    ready(copied)
    there = copied.locator("[data-testid=stMain]")
    assert eventually(copied, lambda: without_times(there.inner_text()), words) == words
    assert entries(page) == 2


def test_the_address_is_that_of_the_open_tab_and_back_leaves_a_link_at_once(open_page):
    page = open_page("why-reverse-mode?tab=one&zeros=nowhere&passes=2")
    ready(page)
    assert entries(page) == 2
    page.get_by_role("tab", name="For the curious").click()
    until(page, tab="curious")
    page.wait_for_url(lambda url: "zeros" not in in_short(url))  # the address is that of the open part
    page.go_back()  # to open a tab is no step
    page.wait_for_url("about:blank")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("why-reverse-mode?tab=curious&topic=Formula, differences, autograd", {"tab": "curious"}),  # the first topic
        ("why-reverse-mode?tab=curious&topic=none", {"tab": "curious"}),
        ("gradient-check?h=-6&method=central", {"h": "-6"}),
    ],
)
def test_a_link_with_a_value_that_goes_without_saying_is_one_entry(open_page, path, shown):
    page = open_page(path)
    ready(page)
    assert eventually(page, lambda: parameters(page), shown) == shown
    assert entries(page) == 2


def test_what_is_pressed_before_the_page_has_loaded_its_scripts_is_one_entry(open_page):
    page = open_page("what-went-wrong", before=lambda page: page.route("**/page/page.js", lambda route: route.abort()))
    page.get_by_role("button", name=FAULTS[0].name).click()
    until(page, fault=FAULTS[0].key)
    assert entries(page) == 3
    page.go_back()
    page.get_by_role("button", name=FAULTS[0].name).wait_for()
