"""A teacher's list: what a link carries comes out as it went in."""

import re
from urllib.parse import quote_plus, urlencode

import pytest

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.pages import BY_FILE


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
    query = urlencode({"name": "Monday & more", "set": assignment_link.written(["scalars/add", "by-hand"])})
    assert assignment_link.keys_of_link(f" https://lab.example/?{query}\n") == ("scalars/add", "by-hand")
    for link in ("", "https://lab.example/", "https://lab.example/?set=", "http://[", "?set=x"):
        with pytest.raises(ValueError, match="carries no list"):
            assignment_link.keys_of_link(link)
