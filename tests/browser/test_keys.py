"""No key is lost: what a visitor presses while an answer is on its way counts, on every page, however fast it comes."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import forget, prepared
from tests.support import in_full

LATE = 150  # milliseconds by which each answer of the server comes late: a classroom's network
SLOW_LINE = f"""(() => {{
  window.onTheWay = 0; // answers that the page has not heard yet
  window.told = 0; // messages to the server
  const {{ addEventListener: listen, send }} = WebSocket.prototype;
  WebSocket.prototype.send = function (message) {{
    window.told++;
    return send.call(this, message);
  }};
  WebSocket.prototype.addEventListener = function (type, heard, ...more) {{
    const late = (event) => {{
      window.onTheWay++;
      setTimeout(() => {{
        window.onTheWay--;
        heard(event);
      }}, {LATE});
    }};
    return listen.call(this, type, type === "message" ? late : heard, ...more);
  }};
}})()"""
CALM = 6  # frames in which nothing is asked, answered or computed
QUIET = f"""() => new Promise((done) => {{
  let [frames, told] = [0, -1];
  const look = () => {{
    const busy = window.onTheWay || window.told !== told || !document.querySelector("[data-test-script-state=notRunning]");
    [frames, told] = [busy ? 0 : frames + 1, window.told];
    if (frames < {CALM}) requestAnimationFrame(look);
    else done();
  }};
  look();
}})"""
PACES = (0, 30, 100)  # milliseconds between two keys
PRESSES = 5
SLIDERS = "[data-testid=stSlider] input[type=range]:enabled"
LISTS = "[data-testid=stSelectbox] input[role=combobox]:enabled"
TEXTS = ":is([data-testid=stTextInput] input, [data-testid=stTextArea] textarea):enabled"
MOST = 3  # sliders, texts and lists of a page
MARKED = """() => new Promise((done) => {  // the option that is marked when the list has heard of the keys
  const read = () => document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent;
  requestAnimationFrame(() => requestAnimationFrame(() => done(read())));
})"""
PAGES = (
    "shapes", "shapes?tab=matmul", "descent", "graph-lab", "graph-lab?kind=Recorded pass",
    "why-reverse-mode?tab=one&zeros=nowhere", "why-reverse-mode?tab=curious",
    "why-reverse-mode?tab=curious&topic=Checkpointing", "gradient-check", "gradient-check?tab=cotangent",
    "simulate-error?tab=steps", "simulate-error?tab=life", "what-went-wrong?fault=overwrite", "operations",
    "other-engines", "other-engines?tab=beside", "training-lab", "build-it-yourself?tab=ask", "for-teachers",
)  # read by rows  # fmt: skip
RUNS = 10


@pytest.fixture(scope="module")
def slow_tab(context):
    """A tab of its own: what slows it down cannot be taken away."""
    page = context.new_page()
    page.add_init_script(SLOW_LINE)
    yield page
    page.close()


@pytest.fixture
def slow_page(slow_tab, app_url):
    def slow_page(path):
        prepared(slow_tab).goto(f"{app_url}/{in_full(path)}")
        return slow_tab

    yield slow_page
    forget([slow_tab])
    slow_tab.goto("about:blank")


def quiet(page):
    """Nothing is on its way any more."""
    page.bring_to_front()  # behind others a tab may get one frame a second
    page.evaluate(QUIET)


def press_slider(page, slider, pace):
    """Press five keys, away from the nearer end. Returns the value that they lead to."""
    low, high, step = (float(slider.get_attribute(name)) for name in ("min", "max", "step"))
    before = float(slider.input_value())
    sign = 1 if before <= (low + high) / 2 else -1
    slider.focus()
    for _ in range(PRESSES):
        page.keyboard.press("ArrowRight" if sign > 0 else "ArrowLeft")
        page.wait_for_timeout(pace)
    return min(high, max(low, before + sign * PRESSES * step))


def sliders(page, main, pace):
    for slider in main.locator(SLIDERS).all()[:MOST]:
        wanted = press_slider(page, slider, pace)
        quiet(page)
        if abs(float(slider.input_value()) - wanted) > 1e-9:
            yield slider.get_attribute("aria-label"), pace, wanted, slider.input_value()


def texts(page, main, pace):
    for field in main.locator(TEXTS).all()[:MOST]:
        wanted = field.input_value() or "2, 3"
        if main.locator(SLIDERS).count():
            main.locator(SLIDERS).first.press("ArrowRight")  # whose answer comes while the text is typed
        field.press("ControlOrMeta+a")
        page.keyboard.type(wanted, delay=pace)
        page.keyboard.press("ControlOrMeta+Enter")  # Enter alone is a new line in a field of several
        quiet(page)
        if field.input_value() != wanted:
            yield field.get_attribute("aria-label"), pace, wanted, field.input_value()


def lists(page, main, pace):
    for chosen in main.locator(LISTS).all()[:MOST]:
        if not chosen.count():
            continue  # one choice may take the other list away
        for _ in range(2):
            chosen.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            wanted = page.evaluate(MARKED)
            page.keyboard.press("Enter")
            page.wait_for_timeout(pace)
        quiet(page)
        if chosen.input_value() != wanted:
            yield chosen.get_attribute("aria-label"), pace, wanted, chosen.input_value()


def lost(page, paces):
    """The sliders, texts and lists of a page that do not have what was typed into them; at once, at first sight."""
    main = page.get_by_test_id("stMain")
    main.locator(f"{SLIDERS}, {LISTS}, {TEXTS}").first.wait_for()
    return [found for kind in (sliders, texts, lists) for pace in paces for found in kind(page, main, pace)]


@pytest.mark.flow
def test_no_key_is_lost(slow_page):
    assert lost(slow_page("shapes?tab=matmul"), PACES) == []


@pytest.mark.parametrize("path", PAGES)
def test_no_key_is_lost_on_any_page(slow_page, path):
    """As the page opens, and then again and again in the same visit."""
    page = slow_page(path)
    assert [lost(page, PACES) for _ in range(RUNS)] == [[]] * RUNS


@pytest.mark.parametrize(("then", "case"), [("Gradient checks", "7"), ("Next case", "8")])
def test_a_button_pressed_before_the_next_case_has_come_does_not_lead_back(slow_page, then, case):
    page = slow_page("what-went-wrong?tab=spot&case=6")
    quiet(page)
    page.get_by_role("button", name="Next case").click()
    page.wait_for_function("window.onTheWay")  # the server has heard it
    page.get_by_role("button", name=then).first.click()  # of what is still shown
    quiet(page)
    page.wait_for_url(f"**case={case}**")
    expect(page.get_by_role("spinbutton", name="Case")).to_have_value(case)


def test_an_example_chosen_just_before_another_button_stays(slow_page):
    page = slow_page("graph-lab")
    quiet(page)
    example = page.locator(".st-key-graph-example button:visible")
    example.click()
    page.get_by_role("menuitem", name="a*a: one leaf, two edges").click()
    page.get_by_role("button", name="Inputs").click()
    quiet(page)
    expect(page.get_by_role("textbox", name="Expression")).to_have_value("a*a")
    expect(example).to_contain_text("a*a: one leaf, two edges")
    page.wait_for_url("**expression=a*a**")


@pytest.mark.flow
def test_two_settings_chosen_within_one_answer_both_stay(slow_page):
    """The second message is from a page that shows the lesson of before; that must not count as a choice."""
    page = slow_page("training-lab")
    quiet(page)
    page.locator(".st-key-training-lesson button:visible").click()
    page.get_by_role("menuitem", name="Overfitting").click()
    quiet(page)
    chosen = {}
    for setting in page.get_by_test_id("stMain").locator(LISTS).all()[1:3]:
        setting.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        chosen[setting] = page.evaluate(MARKED)
        page.keyboard.press("Enter")
        page.wait_for_function("window.onTheWay")  # the server has heard it
    quiet(page)
    for setting, option in chosen.items():
        expect(setting).to_have_value(option)
