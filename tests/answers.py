"""A course's reference as a learner's file that grows task by task, and right answers in other styles."""

import contextlib
from pathlib import Path

import practice
from lab.practice import checker, process_pool

HERE = Path(__file__).parent
COURSES_FOLDER = Path(practice.__file__).parent


def grown(course, count):
    """A file in which the first `count` tasks are solved."""
    return course.grown(course.reference, count)


def unusual(course):
    """Files with right answers that look different from the reference."""
    return sorted((HERE / "unusual" / course.folder.relative_to(COURSES_FOLDER)).glob("*.py"))


def edited(course, edits):
    """The reference with these edits: pairs of a piece that stands there once, and what stands there instead."""
    text = course.reference
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class JudgeHere:
    """A judge in this process, with a runner."""

    def __init__(self, runner):
        self.runner = runner
        self.stop = runner.stop

    @property
    def output(self):
        return self.runner.output

    def check(self, course, key, source, seed, begins):
        return checker.check(course, key, source, self.runner, seed, begins)


@contextlib.contextmanager
def judge_here():
    with process_pool.runner() as runner:
        yield JudgeHere(runner)
