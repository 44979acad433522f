"""Each place that the search leads to is a page in a state that the page understands."""

import pytest

from lab.lessons.concepts import CONCEPTS
from lab.lessons.glossary import TERMS
from lab.lessons.pages import BY_PATH, PAGES
from tests.pages.conftest import address, app, run

PLACES = {(thing.path, tuple(thing.query.items())) for thing in (*CONCEPTS, *TERMS.values())}
PLACES |= {(page.path, ((page.tab, name),)) for page in PAGES for name in page.tabs}


@pytest.mark.sample(12)
@pytest.mark.parametrize(("path", "query"), sorted(PLACES), ids=lambda part: part if isinstance(part, str) else "")
def test_a_place_opens_in_its_state(path, query):
    page = BY_PATH[path]
    at = run(app(page.file), **dict(query))
    assert not [note.value for note in at.info if "does not fit" in note.value]
    said = address(at)
    for name, value in query:
        value = page.tabs.get(value, value) if page.key and name == page.tab else value
        if name in said or not page.key:
            written = said.get(name, value)
            assert name in ("stage", "event") or written.replace(" ", "") == value.replace(" ", ""), name
        else:  # left out, because it is what the page begins with
            assert value in offered(at, f"{page.key}-{name}"), name


def offered(at, key):
    """The choices of a widget, as its page names them."""
    if key.endswith("-tab"):
        return [tab.label for tab in at.tabs]
    return [
        option for widget in (*at.selectbox, *at.segmented_control) if widget.key == key for option in widget.options
    ]
