"""The lessons: what their questions ask is what their runs show."""

import pytest

from lab.training.lessons import LESSONS
from train import train


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("A healthy run", "above 97 %"),
        ("Rate too high", "jump up and down"),
        ("Rate too low", "about half"),
        ("All weights zero", "the last one alone"),
        ("Vanishing gradients", "the first"),
        ("Exploding gradients", "above 100"),
        ("A layer dies", "nearly all"),
        ("Overfitting", "fall, then rise"),
        ("A noisy curve", "a little less"),
    ],
)
@pytest.mark.sample(4)
def test_a_lesson_is_answered_by_its_own_run(name, answer):
    lesson = LESSONS[name]
    records = list(train(lesson.config))
    index, sentence = lesson.judge(records)
    assert lesson.answers[index] == answer
    assert any(character.isdigit() for character in sentence)  # it gives the numbers


def test_every_lesson_asks_a_question_of_its_own():
    assert len({lesson.question for lesson in LESSONS.values()}) == len(LESSONS)
    for lesson in LESSONS.values():
        assert 2 <= len(set(lesson.answers)) == len(lesson.answers) <= 3
