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
    at = run(app(BY_PATH[path].file), **dict(query))
    assert not [note.value for note in at.info if "does not fit" in note.value]
    said = address(at)
    for name, value in query:
        if name not in ("stage", "event"):  # which the player keeps in the address
            assert said.get(name, value).replace(" ", "") == value.replace(" ", ""), name
