"""The programs to debug: what is found there fails, under the name of its failure; who repairs it passes."""

import numpy as np
import pytest

from lab.practice.checker import LocalRunner, check
from lab.practice.render_report import render_report
from practice.debug import FAILURES, PROGRAMS
from tests.answers import unusual

BY_KEY = {program.key: program for program in PROGRAMS}


def checked(program, text):
    return check(program, program.tasks[0].key, text, LocalRunner(), seed=7)


def test_there_are_twelve():
    assert len(BY_KEY) == len(PROGRAMS) == 12


@pytest.mark.sample(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=BY_KEY)
def test_what_is_found_fails_by_its_first_mistake(program):
    report = checked(program, program.starter)
    assert report.failure.mistake == program.tasks[0].mistakes[0]
    said = render_report(program, program.tasks[0].key, report, "")["sentence"]
    assert report.failure.mistake.sentence not in said
    assert report.failure.problem or said == f"`{report.failure.show}` comes out as in the program that you found."


@pytest.mark.sample(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=BY_KEY)
def test_repairs_pass_and_wrong_repairs_are_named(program):
    repairs = [program.reference, *(path.read_text("utf-8") for path in unusual(program))]
    assert len(repairs) >= 4
    assert [bool(checked(program, text)) for text in repairs] == [True] * len(repairs)
    mistakes = program.tasks[0].mistakes
    assert len(mistakes) >= 5
    named = {mistake.key: checked(program, program.with_mistake(mistake)).failure.mistake for mistake in mistakes}
    assert named == {mistake.key: mistake for mistake in mistakes}
    assert len({mistake.sentence for mistake in mistakes}) == len(mistakes)


def test_the_gradient_that_is_asked_for_is_the_derivative():
    """Of three programs, the reference's numbers beside differences of a forward pass that is written out here."""
    x, w, target = np.array([1.0, 2.0]), 0.5, 0.25
    failure = checked(BY_KEY["in_place"], BY_KEY["in_place"].starter).failure
    assert set(failure.inputs) == {"x", "w", "target"}
    step = 1e-6
    differences = [
        (
            "in_place",
            "gradient_and_scaled(x, w, target)[0]",
            {"x": x, "w": w, "target": target},
            lambda w: np.sum((w * x - target) ** 2),
        ),
        ("second_backward", "gradient(x, w)", {"x": x, "w": w}, lambda w: np.sum(np.tanh(w * x) + np.tanh(w * x) ** 2)),
        (
            "softmax_twice",
            "classified(logits, labels)[1][0, 0]",
            {"logits": np.array([[w, 0.0, 1.0]]), "labels": np.array([2])},
            lambda w: np.log(np.exp([w, 0.0, 1.0]).sum()) - 1.0,
        ),
    ]
    for key, expression, inputs, loss in differences:
        here = LocalRunner()
        here.load(BY_KEY[key].reference, f"{key}.py")
        namespace = {**here._namespace, **inputs}
        np.testing.assert_allclose(
            eval(expression, namespace), (loss(w + step) - loss(w - step)) / (2 * step), rtol=1e-6
        )


def test_no_title_or_text_names_the_failure_and_each_has_one():
    """What the page shows before a program is mended: the words that would give it away."""
    given_away = (
        "in place",
        "detach",
        "zero_grad",
        "sign",
        "+=",
        "closure",
        "captur",
        "twice",
        "softmax",
        "order",
        "uphill",
    )
    for program in PROGRAMS:
        (task,) = program.tasks
        assert not [word for word in given_away if word in f"{task.title} {task.text} {program.file}".lower()]
        assert FAILURES[program.key].name.endswith(".")
    assert FAILURES.keys() == BY_KEY.keys()
    assert len({program.tasks[0].title for program in PROGRAMS}) == len(PROGRAMS)
