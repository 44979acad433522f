"""Each place that the search, a failure, a question or a program leads to is a page in a state that it understands."""

import pytest

from lab.failures import FAILURES
from lab.lessons.cards import CARDS
from lab.lessons.concepts import CONCEPTS
from lab.lessons.glossary import TERMS
from lab.lessons.pages import BY_FILE, BY_PATH, PAGES
from lab.ui import expression_box
from pages.parts import debug_these
from practice.debug import FAILURES as HIDDEN
from practice.questions import QUESTIONS
from tests.pages.conftest import address, app, run

TRIED = [place for failure in FAILURES for place in failure.places]
PROVED = [thing.place for thing in (*QUESTIONS, *HIDDEN.values())]
PLACES = {(thing.path, tuple(thing.query.items())) for thing in (*CONCEPTS, *TERMS.values(), *TRIED)}
PLACES |= {(BY_FILE[place.file].path, tuple(place.query.items())) for place in (*PROVED, *CARDS)}
PLACES |= {(page.path, ((page.tab, name),)) for page in PAGES for name in page.tabs}


@pytest.mark.sample(12)
@pytest.mark.parametrize(("path", "query"), sorted(PLACES), ids=lambda part: part if isinstance(part, str) else "")
def test_a_place_opens_in_its_state(path, query):
    page = BY_PATH[path]
    at = run(app(page.file), **dict(query))
    assert not [note.value for note in at.info if "does not fit" in note.value]
    said = address(at)
    for name, value in query:
        assert name.startswith(("in_", "leaf_")) or f"{page.key}-{name}" in at.session_state or not page.key, name
        value = page.tabs.get(value, value) if page.key and name == page.tab else value
        if name in said or not page.key:
            written = said.get(name, value)
            if name in ("stage", "event") or written.replace(" ", "") == value.replace(" ", ""):
                continue
            key = f"{page.key}-{name}"  # written in another way, which opens the same
            assert run(app(page.file), **said).session_state[key] == at.session_state[key], name
        elif name.startswith("in_"):  # left out, because it is what the page begins with
            kept = f"{page.key} remembered" if page.key == "graph" else f"{page.key} start"
            assert at.session_state[kept][name.removeprefix("in_")] == expression_box.value(value), name
        else:
            assert value in offered(at, f"{page.key}-{name}"), name


def offered(at, key):
    """The choices of a widget, as its page and its links name them."""
    if key.endswith("-tab"):
        return [tab.label for tab in at.tabs]
    choices = [
        option for widget in (*at.selectbox, *at.segmented_control) if widget.key == key for option in widget.options
    ]
    return [*choices, str(at.session_state[key]), *(debug_these.NUMBERS if key == debug_these.PROGRAM.key else ())]
