"""Every page and tab as it is opened, on a laptop and on a phone: all of it can be read and hit, and what it is about
stands in the window."""

import pytest

from tests.layout import NAMES, PLACES, look, opened

FINE = {"low": [], "small": [], "cut": [], "overlap": [], "wide": 0, "below": []}


@pytest.mark.parametrize(("known", "tab_name"), PLACES, ids=NAMES)
def test_a_page_can_be_read_and_hit_and_needs_no_scrolling(tab, app_url, known, tab_name):
    page = tab(width=1280, height=720)
    opened(page, app_url, known, tab_name)
    assert look(page) == FINE
    page.set_viewport_size({"width": 360, "height": 740})
    on_a_phone = look(page, drawn=10)  # a picture is drawn smaller, and can be made larger
    del on_a_phone["below"]
    assert on_a_phone == {name: fault for name, fault in FINE.items() if name in on_a_phone}
