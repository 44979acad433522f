"""The list of skills that a learner gains: each is ticked by completed tasks, never by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab.lessons.cards import CARDS
from lab.text import read_rows
from practice import COURSES
from practice.debug import PROGRAMS
from practice.questions import QUESTIONS


@dataclass(frozen=True)
class Achievement:
    """A thing to do: a card, question, task or program, with the page and address parameters where it starts."""

    title: str
    file: str
    query: Mapping[str, str]


ACHIEVEMENTS = MappingProxyType(
    {card.key: Achievement(card.title, card.file, card.link) for card in CARDS}
    | {
        f"questions/{question.key}": Achievement(
            f"Question: {question.text}", "pages/practise.py", {"tab": "ask", "question": question.key}
        )
        for question in QUESTIONS
    }
    | {
        course.progress_key(task.key): Achievement(
            f"Task: {task.title} ({course.title})",
            "pages/build_it_yourself.py",
            {"tab": "courses", "course": course.key, "task": task.key},
        )
        for course in COURSES.values()
        for task in course.tasks
    }
    | {
        program.progress_key(program.key): Achievement(
            f"Debug: {program.title}", "pages/practise.py", {"tab": "debug", "program": str(number)}
        )
        for number, program in enumerate(PROGRAMS, 1)
    }
)


@dataclass(frozen=True)
class Skill:
    """A skill. text: "I can ..."; needs: the keys of all ACHIEVEMENTS that it takes."""

    group: str
    text: str
    needs: tuple[str, ...]


def _skill(group: str, text: str, needs: tuple[str, ...] = (), course: str = "") -> Skill:
    tasks = COURSES[course].tasks if course else ()
    return Skill(group, text, (*needs, *(f"{course}/{task.key}" for task in tasks)))


SKILLS = tuple(_skill(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["skill"])
