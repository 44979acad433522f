"""The ladder "Tensors": its reference passes, its mistakes are named, its unusual answers pass."""

import pytest

from lab.practice.checker import Here, check
from practice.tensors import FOLDER, LADDER

MISTAKES = [(task.key, mistake) for task in LADDER.tasks for mistake in task.mistakes]
UNUSUAL = sorted((FOLDER / "unusual").glob("*.py"))


def test_the_reference_passes():
    report = check(LADDER, LADDER.tasks[-1].key, LADDER.reference, Here(), 0)
    assert report, report.failure


@pytest.mark.parametrize(("key", "mistake"), MISTAKES, ids=[f"{key}: {mistake.key}" for key, mistake in MISTAKES])
def test_each_mistake_is_named(key, mistake):
    report = check(LADDER, key, LADDER.with_mistake(mistake), Here(), 1)
    assert report.failure
    assert (report.failure.task, report.failure.mistake) == (key, mistake)


@pytest.mark.parametrize("path", UNUSUAL, ids=lambda path: path.stem)
def test_unusual_answers_pass(path):
    report = check(LADDER, LADDER.tasks[-1].key, path.read_text("utf-8"), Here(), 2)
    assert report, report.failure
