"""A report in words: what passed and what comes next; what failed, on what, and what came of it."""

import json

import numpy as np
import pytest

from lab.practice.checker import CheckReport, check
from lab.practice.mistakes import FailedCheck
from lab.practice.render_report import render_report, shown
from lab.practice.runner import LocalRunner, Problem
from lab.text import strict_json
from practice.debug import PROGRAMS
from practice.scalars import COURSE
from tests.unit.practice.test_checker import course as small  # noqa: F401


def rendered_report(course, key, source, printed=""):
    report = check(course, key, source, LocalRunner(), 0)
    rendered = render_report(course, key, report, printed)
    assert json.loads(strict_json(rendered)) == rendered
    return rendered


def test_what_passed_says_what_comes_next(small):  # noqa: F811
    first = rendered_report(small, "double", small.reference)
    assert (first["passed"], first["headline"]) == (True, "Twice: passed. Next: A bias.")
    assert first["checks"] == [{"name": "Any number", "passed": True}]
    assert rendered_report(small, "bias", small.reference)["headline"] == "All 2 tasks are passed."


def test_a_wrong_element_is_marked_beside_what_it_should_be_and_finite_differences(small):  # noqa: F811
    wrong = small.reference.replace("grad.sum(axis=0)", "grad.sum(axis=0) + 1e-3")
    found = rendered_report(small, "bias", wrong)
    assert found["headline"] == "A bias: “The gradient of b” fails."
    assert found["program"].splitlines()[-1] == "db"
    assert {value["name"] for value in found["inputs"]} == {"x", "b", "v"}
    got, right, numerical = found["values"]
    assert [value["words"] for value in (got, right, numerical)] == [
        "with your code",
        "should be",
        "by finite differences",
    ]
    assert got["cells"][0][0]["wrong"]
    assert not right["cells"][0][0]["wrong"]
    assert got["cells"][0][0]["text"] != right["cells"][0][0]["text"] == numerical["cells"][0][0]["text"]


def test_an_input_that_the_case_does_not_read_is_not_shown():
    """The case draws a weight w for other tasks; here w is what comes out, from a start at 0."""
    course = next(program for program in PROGRAMS if program.key == "order")
    found = rendered_report(course, "order", course.starter)
    assert found["program"].splitlines()[0] == "w = trained(batches, lr)"
    assert {value["name"] for value in found["inputs"]} == {"batches", "lr"}


def test_what_is_right_in_a_list_that_is_too_short_is_not_marked():
    check_ = COURSE.tasks[0].checks[0]
    for got, marked in (([1.0], [False]), ([1.0, 3.0], [False, True])):
        wrong = np.array(marked) if any(marked) else None
        failure = FailedCheck("value", check_, {}, "y", got, [1.0, 2.0, 3.0], wrong=wrong)
        found = render_report(COURSE, "value", CheckReport({"value": False}, {check_.name: False}, failure), "")[
            "values"
        ][0]
        assert [cell["wrong"] for cell in found["cells"][0]] == marked
        assert found["wrong"]


def test_a_list_without_end_is_told_without_end():
    nested = []
    for _ in range(10_000):
        nested = [nested]
    assert shown("v", nested)["text"] == "[[[[[[…]]]]]]"


def test_a_known_mistake_is_said_by_its_sentence(small):  # noqa: F811
    mistake = small.tasks[1].mistakes[0]
    assert rendered_report(small, "bias", small.with_mistake(mistake))["sentence"] == mistake.sentence


def test_an_earlier_task_that_fails_is_named(small):  # noqa: F811
    found = rendered_report(small, "bias", small.reference.replace("2 * x", "2 * x + 1"))
    assert found["headline"] == "An earlier task does not pass. Twice: “Any number” fails."


def test_an_exception_is_told_with_its_line(small):  # noqa: F811
    found = rendered_report(small, "double", "def double(x):\n    return x.twice\n", "hello\n")
    assert found["sentence"].startswith("AttributeError: ")
    assert (found["line"], found["column"], found["printed"]) == (2, None, "hello\n")
    assert [value["words"] for value in found["values"]] == ["should be"]
    found = rendered_report(small, "double", "def double(x:\n")
    assert (found["headline"], found["line"]) == ("Python cannot run your file.", 1)
    assert found["sentence"].startswith("SyntaxError: ")
    assert found["column"]


def test_a_module_that_only_the_learner_has_is_explained(small):  # noqa: F811
    found = rendered_report(small, "double", f"from my_helpers import wrapped\n{small.reference}")
    assert found["sentence"] == (
        "ModuleNotFoundError: No module named 'my_helpers'. "
        "The check runs this file alone, with Python's own modules and NumPy."
    )


def test_a_process_that_was_stopped_is_told(small):  # noqa: F811
    report = CheckReport({"double": False}, {"Any number": None}, stopped="It did not end.", line=3)
    found = render_report(small, "double", report, "")
    assert found["headline"] == "Twice: “Any number” did not finish."
    assert (found["passed"], found["sentence"], found["line"]) == (False, "It did not end.", 3)


def test_numbers_have_as_many_digits_as_it_takes_to_tell_them_apart():
    task = COURSE.tasks[0]
    wrong = np.array([False, True])
    failure = FailedCheck(
        task.key, task.checks[0], {}, "y", np.array([1.0, 1.00001234]), np.array([1.0, 1.00001]), wrong=wrong
    )
    found = render_report(COURSE, task.key, CheckReport({task.key: False}, {task.checks[0].name: False}, failure), "")
    got, right = ([cell["text"] for cell in value["cells"][0]] for value in found["values"])
    assert got[0] == right[0] == "1"
    assert got[1] != right[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-0.0, "0"),
        (float("nan"), "nan"),
        (True, "True"),
        (None, "None"),
        ("<b>", "'<b>'"),
        (7, "7"),
        ({"type": "Value"}, "something of type Value"),
        ({"a": 1}, "{'a': 1}"),
        ([], "[]"),
        ([[1, 2], [3]], "[[1, 2], [3]]"),
        (np.zeros((2, 2, 2)), "an array of shape (2, 2, 2): 0, 0, 0, 0, 0, 0, 0, 0"),
        (np.arange(100), "an array of shape (100,): 0, 1, 2, 3, 4, 5, 6, 7, …"),
        ("x" * 5000, "'" + "x" * 999 + "…"),
    ],
)
def test_a_value_as_text(value, text):
    assert shown("v", value)["text"] == text


def test_values_of_one_and_two_axes_have_cells():
    table = shown("v", np.array([[1.5, 2], [3, np.inf]]), wrong=np.array([[False, True], [False, False]]))
    assert [[cell["text"] for cell in row] for row in table["cells"]] == [["1.5", "2"], ["3", "inf"]]
    assert [[cell["wrong"] for cell in row] for row in table["cells"]] == [[False, True], [False, False]]
    assert table["shape"] == "shape (2, 2)"
    assert shown("v", [1, 2.5])["shape"] == "a list of 2"
    other = shown("v", np.ones(3), wrong=np.array(True))  # of another shape than it should have
    assert all(cell["wrong"] for cell in other["cells"][0])


def test_a_problem_without_a_message_is_its_kind():
    assert (
        render_report(COURSE, "value", CheckReport({"value": False}, problem=Problem("KeyError", "")), "")["sentence"]
        == "KeyError"
    )
