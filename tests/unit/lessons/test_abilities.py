"""What a visitor can do: each line needs deeds that there are, and each deed shows something."""

from lab.lessons.abilities import ABILITIES, DEEDS
from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE
from practice import COURSES
from practice.debug import PROGRAMS
from practice.questions import QUESTIONS


def test_each_needs_deeds_that_there_are():
    assert len({ability.text for ability in ABILITIES}) == len(ABILITIES) >= 15
    for ability in ABILITIES:
        assert ability.needs
        assert set(ability.needs) <= DEEDS.keys(), ability
        assert len(set(ability.needs)) == len(ability.needs)
    assert {deed.file for deed in DEEDS.values()} <= BY_FILE.keys()


def test_each_card_question_task_and_program_shows_something():
    needed = {key for ability in ABILITIES for key in ability.needs}
    assert {card.key for card in CARDS} <= needed
    assert {f"questions/{question.key}" for question in QUESTIONS} <= needed
    assert {f"{course.key}/{task.key}" for course in COURSES.values() for task in course.tasks} <= needed
    assert {f"debug/{program.key}" for program in PROGRAMS} <= needed
    assert needed == DEEDS.keys()
