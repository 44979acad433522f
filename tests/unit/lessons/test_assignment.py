"""A teacher's set: what a link carries comes out as it went in, and what it begins with is a page of the lab."""

import re
from urllib.parse import quote_plus, urlencode

import pytest

from lab.lessons import assignment_link
from lab.lessons.assignment import CONTROLS, ITEMS
from lab.lessons.pages import BY_FILE
from lab.ui.starting_point import beginning, shortened


def test_everything_to_do_goes_through_a_link_unescaped():
    text = assignment_link.written(ITEMS)
    assert sorted(assignment_link.read(text)) == sorted(ITEMS)
    assert quote_plus(text) == text
    assert len(text) < 2000  # all of it; what a class gets is a tenth
    assert {item.file for item in ITEMS.values()} <= BY_FILE.keys()
    assert all(re.fullmatch(r"[\w/-]+", key) for key in ITEMS)


def test_order_stays_and_doubles_go():
    assert assignment_link.read("scalars.value.add~cards.by-hand~scalars.add") == (
        "scalars/value",
        "scalars/add",
        "by-hand",
    )
    assert assignment_link.read("scalars.gone~nonsense~~.~x.") == ("scalars/gone",)
    assert assignment_link.written(()) is None
    with pytest.raises(ValueError, match="too long"):
        assignment_link.read("a." + "b" * assignment_link.MAX_TEXT)


def test_the_keys_are_read_out_of_a_whole_link():
    query = urlencode(
        {"name": "Monday & more", "set": assignment_link.written(["scalars/add", "by-hand"]), "hide": "hints"}
    )
    assert assignment_link.of_link(f" https://lab.example/?{query}\n") == ("scalars/add", "by-hand")
    for link in ("", "https://lab.example/", "https://lab.example/?set=", "http://[", "?set=x"):
        with pytest.raises(ValueError, match="carries no list"):
            assignment_link.of_link(link)


@pytest.mark.parametrize(
    ("text", "path", "query"),
    [
        ("a*b + a", "graph-lab", {"expression": "a*b + a"}),
        ("http://localhost:8501/graph-lab?expression=a*b&in_a=2", "graph-lab", {"expression": "a*b", "in_a": "2"}),
        ("https://lab.example/lab/descent?surface=ravine", "descent", {"surface": "ravine"}),
        ("https://lab.example/faults", "faults", {}),
        ("https://lab.example/graph-lab?set=scalars.add&name=My+own&hide=try&in_a=2", "graph-lab", {"in_a": "2"}),
        ("graph-lab?expression=a%2Bb", "graph-lab", {"expression": "a+b"}),
    ],
)
def test_a_set_begins_with_a_page_or_an_expression(text, path, query):
    page, found = beginning(text)
    assert (page.path, found) == (path, query)
    assert beginning(shortened(text)) == (page, query)


@pytest.mark.parametrize("text", ["", "a +", "https://elsewhere.example/x?y=1", "http://[", "x" * 5000, "javascript:1"])
def test_what_is_no_beginning_is_a_sentence(text):
    with pytest.raises(ValueError, match=r"^This is .*\.$"):
        beginning(text)


def test_what_can_be_hidden_has_words():
    assert set(CONTROLS) == {"hints", "lines", "reveal", "try"}
