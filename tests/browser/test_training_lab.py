"""A training run in a real browser: start, watch, pause, step; by keyboard, on a phone, and with the tab closed."""

import itertools
import re

import pytest
from playwright.sync_api import expect

from pages.parts.training.instruments import UPDATES
from tests.browser.conftest import PATIENCE
from tests.layout import project
from tests.support import settled


def progress(page):
    """Epoch and batch of the run, as the page says."""
    text = page.locator(".run-progress").inner_text()
    found = re.search(r"Epoch (\d+) of \d+(?:, then batch (\d+))?", text)
    return int(found[1]), int(found[2] or 0)


def button(page, name):
    return page.get_by_role("button", name=re.compile(f"^{name}"))


def settings(page):
    """Open the settings that are folded."""
    button(page, "More").click()
    page.get_by_role("textbox", name="Hidden layers").wait_for()


def tables(page):
    """Show the numbers of all pictures."""
    button(page, "View").click()
    page.get_by_text("Numbers of all pictures as tables").click()
    page.keyboard.press("Escape")


LONG = "epochs=300&speed=30"  # four minutes on any machine: it is not over before it is paused


def open_lab(open_page, query=LONG, **options):
    page = open_page(f"training-lab?{query}", **options)
    button(page, "(Start|Pause|Continue|Done)").wait_for()  # Done: a short run may be over before the first look
    return page


def pause(page):
    """Press Pause, but not before the first batch: after that, the button to go on is called Continue."""
    page.wait_for_function("/Epoch [1-9]|batch/.test(document.querySelector('.run-progress')?.innerText)")
    button(page, "Pause").click()
    button(page, "Continue").wait_for()
    settled(page)
    return progress_as_said(page)


def progress_as_said(page):
    """Epoch and batch of a paused run, once its bar says the same epoch as the sentence next to the buttons."""
    epoch = re.search(r"\d+", page.get_by_text(re.compile(r"^Paused at epoch \d+ of")).inner_text())[0]
    page.locator(".run-progress", has_text=f"Epoch {epoch} of").wait_for()
    return progress(page)


@pytest.mark.flow
def test_start_watch_pause_and_the_numbers_of_a_chart_keep_up(open_page):
    page = open_lab(open_page, f"{LONG}&panel=Accuracy")
    assert progress(page) == (0, 0)
    chart = page.locator("[data-chart=accuracy]")
    tables(page)
    last = chart.locator("tbody tr").last.locator("td").first
    expect(last).to_have_text("0")
    button(page, "Start").click()
    page.wait_for_function("/Epoch ([3-9]|[1-9]\\d+) of/.test(document.querySelector('.run-progress')?.innerText)")
    paused = pause(page)
    expect(last).to_have_text(str(paused[0]))
    page.get_by_role("tab", name="Accuracy").click()
    page.locator("[data-chart=accuracy] canvas").first.wait_for()  # the script has run again
    assert progress(page) == paused
    figure = page.get_by_role("img", name=re.compile("Loss by epoch. Epoch"))
    assert "validation" in figure.get_attribute("aria-label")


def test_step_by_keyboard(open_page):
    page = open_lab(open_page)
    for expected in (1, 2, 3):
        page.locator("[data-test-script-state=notRunning]").wait_for()  # a key pressed before is for the old page
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"document.querySelector('.run-progress')?.innerText.includes('batch {expected} of')")
    button(page, "Reset").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('.run-progress')?.innerText.includes('batch')")
    assert progress(page) == (0, 0)


def test_the_bar_of_the_run_follows_the_training_and_looks_back_by_keyboard(open_page):
    page = open_lab(open_page, "data=blobs&hidden=3&epochs=300&speed=100")
    bar = page.get_by_role("slider", name="Show the epoch")
    expect(bar).to_have_value("0")
    button(page, "Start").click()
    page.wait_for_function("document.querySelector('.run-progress input').value > 3")
    epoch, _ = pause(page)
    expect(bar).to_have_value(str(epoch))
    bar.press("Home")
    page.wait_for_url("**epoch=0**")
    page.get_by_role("heading", name="Decision boundary validation samples, epoch 0").wait_for()
    expect(bar).to_have_value("0")
    bar.press("End")
    page.wait_for_url(lambda url: "epoch=0" not in url)
    page.get_by_role("heading", name="Decision boundary validation samples", exact=True).wait_for()
    expect(bar).to_have_value(str(epoch))


@pytest.mark.parametrize(
    ("hidden", "widths"),
    [("8+8+8+8+8+8", (360, 1280, 1024)), ("16+16+16+16+16+16", (1280, 1024, 360)), ("8+8", (1024, 360, 1280))],
)
def test_tiles_of_a_deep_network_do_not_overlap(open_page, hidden, widths):
    """One visit for all widths, each of which one network is opened at."""
    page = open_lab(open_page, f"hidden={hidden}&epochs=3", width=widths[0], height=768)
    page.locator(".network .column").nth(hidden.count("+") + 2).wait_for()
    for width in widths:
        page.set_viewport_size({"width": width, "height": 768})
        settled(page)
        _do_not_overlap(page)


def _do_not_overlap(page):
    edges = page.locator(".network .column").evaluate_all(
        """columns => columns.map(column => [...column.querySelectorAll("button, .head span")]
            .map(one => one.getBoundingClientRect()).filter(box => box.width)
            .reduce(([left, right], box) => [Math.min(left, box.left), Math.max(right, box.right)], [1e9, 0]))"""
    )
    assert all(before[1] <= after[0] + 1 for before, after in itertools.pairwise(edges)), edges
    picture = page.locator(".network").bounding_box()
    assert edges[0][0] >= picture["x"] - 1
    assert edges[-1][1] <= picture["x"] + picture["width"] + 1


# Whether a text has the colours of the page, undiluted.
ON_PAPER = """(text) => {
  const [own, page] = [text, document.querySelector("[data-testid=stApp]")].map(getComputedStyle);
  const opaque = [text, text.parentElement].every((one) => getComputedStyle(one).opacity === "1");
  return opaque && own.color === page.color && own.backgroundColor === page.backgroundColor;
}"""


def test_a_feature_that_is_switched_on_gets_its_lines(open_page):
    page = open_lab(open_page, "data=moons&hidden=4")
    lines = "document.querySelectorAll('.network path').length === {}"
    page.wait_for_function(lines.format(2 * 4 + 4 * 2))
    feature = page.get_by_role("button", name="Feature x²", exact=True)
    assert feature.locator("span").evaluate(ON_PAPER), "the name of a feature that is off is pale, or on its map"
    feature.click()
    page.wait_for_function(lines.format(3 * 4 + 4 * 2))
    expect(feature).to_have_attribute("aria-pressed", "true")
    feature.click()
    page.wait_for_function(lines.format(2 * 4 + 4 * 2))


def test_a_click_on_a_curve_moves_the_epoch(open_page):
    page = open_lab(open_page, "data=blobs&hidden=3&epochs=10&speed=inf")
    button(page, "Start").click()
    button(page, "Done").wait_for()
    settled(page)
    picture = page.locator("[data-chart=loss] .picture")
    box = picture.bounding_box()
    picture.click(position={"x": 54 + (box["width"] - 106) * 0.4, "y": box["height"] / 2})
    page.wait_for_url("**epoch=4**")
    expect(page.get_by_role("slider", name="Show the epoch")).to_have_value("4")


@pytest.mark.flow
def test_nothing_is_lost_by_reset_and_by_a_reload(open_page):
    page = open_lab(open_page, "data=blobs&hidden=3&epochs=4&speed=inf")
    button(page, "Start").click()
    button(page, "Done").wait_for()
    button(page, "Reset").click()
    button(page, "Start").wait_for()
    button(page, "Step").click()
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('batch 1 of')")
    page.wait_for_url("**trained=0.1**")
    settled(page)
    page.reload()
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('batch 1 of')")
    page.get_by_text("Earlier runs (1 from this visit)").wait_for()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def test_a_reload_while_it_trains_brings_it_back_to_where_it_was_and_no_entry_of_the_history_is_added(open_page):
    page = open_lab(open_page, "data=digits&epochs=300&speed=100")
    entries = page.evaluate("history.length")
    for run in range(2):
        button(page, "Start").click()
        for _ in range(2):  # it is written down again and again
            before = page.url
            page.wait_for_function("before => location.href !== before", arg=before)
        if run == 0:
            button(page, "Reset").click()  # a reload would not bring back the run that was reset
            page.wait_for_url(lambda url: "trained" not in url)
    reached = float(re.search(r"trained=([\d.]+)", page.url)[1])
    assert reached > 0
    assert page.evaluate("history.length") == entries
    page.reload()
    epoch, _ = progress_as_said(page)
    assert epoch >= int(reached)


def test_tabs_keep_what_was_brought_apart_and_one_button_forgets_it(open_page, new_page):
    """A tab that is new has what the last one had; from then on neither changes what the other finds after a reload."""

    def shown(page, name):
        page.get_by_text(re.compile(f"{name}.csv: .*2 classes")).first.wait_for()

    def bring(page, name):
        rows = "".join(f"{i / 10},{i % 3},{'yes' if i > 20 else 'no'}\n" for i in range(40))
        table = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": f"a,b,class\n{rows}".encode()}
        page.locator("input[type=file]").set_input_files(table)
        shown(page, name)
        settled(page)

    one = open_lab(open_page, "data=table&hidden=4")
    bring(one, "first")
    other = new_page()
    other.goto(one.url)
    shown(other, "first")
    button(other, "Your table").click()
    bring(other, "second")
    other.keyboard.press("Escape")
    for page, name in ((one, "first"), (other, "second")):
        page.bring_to_front()
        page.reload()
        shown(page, name)
    button(other, "Forget what I brought").click()
    other.get_by_text("no file yet").wait_for()
    settled(other)
    for page in (other, one):
        page.bring_to_front()
        page.reload()
        page.get_by_text("no file yet").wait_for()


def test_every_click_on_the_plane_places_a_point_however_fast(open_page):
    page = open_lab(open_page, "data=points&hidden=4&epochs=300&speed=10")  # slow, so that it is not over meanwhile
    plane = page.locator("[data-chart=plane] .picture")
    plane.locator("canvas").wait_for()

    def eight_clicks(share, count):
        plane.hover(position={"x": 60, "y": 5})  # which waits until it rests in its place
        box = plane.bounding_box()
        for number in range(8):
            page.mouse.click(box["x"] + 60 + 30 * number, box["y"] + box["height"] * share)
        page.get_by_text(f"{count} of at most 150 points").wait_for()

    eight_clicks(0.5, 28)
    page.wait_for_url("**points=**")
    button(page, "Start").click()
    button(page, "Pause").wait_for()
    eight_clicks(0.3, 36)
    button(page, "Pause").wait_for()  # it goes on, with the new points


def test_a_table_is_uploaded_trained_and_its_mistakes_are_said(open_page):
    page = open_lab(open_page, "data=table&hidden=4")
    upload = page.locator("input[type=file]")
    rows = "".join(f"{i / 10},{i % 3},{'yes' if i > 20 else 'no'}\n" for i in range(40))
    upload.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": f"a,b,class\n{rows}".encode()})
    page.get_by_text(re.compile("mine.csv: .*2 classes")).wait_for()
    button(page, "Start").click()
    page.wait_for_url("**trained=60")
    settled(page)
    page.reload()
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('Epoch 60 of 60')")
    button(page, "Your table").click()
    upload.set_input_files(
        {"name": "bad.csv", "mimeType": "text/csv", "buffer": f"a,b,class\n{rows}".replace("0.5,", '"0.5,').encode()}
    )
    page.get_by_text(re.compile("bad.csv.*an unclosed quotation mark")).wait_for()


def test_back_to_a_run_that_another_has_replaced_finds_it_as_far_as_it_was_trained(open_page):
    page = open_lab(open_page)
    button(page, "Start").click()
    page.locator(".run-progress", has_text=re.compile("Epoch [1-9]")).wait_for()
    epoch, batch = pause(page)
    settings(page)
    hidden = page.get_by_role("textbox", name="Hidden layers")
    hidden.fill("5")
    hidden.press("Enter")
    page.keyboard.press("Escape")
    page.locator(".run-progress", has_text="Epoch 0 of").wait_for()
    settled(page)
    page.go_back()
    page.locator(".run-progress", has_text=f"Epoch {epoch} of").wait_for()
    button(page, "Continue").wait_for()
    assert progress_as_said(page) == (epoch, batch)


@pytest.mark.flow
def test_a_digit_is_drawn_by_pointer_and_by_keyboard(open_page):
    page = open_lab(open_page, "data=digits&hidden=32&lr=0.01&epochs=6&epoch=5")
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('Epoch 6 of 6')")
    page.get_by_text("Draw a digit").click()
    pad = page.get_by_role("application")
    pad.scroll_into_view_if_needed()
    settled(page)
    box = pad.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9, steps=10)
    page.mouse.up()
    page.get_by_text(re.compile("The network takes it for 1")).wait_for()
    page.get_by_role("button", name="Clear the pad").click()
    page.get_by_text(re.compile("The network takes it for")).wait_for(state="hidden")
    pad.focus()
    for key in ("ArrowUp", "Space", "ArrowDown", "Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    page.get_by_text(re.compile("The network takes it for 1")).wait_for()  # of fewer dots it may say another
    page.reload()
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('Epoch 6 of 6')")
    page.get_by_text(re.compile("The network takes it for 1")).wait_for()  # the drawing is there again


def test_pointing_at_a_unit_or_moving_the_focus_to_it_fills_the_plane(open_page):
    page = open_lab(open_page, "hidden=4+3&batch_size=8&epochs=300&speed=30")
    unit = page.get_by_role("button", name="Layer 1, unit 3", exact=True)

    def point_and_focus():
        unit.hover()
        page.get_by_role("heading", name="Output of unit 3 of layer 1").wait_for()
        page.mouse.move(5, 5)
        page.get_by_role("heading", name="Decision boundary").wait_for()
        unit.focus()
        page.get_by_role("heading", name="Output of unit 3 of layer 1").wait_for()
        page.keyboard.press("Tab")
        page.get_by_role("heading", name="Output of unit 4 of layer 1").wait_for()

    point_and_focus()
    button(page, "Start").click()
    button(page, "Pause").wait_for()
    page.get_by_role("heading", name="Decision boundary").wait_for()
    point_and_focus()
    button(page, "Pause").wait_for()  # it went on
    unit.hover()
    page.get_by_role("heading", name="Output of unit 3 of layer 1").wait_for()
    button(page, "Add a unit in layer 1").click()  # at once: the page still learns that the pointer left the tile
    page.get_by_role("heading", name="Decision boundary").wait_for()


@pytest.mark.parametrize(
    ("width", "height", "theme", "query"),
    [
        (1280, 720, "light", "data=xor&hidden=64+64&val_fraction=0.95&epochs=60"),
        (1024, 768, "dark", "data=sine"),
        (1280, 720, "dark", "data=digits&epochs=3"),
    ],
)
def test_button_picture_loss_and_the_doctor_are_in_the_window_at_once(open_page, width, height, theme, query):
    page = open_lab(open_page, f"{query}&speed=inf", width=width, height=height, theme=theme)
    parts = [button(page, "(Start|Done)"), page.locator("[data-chart=loss]"), page.get_by_role("tab").first]
    parts += [page.locator("[data-chart=samples]" if "digits" in query else "[data-chart=plane]")]
    parts += [page.locator("[data-chart=gradients]"), page.locator(".run-progress")]
    doctor = page.locator(".st-key-training-doctor")
    for part in [*parts, doctor]:
        expect(part).to_be_in_viewport(ratio=0.99)
    button(page, "Start").click()
    button(page, "Done").wait_for()
    doctor.get_by_test_id("stAlert").wait_for()
    settled(page)
    remedy = [button(page, "Try weight decay 0.01")] if "xor" in query else []
    for part in [*parts, doctor.get_by_test_id("stAlert"), *remedy]:
        expect(part).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("width", [360, 930, 1024])
def test_a_row_of_settings_that_scrolls_fades_at_its_edge_until_the_last_one_is_in_sight(open_page, width):
    line = open_lab(open_page, width=width).locator(".st-key-training-line")
    scrolls, mask = line.evaluate("(one) => [one.scrollWidth > one.clientWidth, getComputedStyle(one).maskImage]")
    assert scrolls <= ("gradient" in mask)
    line.evaluate("(one) => (one.scrollLeft = one.scrollWidth)")
    room = line.evaluate("(one) => one.getBoundingClientRect().right - one.lastChild.getBoundingClientRect().right")
    assert room >= 32 * ("gradient" in mask)


def test_a_class_cannot_become_markup(open_page):
    page = open_lab(open_page, "data=table&hidden=4")
    label = "<img src=x onerror=alert(1)>"
    rows = "".join(f"{i / 10},{i % 3},{label if i > 20 else 'no'}\n" for i in range(40))
    page.on("dialog", lambda dialog: pytest.fail("the label ran as a script"))
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": f"a,b,class\n{rows}".encode()}
    )
    page.get_by_text(re.compile("mine.csv: .*2 classes")).wait_for()
    plane = page.locator("[data-chart=plane]")
    tables(page)
    plane.get_by_role("cell", name=label).wait_for()
    plane.locator(".picture").hover()
    settled(page)
    assert page.locator("img[src=x]").count() == 0


COUNT_CHANGES = """() => {
  const labels = {};
  window.changes = {};
  const count = () => {
    for (const chart of document.querySelectorAll("[data-chart]")) {
      const name = chart.dataset.chart;
      const tile = [...chart.querySelectorAll(".tiles canvas")].at(-1); // of the outputs
      const label = tile ? tile.toDataURL() : chart.querySelector("[role=img]")?.getAttribute("aria-label");
      if (label === labels[name]) continue;
      labels[name] = label;
      changes[name] = (changes[name] ?? 0) + 1;
    }
  };
  const attributeFilter = ["aria-label", "data-shown"];
  new MutationObserver(count).observe(document.body, { subtree: true, childList: true, attributeFilter });
}"""


def test_tiles_out_of_sight_are_painted_when_they_come_into_sight(open_page):
    page = open_lab(open_page, "hidden=8+6&batch_size=2&epochs=300&speed=300&tables=1", width=360, height=740)
    button(page, "Start").click()
    button(page, "Pause").wait_for()
    picture = """() => [...document.querySelectorAll(".network .tiles canvas")].at(-1).toDataURL()"""
    page.locator("[data-chart=network] .tiles canvas").last.wait_for()
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    page.wait_for_function("document.querySelector('.network').getBoundingClientRect().bottom < -300")
    header = page.locator("header[data-testid=stHeader]").bounding_box()
    assert button(page, "Pause").bounding_box()["y"] >= header["y"] + header["height"]
    assert page.locator(".run-progress p").evaluate("(p) => p.scrollWidth <= p.clientWidth")
    words = page.locator("[data-chart=network] tbody tr").last
    still = page.evaluate(picture)
    for _ in range(2):  # what a table says goes on
        said = words.inner_text()
        page.wait_for_function("([row, said]) => row.innerText !== said", arg=[words.element_handle(), said])
    assert page.evaluate(picture) == still
    page.locator(".network").scroll_into_view_if_needed()
    page.wait_for_function(f"still => ({picture})() !== still", arg=still)


def test_all_instruments_keep_up_with_a_run_at_full_speed(open_page):
    # 600,000 batches, as also a fast machine must not be done before it has been watched.
    page = open_lab(open_page, "hidden=8+6&samples=5000&batch_size=2&epochs=300&speed=inf", height=3600)
    button(page, "Start").click()
    button(page, "Pause").wait_for()
    page.locator(".network .tiles canvas").first.wait_for()
    page.evaluate(COUNT_CHANGES)
    # More often than the page draws without a rest.
    page.wait_for_function(f"() => changes.loss > {UPDATES + 2}", timeout=5 * PATIENCE)
    page.wait_for_function(
        """() => {
          return Object.keys(changes).length === 5 && Object.values(changes).every((count) => count > 1);
        }"""
    )
    assert page.locator("[data-testid=stException]").count() == 0


def test_a_click_on_a_unit_opens_its_gradient_in_the_pass_of_a_sample(open_page):
    page = open_lab(open_page, "data=moons&hidden=4 3", height=720)
    for layer, unit in ((1, 3), (2, 2)):
        page.get_by_role("button", name=f"Layer {layer}, unit {unit}", exact=True).click()
        derivation = page.get_by_text(f"Derivation of ∂loss/∂h{layer}[0, {unit - 1}]")
        for said in (derivation, page.get_by_text(f"Unit {unit} of layer {layer}", exact=True)):
            expect(said).to_be_in_viewport(timeout=PATIENCE)


def test_on_a_phone_a_tapped_unit_is_named_above_its_layer_and_the_event_told_below(open_page):
    page = open_lab(open_page, "data=moons&hidden=8 8", width=360, height=740)
    page.get_by_role("button", name="Layer 1, unit 2", exact=True).click()
    page.locator(".card.selected").wait_for(timeout=PATIENCE)
    settled(page)
    card, stage, sent = (page.locator(part).bounding_box() for part in (".card.selected", ".stage", ".pill"))
    assert stage["y"] <= card["y"] <= stage["y"] + stage["height"] - card["height"]
    assert stage["x"] <= card["x"] <= sent["x"] <= stage["x"] + stage["width"] - sent["width"]
    above = [page.locator(part).bounding_box() for part in ("[data-testid=stHeader]", ".st-key-training-transport")]
    parts = ("text=which you chose", ".controls", ".stage", ".sentence")
    boxes = [page.locator(part).first.bounding_box() for part in parts]
    edges = [edge for box in boxes for edge in (box["y"], box["y"] + box["height"])]
    assert edges == sorted(edges)
    assert all(box["y"] + box["height"] <= edges[0] for box in above)  # nothing lies on the name and the buttons
    assert edges[-2] <= 690


def test_the_whole_sentence_of_a_presented_sample_is_in_sight(open_page):
    page = open_lab(open_page, "data=moons&hidden=8 8", width=1024, height=768)
    page.get_by_role("button", name="Layer 1, unit 3", exact=True).click()
    expect(page.get_by_text("Derivation of ∂loss/∂h1[0, 2]")).to_be_in_viewport(timeout=PATIENCE)
    project(page)
    page.locator(".player.present").wait_for()
    page.keyboard.press("End")
    expect(page.locator(".present .sentence")).to_contain_text("The backward pass is done.")
    for part in (".ledger", ".equation"):
        assert page.locator(f".present {part}").evaluate("(one) => one.scrollHeight <= one.clientHeight + 1")


def test_the_learning_rate_of_a_projected_run_is_changed_while_it_trains(open_page):
    page = open_lab(open_page)
    project(page)
    page.keyboard.press("p")
    expect(page.locator(".st-key-training-lr")).to_be_in_viewport(ratio=0.99)
    page.get_by_role("combobox", name="Learning rate").click()
    page.get_by_role("option", name="0.1", exact=True).click()
    page.wait_for_url("**lr=0.1**")
    button(page, "Pause").first.wait_for()  # it goes on


def test_a_remedy_of_two_settings_and_the_name_of_a_switch_are_not_cut(open_page):
    page = open_lab(open_page, "data=xor&hidden=8+8+8+8+8+8&activation=sigmoid&optimizer=sgd&epochs=12&speed=inf")
    cut = "({ parentElement: box }) => box.scrollWidth > box.clientWidth"
    settings(page)
    assert not page.locator(".st-key-training-skip p").evaluate(cut)
    page.keyboard.press("Escape")
    button(page, "Start").click()
    assert not button(page, "Try activation relu and initial weights he").locator("p").evaluate(cut)


def test_a_link_to_the_pad_leads_to_the_pad(open_page):
    page = open_page("", height=720)
    page.get_by_role("link", name="Draw a digit for a network").click()
    pad = page.get_by_role("application")
    pad.wait_for()
    page.wait_for_function("document.querySelector('.run-progress')?.innerText.includes('Epoch 10 of 10')")
    settled(page)
    expect(pad).to_be_in_viewport(ratio=1)
