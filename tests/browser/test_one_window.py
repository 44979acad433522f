"""What one does first on a page, what comes of it and what it means stand in the window together: on a projector and on
a small laptop. The pages whose tests drive them anyway look at this there."""

from urllib.parse import quote

import pytest

from lab.designs.pytorch_questions import QUESTIONS
from tests.support import in_full, settled

SIZES = ((1280, 720), (1024, 768))
# path -> what is pressed first (none: all is there at once), and what is then to be seen with it
PAGES = {
    "": ("Run backward pass", [".stage", ".ledger", "[aria-label=a]", "h1", "[data-testid=stButtonGroup]", "text=Next: an input that is used"]),
    "graph-lab?kind=Your+program": ("Run (Ctrl+Enter)", [".cm-editor", ".stage", ".ledger", "text=a.grad -2.0", "h1"]),
    "what-went-wrong?tab=spot&case=3": ("Gradient norms, 1 point", ["[data-testid=stTabs] canvas >> nth=0", "[data-testid=stRadio]", "h1"]),
    "simulate-error": ("1 Forward", [".stage", ".trap-program", "text=The closure of", "h1"]),
    "simulate-error?tab=predict": (None, ["[data-testid=stCheckbox]", "[data-testid=stBaseButton-primary]", "h1"]),
    "simulate-error?tab=life&life=f": ("A whole training step", ["[data-testid=stSlider]", "text=Now: "]),
    "what-went-wrong?failure=twice": (None, ["text=The cause", "text=The fix", "[data-testid=stAlert]", "textarea", "h1"]),
    "shapes": (None, [".words", "figure[data-grid='gradient of b'] button", "[data-testid=stTextInput]", "h1"]),
    "why-reverse-mode?tab=one&zeros=nowhere": ("Next pass", ["canvas", "text=That is a column", "text=Blue: above 0"]),
    "gradient-check": (None, ["text=h = 1 is too large", "[data-chart=curve] .picture", "[data-chart=errors] .picture", "[data-testid=stSlider]", "[data-testid=stButtonGroup]", "h1"]),
    "descent": ("Step", ["section.figure .picture", "[data-testid=stButtonGroup]", "h1"]),
    "build-it-yourself?course=tensors": ("Check (Ctrl+Enter)", [".editor", ".headline", ".sentence", ".case h4", "h1"]),
    "build-it-yourself?tab=debug&program=4": ("Check (Ctrl+Enter)", [".editor", ".headline", ".sentence", ".case h4", "text=Hint 1", "h1"]),
    "for-teachers?items=scalars.add": (None, ["[data-testid=stButtonGroup]", "text=Open it as your class will", "h1"]),
    "other-engines": (None, ["table", "[data-testid=stSlider]", "text=Gradients of 6 engines"]),
    f"other-engines?tab=beside&question={quote(QUESTIONS['result'].title)}": (None, ["table", "[data-testid=stCode]", "text=This engine: 6", "text=PyTorch: ?", "[data-testid=stNumberInput]", "h1"]),
    "build-it-yourself?tab=ask&question=classic&answer=21": ("Check", ["text=It is 31, not 21", "text=See it happen", "h1"]),
}  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_action_result_and_explanation_are_in_the_window_together(tab, app_url, path):
    action, results = PAGES[path]
    page = tab(width=SIZES[0][0], height=SIZES[0][1])
    page.goto(f"{app_url}/{in_full(path)}")
    page.get_by_role("heading", level=1).wait_for()
    settled(page)
    if action:
        button = page.get_by_role("button", name=action)
        button.wait_for()
        first = button.bounding_box()
        assert first["y"] + first["height"] <= SIZES[0][1]
        button.click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            for result in results:
                found = (
                    page.locator(f"{result} >> visible=true").last if result != "table" else page.locator(result).first
                )
                found.wait_for()
                box = found.bounding_box()
                assert box["x"] >= 0, result
                assert box["y"] >= 0, (result, box)
                assert box["x"] + box["width"] <= width, (result, box)
                assert box["y"] + box["height"] <= height, (result, width, box)


ON_A_PHONE = {  # path -> what is pressed, and the first line of the answer
    "": ("Run backward pass", ".sentence"),
    "simulate-error": ("1 Forward", "text=The closure of"),
    "simulate-error?tab=life&life=f": ("A whole training step", "text=Now: "),
    "why-reverse-mode?tab=one&zeros=nowhere": ("Next pass", "text=That is a column"),
    "what-went-wrong?tab=code": ("An example", "text=findings in"),
}


@pytest.mark.parametrize("path", ON_A_PHONE)
def test_on_a_phone_the_answer_comes_into_the_window_with_the_press(open_page, path):
    action, answer = ON_A_PHONE[path]
    page = open_page(path, width=360, height=740, reduced_motion="reduce")
    page.locator(".project-bar").wait_for(state="attached")
    page.get_by_role("button", name=action).first.click()
    found = page.locator(f"{answer} >> visible=true").last
    found.wait_for()
    settled(page)
    assert 0 <= found.bounding_box()["y"] <= 700


@pytest.mark.parametrize(
    "path", ["why-reverse-mode?tab=curious&topic=Depth", "why-reverse-mode?tab=curious&topic=A chain of functions"]
)
def test_before_the_guess_the_picture_stands_beside_it_and_fills_the_rest_of_the_width(tab, app_url, path):
    for width, height in SIZES:
        page = tab(width=width, height=height)
        page.goto(f"{app_url}/{in_full(path)}")
        picture = page.locator("[data-testid=stGraphVizChart] svg")
        picture.wait_for()
        settled(page)
        box = picture.bounding_box()
        question = (
            page.locator("[data-testid=stMain] [data-testid=stButtonGroup] >> visible=true").nth(1).bounding_box()
        )
        text = page.locator("[data-testid=stMainBlockContainer] h1").bounding_box()
        assert abs(box["y"] - question["y"]) < 40
        assert box["x"] >= question["x"] + question["width"]
        assert box["x"] + box["width"] >= text["x"] + text["width"] - 40
        assert box["width"] >= 0.4 * width


PHONE = (360, 740)
BEGINS = {  # path -> what is pressed or moved, and what comes of it: on a phone both begin in the window
    "what-went-wrong?tab=spot&case=3": (
        "[data-testid=stButton] >> text=Gradient norms, 1 point",
        "[data-testid=stTabs] canvas",
    ),
    "other-engines": ("[data-testid=stSlider] >> nth=0", "table >> nth=0"),
}


def test_on_a_phone_start_shows_its_picture_at_once(tab, app_url):
    page = tab(width=PHONE[0], height=PHONE[1])
    page.goto(app_url)
    page.locator(".stage svg").first.wait_for()
    settled(page)
    stage, words = page.locator(".stage").bounding_box(), page.locator(".ledger .sentence").bounding_box()
    assert stage["y"] + stage["height"] <= PHONE[1]
    assert words["y"] + words["height"] <= PHONE[1]  # what is said of it, too


@pytest.mark.flow
def test_on_a_phone_the_graph_lab_shows_its_picture_and_then_all_of_a_step(tab, app_url):
    page = tab(width=PHONE[0], height=PHONE[1])
    page.goto(f"{app_url}/{in_full('graph-lab?stage=backward&event=19')}")
    page.locator(".stage svg").first.wait_for()
    settled(page)
    boxes = [page.locator(part).bounding_box() for part in (".controls", ".stage", ".ledger")]
    assert boxes[1]["y"] < 500  # a third of the window is for the picture, without scrolling
    assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
    assert boxes[2]["y"] + boxes[2]["height"] - boxes[0]["y"] <= PHONE[1]  # what is pressed, the picture, its words


def test_on_a_phone_what_comes_of_it_begins_in_the_window_and_sums_are_not_folded(tab, app_url):
    page = tab(width=PHONE[0], height=PHONE[1])
    for path, parts in BEGINS.items():
        page.goto(f"{app_url}/{in_full(path)}")
        for part in parts:
            found = page.locator(part).first
            found.wait_for()
            settled(page)
            assert found.bounding_box()["y"] < PHONE[1] - 50, (path, part)
    page.goto(f"{app_url}/{in_full('descent?steps=11')}")
    cells = page.locator("table", has_text="θ − update").locator("td")
    cells.first.wait_for()
    settled(page)
    assert max(cell["height"] for cell in (one.bounding_box() for one in cells.all())) < 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
