"""Build it yourself without a browser: courses, tasks, hints, the address; a check as the editor asks for it."""

import json

import pytest

from lab.practice import isolation
from pages.parts.practice import exercise
from practice.scalars import COURSE
from tests.answers import judge_here
from tests.pages.conftest import address, app, components, progress, run, texts

NAME = "exercise scalars"
needs_processes = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())


def opened(**address):
    return run(app("pages/build_it_yourself.py"), **address)


def shown(at):
    """What the editor was given to show."""
    (component,) = components(at, "exercise")
    return json.loads(component.proto.bytes)


def check(at, text, key="value", seen=""):
    """What the browser does at a check: AppTest runs no callback of a component."""
    at.session_state[f"{NAME} checking"] = exercise.Checking(COURSE, key, text, 0, judge_here)
    at.run()
    assert not at.exception
    return at


def test_the_page_begins_with_the_first_task():
    at = opened()
    assert at.title[0].value == "Build it yourself"
    assert at.header[0].value == "1. A number that remembers"
    assert address(at) == {}
    editor = shown(at)
    assert (editor["key"], editor["file"], editor["starter"]) == ("scalars", "scalars.py", COURSE.starter)
    assert editor["result"] is editor["working"] is None
    (tasks,) = progress(at, "tasks")
    assert [task["key"] for task in tasks["tasks"]] == [task.key for task in COURSE.tasks]
    assert tasks["now"] == "value"


def test_the_address_opens_a_task():
    at = opened(course="scalars", task="backward")
    assert at.header[0].value.startswith("4. ")
    assert opened(course="scalars", task="digits").header[0].value.startswith("1. ")  # a task of another course


def test_a_course_opens_again_at_its_last_task():
    at = opened(course="scalars", task="backward")
    for course, title in (("tensors", "1. "), ("scalars", "4. ")):
        (control,) = [one for one in at.button_group if one.key == "build-course"]
        control.set_value(course).run()
        assert at.header[0].value.startswith(title)
    assert address(at)["task"] == "backward"


def test_each_hint_can_be_opened_and_the_lines_last():
    at = opened()
    key = "build-hint_scalars1"
    *hints, solution = at.button_group(key=key).options
    assert len(hints) == len(COURSE.tasks[0].hints)
    for number, hint in enumerate(COURSE.tasks[0].hints):
        at.button_group(key=key).set_value(hints[number]).run()
        assert f"**{hints[number]}.** {hint}" in texts(at.markdown)
    assert not at.code
    at.button_group(key=key).set_value(solution).run()
    assert at.code[0].value == COURSE.lines_of("value").strip("\n")
    assert opened(hint_scalars1=solution).code[0].value == COURSE.lines_of("value").strip("\n")  # after a reload
    assert not opened(hint_scalars1=solution, task="add").code  # another task has none open


@needs_processes
def test_passing_moves_on_and_is_kept():
    at = app("pages/build_it_yourself.py")
    at.session_state["path"] = "build-it-yourself"
    at = check(run(at), COURSE.reference)
    assert shown(at)["result"]["headline"] == "A number that remembers: passed. Next: Addition."
    assert at.header[0].value == "2. Addition"
    assert address(at)["task"] == "add"
    assert progress(at, "note")[0]["tasks"] == ["scalars/value"]
    check(at, COURSE.reference, "add")  # and a rule of one's own is a card of the path
    said = progress(at, "note")[0]
    assert (said["tasks"], said["done"]) == (["scalars/add", "scalars/value"], ["own-rule"])


@needs_processes
def test_a_verdict_is_shown_at_its_task_and_at_the_one_that_follows():
    at = check(opened(), COURSE.reference)
    shown_at = {}
    for task in COURSE.tasks:
        at.session_state["build-task"] = task.key
        shown_at[task.key] = bool(shown(at.run())["result"])
    assert [key for key, there in shown_at.items() if there] == ["value", "add"]


@needs_processes
def test_a_wrong_answer_stays_at_its_task_and_is_explained():
    mistake = COURSE.tasks[0].mistakes[0]
    at = check(opened(), COURSE.with_mistake(mistake))
    assert at.header[0].value.startswith("1. ")
    assert shown(at)["result"]["sentence"] == mistake.sentence
    assert not progress(at, "note") or not progress(at, "note")[0]["tasks"]


@needs_processes
def test_no_text_of_the_learner_becomes_part_of_the_page():
    nasty = "<img src=x onerror=alert(1)>**bold**"
    at = check(opened(), f"print({nasty!r})\nraise ValueError({nasty!r})\n")
    result = shown(at)["result"]
    assert nasty in result["printed"]
    assert (result["sentence"], result["line"]) == (f"ValueError: {nasty}", 2)
    for kind in (at.markdown, at.caption, at.error, at.warning, at.info, at.code, at.text, at.get("html")):
        assert nasty not in texts([element for element in kind if hasattr(element, "value")])


def test_a_server_for_several_people_runs_no_code_without_bubblewrap(monkeypatch):
    monkeypatch.setenv("TENSOR_LAB_HOSTED", "1")
    monkeypatch.setattr(isolation, "bubblewrap_works", lambda: False)
    at = opened()
    assert shown(at)["runs"] is False
    assert shown(at)["how"] == isolation.NO_BUBBLEWRAP
