"""The questions: each answer is true of the engine that runs, each wrong one is told why, and wrong ones come back."""

import itertools

import pytest

from lab.practice.questions import (
    AFTER_WRONG,
    BY_KEY,
    count_repeats,
    judge,
    lines,
    next_question,
    outcome,
    value,
)
from lab.traps.faults.broken_engines import Overwrites, ReluWrongSide, SkipsUnbroadcast
from model import Tensor
from practice.questions import QUESTIONS, TOPICS, ChoiceQuestion, NumberQuestion

CHOICES, NUMBERS = (
    [question for question in QUESTIONS if isinstance(question, kind)] for kind in (ChoiceQuestion, NumberQuestion)
)


def right(question):
    return next(str(at) for at, option in enumerate(question.options) if not option.why_not)


def test_there_are_more_than_two_dozen_of_every_kind_and_topic():
    assert len(QUESTIONS) >= 36
    assert len(BY_KEY) == len(QUESTIONS)
    for topic in ("Shapes", "Training"):
        assert sum(question.topic == topic for question in QUESTIONS) >= 8
    assert {question.topic for question in QUESTIONS} == {*TOPICS}
    assert min(map(len, (CHOICES, NUMBERS))) >= 15


@pytest.mark.parametrize("question", CHOICES, ids=lambda question: question.key)
def test_one_option_is_right_and_each_other_is_told_why_not(question):
    judged = [judge(question, str(at)) for at in range(len(question.options))]
    assert sum(one.right for one in judged) == 1
    assert len(question.options) >= 3
    for one in judged:
        assert one.right or one.comment.endswith(".")


def test_the_right_option_does_not_always_stand_in_the_same_place():
    assert {right(question) for question in CHOICES} == {"0", "1", "2"}


@pytest.mark.parametrize("question", NUMBERS, ids=lambda question: question.key)
def test_a_number_is_that_of_the_engine_and_each_known_mistake_is_named(question):
    due = value(question)
    assert judge(question, repr(due)).right
    slips = [slip.value(Tensor) for slip in question.slips]
    assert len({due, *slips}) == len(slips) + 1
    for slip, wrong in zip(question.slips, slips, strict=True):
        judged = judge(question, repr(wrong))
        assert not judged.right
        assert judged.comment.endswith(slip.why_not)
    assert judge(question, "987").comment.endswith("not 987.")


@pytest.mark.parametrize(
    ("key", "engine"),
    [
        ("used-twice", Overwrites),
        ("classic", Overwrites),
        ("relu-at-0", ReluWrongSide),
        ("bias-gradient", SkipsUnbroadcast),
        ("not-zeroed", Overwrites),
    ],
)
def test_with_a_broken_rule_another_number_is_right(key, engine):
    question = BY_KEY[key]
    assert value(question, engine) != value(question)
    assert judge(question, repr(value(question, engine)), engine).right
    assert not judge(question, repr(value(question)), engine).right


@pytest.mark.parametrize("typed", ["2000", "2,000", "2 000", "2\u202f000", " 2000.0", "4000/2"])
def test_a_number_may_be_typed_in_several_ways(typed):
    assert judge(BY_KEY["central-passes"], typed).right


@pytest.mark.parametrize("typed", ["0.25", "0,25", "1/4", ".25"])
def test_so_may_a_fraction(typed):
    assert judge(BY_KEY["steepest-sigmoid"], typed).right


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("classic", "many"), ("classic", "1/0"), ("classic", "nan"), ("classic", " "), ("why-add", ""),
        ("define-by-run", "7"), ("define-by-run", "-1"), ("define-by-run", "x"),
    ],
)  # read by rows  # fmt: skip
def test_what_is_no_answer_is_one_sentence(key, typed):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        judge(BY_KEY[key], typed)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_the_lines_that_are_shown_are_those_that_ran(question):
    came = outcome(question)
    assert bool(came) == bool(lines(question)) == (question.run is not None)
    assert "return" not in lines(question)
    if came.endswith("."):
        assert "Error: " in came or "node" in came or "backward step" in came


def test_errors_are_the_engines_own():
    for key, error in (
        ("backward-twice", "freed its graph"),
        ("many-numbers", "3 elements"),
    ):
        assert error in outcome(BY_KEY[key])


# ---------------------------------------------------------------- the order

KEYS = list("abcdefghij")


def played(answers, keys=KEYS, seed=0):
    """The questions that come when they are answered so; None at the end."""
    history, asked = [], []
    for answer in answers:
        key = next_question(keys, seed, history)
        asked.append(key)
        history.append((key, answer))
    return asked, next_question(keys, seed, history)


def test_right_answers_go_through_all_of_them_once():
    assert played([True] * len(KEYS)) == (KEYS, None)


def test_a_wrong_one_comes_back_after_a_few_others_until_it_was_right_twice():
    asked, after = played([False, *[True] * (len(KEYS) + 1)])
    places = [at for at, key in enumerate(asked) if key == "a"]
    assert len(places) == 3
    assert places[1] == AFTER_WRONG + 1
    assert places[2] > places[1] + AFTER_WRONG
    assert after is None


def test_the_last_one_that_is_wrong_comes_back_at_once_and_is_counted():
    history = [("a", False)]
    assert next_question(["a"], 0, history) == "a"
    assert count_repeats(["a"], 0, history) == 1
    assert count_repeats(["a"], 0, [*history, ("a", True)]) == 1
    assert count_repeats(["a"], 0, [*history, ("a", True), ("a", True)]) == 0


def test_another_seed_is_another_order_and_the_same_seed_the_same():
    orders = {seed: tuple(played([True] * len(KEYS), seed=seed)[0]) for seed in range(5)}
    assert len({*orders.values()}) == 5
    assert all(sorted(order) == KEYS for order in orders.values())
    assert orders[3] == tuple(played([True] * len(KEYS), seed=3)[0])


def test_what_was_answered_of_another_topic_changes_nothing():
    history = [("x", False), ("y", True)]
    assert next_question(KEYS, 0, history) == "a"
    assert count_repeats(KEYS, 0, history) == 0


def test_every_course_of_answers_ends():
    for answers in itertools.product([True, False], repeat=6):
        history = []
        for answer in itertools.chain(answers, itertools.repeat(True)):
            if (key := next_question(KEYS, 0, history)) is None:
                break
            history.append((key, answer))
        assert len(history) <= len(KEYS) + 2 * answers.count(False)
        assert {key for key, _ in history} == {*KEYS}
