"""All that a learner can do in the lab and get a tick for: cards, questions, tasks and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.lessons.cards import CARDS
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
            f"Question: {question.text}", "pages/build_it_yourself.py", {"tab": "ask", "question": question.key}
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
            f"Debug: {program.title}", "pages/build_it_yourself.py", {"tab": "debug", "program": str(number)}
        )
        for number, program in enumerate(PROGRAMS, 1)
    }
)
