"""Skills: each needs achievements that exist, and each achievement shows a skill."""

from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE
from lab.lessons.skills import ACHIEVEMENTS, SKILLS
from practice import COURSES
from practice.debug import PROGRAMS
from practice.questions import QUESTIONS


def test_each_needs_achievements_that_exist():
    assert len({skill.text for skill in SKILLS}) == len(SKILLS) >= 15
    for skill in SKILLS:
        assert skill.needs
        assert set(skill.needs) <= ACHIEVEMENTS.keys(), skill
        assert len(set(skill.needs)) == len(skill.needs)
    assert {achievement.file for achievement in ACHIEVEMENTS.values()} <= BY_FILE.keys()


def test_each_card_question_task_and_program_shows_something():
    needed = {key for skill in SKILLS for key in skill.needs}
    assert {card.key for card in CARDS} <= needed
    assert {f"questions/{question.key}" for question in QUESTIONS} <= needed
    assert {f"{course.key}/{task.key}" for course in COURSES.values() for task in course.tasks} <= needed
    assert {f"debug/{program.key}" for program in PROGRAMS} <= needed
    assert needed == ACHIEVEMENTS.keys()
