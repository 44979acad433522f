"""The frame: every page is registered, and opens inside the frame."""

import re
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from lab.lessons import pages
from tests.pages.conftest import ROOT, app, open_at, run, switch, texts

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__")


def test_every_page_is_registered_once():
    assert sorted(page.file for page in pages.PAGES) == [f"pages/{name}" for name in PAGES]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_a_title_and_ends_with_something_to_try(page):
    at = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    at.switch_page(f"pages/{page}").run()
    assert not at.exception
    assert len(at.title) == 1
    assert any("<b>Try this.</b>" in text.proto.body for text in at.get("html"))


PAGE = '''"""A page that nobody has written yet."""

import streamlit as st

from lab.ui import page

with page.frame("square"):
    st.title("Squares")
    n = st.slider("n", 0, 9, 3, key="square-n", bind="query-params")
    st.markdown(f"The square of {n} is {n * n}.")
'''


def test_a_new_page_is_a_file_and_a_row(tmp_path, monkeypatch):
    """What the README promises to whoever adds one: the page is in the menu, and its state in the address."""
    for name in ("app.py", "assets", "static"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "pages", tmp_path / "pages")
    (tmp_path / "pages" / "squares.py").write_text(PAGE, encoding="utf-8")
    row = pages.Page("pages/squares.py", "Squares", "numbers", "Know", "square", "What is the square of a number?")
    monkeypatch.setattr(pages, "PAGES", (*pages.PAGES, row))
    at = AppTest.from_file(tmp_path / "app.py", default_timeout=120).run()
    at.switch_page("pages/squares.py")
    at.query_params["square-n"] = "7"
    at.run()
    assert not at.exception
    assert at.markdown[-1].value == "The square of 7 is 49."
    at.slider(key="square-n").set_value(4).run()
    assert at.markdown[-1].value == "The square of 4 is 16."


WIDGETS = {
    "button", "slider", "select_slider", "selectbox", "text_area", "text_input", "number_input", "checkbox", "radio",
    "button_group", "bidi_component", "segmented_control", "multiselect", "toggle", "pills",
}  # read by rows  # fmt: skip
MOST_WORDS = 80


def in_order(block):
    """The elements of a page as they stand on it."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from in_order(child)
        else:
            yield child


@pytest.mark.sample(5)
@pytest.mark.parametrize("page", PAGES)
def test_there_is_something_to_do_before_eighty_words(page):
    at = AppTest.from_file(ROOT / f"pages/{page}", default_timeout=120).run()
    words = 0
    for element in in_order(at.main):
        if element.type in WIDGETS and not is_invisible(element):
            break
        text = re.sub(
            r"<style.*?</style>|<span role=\"tooltip\".*?</span>|<[^>]*>",
            " ",
            str(getattr(element, "value", "")),
            flags=re.S,
        )
        words += len(text.split())
    else:
        pytest.fail("There is nothing to do.")
    assert words <= MOST_WORDS


def is_invisible(element):
    """The components that stand on a page without anything to be seen of them."""
    name = getattr(element.proto, "component_name", "")
    return name.endswith(("progress", "teller"))


KEPT = [  # a page, and a widget of its with a value that is not the first
    ("descent", "slider", "descent-x", 1.5),
    ("why_reverse_mode", "segmented_control", "why-slower", "100"),
    ("other_engines", "selectbox", "engines-part", "the whole file"),
    ("shapes", "text_input", "shapes-a", "2, 1"),
    ("gradient_check", "selectbox", "check example", "a*b"),
    ("simulate_error", "selectbox", "trap-op", "exp"),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("page", "kind", "key", "value"), KEPT, ids=[kept[0] for kept in KEPT])
def test_a_page_is_found_again_as_it_was_left(page, kind, key, value):
    at = run(app("app.py"))
    switch(at, f"pages/{page}.py")
    getattr(at, kind)(key=key).set_value(value).run()
    switch(at, "pages/what_went_wrong.py")
    switch(at, f"pages/{page}.py")
    assert getattr(at, kind)(key=key).value == value


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (
            "simulate-error",
            {"op": "div", "written": "x", "route": "../..", "guard": "maybe", "number": "nan", "a0": "<b>", "step": "7"}
            | {"guess": "c", "tab": "nowhere", "mul-input": "2", "life": "lb", "rate": "inf", "cut": "uncut"},
        ),
        ("simulate-error", {"number": "1e9", "tab": "life", "rate": "9"}),
        (
            "what-went-wrong",
            {"fault": "no-such", "seed": "x", "gradient": "1", "curve": "<b>", "run": "yes", "event": "x"},
        ),
        ("what-went-wrong", {"failure": "none", "form": "9", "shape": "round"}),
        ("what-went-wrong", {"tab": "spot", "case": "x", "seen": "norms,norms", "named": "nobody"}),
        ("build-it-yourself", {"tab": "ask", "question": "nobody", "topic": "Cooking", "seed": "-1"}),
        ("build-it-yourself", {"tab": "debug", "program": "13", "hint_program1": "0.1"}),
        ("build-it-yourself", {"tab": "courses", "course": "vectors", "task": "<b>", "hint_scalars1": "999.1"}),
        ("operations", {"op": "nobody", "kind": "<b>", "draw": "1000", "x": "nan", "element": "z"}),
    ],
)
def test_a_wrong_address_shows_what_the_page_shows_without_it(path, wrong):
    at, plain = (open_at(path, **query) for query in (wrong, {"tab": wrong["tab"]} if "tab" in wrong else {}))
    assert texts(at.markdown) == texts(plain.markdown)
    assert not at.error
