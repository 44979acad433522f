"""Debug these without a browser: the list, the editor's file, a check that fails, one that passes, what is then said."""

import pytest

from lab.failures.catalogue import FAILURES as CATALOGUE
from lab.lessons.pages import BY_FILE
from lab.practice import isolation
from pages.parts.practice import exercise
from practice.debug import FAILURES, PROGRAMS
from tests.answers import judge_here
from tests.pages.conftest import app, press, progress, run, texts
from tests.pages.test_build_it_yourself import shown

needs_processes = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
NUMBER, PROGRAM = next((n, program) for n, program in enumerate(PROGRAMS, 1) if program.key == "order")


def opened(**address):
    return run(app("pages/build_it_yourself.py"), **{"tab": "debug"} | address)


def check(at, text):
    """What the browser does at a check: AppTest runs no callback of a component."""
    begun = exercise.Checking(PROGRAM, PROGRAM.key, text, 0, judge_here)
    at.session_state[f"exercise {PROGRAM.key} checking"] = begun
    at.run()
    assert not at.exception


def test_the_page_begins_with_a_program_and_says_no_failure():
    at = opened()
    assert at.header[0].value == f"1. {PROGRAMS[0].title}"
    editor = shown(at)
    assert (editor["starter"], editor["file"]) == (PROGRAMS[0].starter, "debug.py")
    assert editor["again"] == "Reset the program"
    (row,) = progress(at, "tasks")
    assert (row["course"], row["now"], len(row["tasks"])) == ("debug", PROGRAMS[0].key, len(PROGRAMS))
    assert not at.success


@needs_processes
def test_a_program_is_checked_mended_and_its_failure_named():
    at = opened(program=NUMBER)
    check(at, PROGRAM.starter)
    # The sentence does not say why: that is for the learner to find.
    assert shown(at)["result"]["sentence"] == "`w` comes out as in the program that you found."
    mistake = PROGRAM.tasks[0].mistakes[1]
    check(at, PROGRAM.with_mistake(mistake))
    assert shown(at)["result"]["sentence"] == mistake.sentence
    assert not at.success
    check(at, PROGRAM.reference)
    assert shown(at)["result"]["headline"] == f"{PROGRAM.title}: passed."
    assert FAILURES["order"].name in texts(at.success)
    assert progress(at, "note")[0]["tasks"] == ["debug/order"]
    press(at, "debug next")
    assert at.header[0].value == f"1. {PROGRAMS[0].title}"


def test_the_program_can_be_opened_by_an_address_that_does_not_name_the_failure():
    at = opened(program=NUMBER)
    hints = at.button_group(key=f"build-hint_program{NUMBER}")
    hints.set_value(hints.options[-1]).run()
    assert at.code[0].value == PROGRAM.reference.strip()
    assert opened(program=NUMBER, **{f"hint_program{NUMBER}": hints.options[-1]}).code[0].value == at.code[0].value


@pytest.mark.exhaustive
def test_each_failure_is_shown_at_a_place_that_takes_its_address():
    assert FAILURES.keys() == {program.key for program in PROGRAMS}
    for failure in FAILURES.values():
        assert failure.place.file in BY_FILE
        at = run(app(failure.place.file), **failure.place.query)
        assert "does not fit" not in texts(at.info), failure


def test_each_failure_links_to_the_program_that_has_it():
    places = [
        place
        for failure in CATALOGUE
        for place in failure.places
        if place.path == "build-it-yourself" and place.query.get("tab") == "debug"
    ]
    assert places
    for place in places:
        at = opened(**place.query)
        assert not at.info
        assert at.session_state["build-program"] == 1 + [one.key for one in PROGRAMS].index(place.query["program"])
