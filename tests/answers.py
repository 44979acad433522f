"""A course's reference as a learner's file that grows task by task, and right answers in other styles."""

from pathlib import Path

import practice

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
