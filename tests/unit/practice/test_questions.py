"""The questions: each answer is true of the engine that runs, each wrong one is told why, and wrong ones come back."""

import itertools
import re
from pathlib import Path

import pytest

from lab.practice.questions import (
    AFTER_WRONG,
    BY_KEY,
    MAX_LENGTH,
    count_repeats,
    judge,
    lines,
    next_question,
    outcome,
    value,
)
from lab.traps.faults.engines import Overwrites, ReluWrongSide, SkipsUnbroadcast
from model import Tensor
from practice.questions import QUESTIONS, TOPICS, ChoiceQuestion, NumberQuestion, TextQuestion

CHOICES, NUMBERS, TEXTS = (
    [question for question in QUESTIONS if isinstance(question, kind)]
    for kind in (ChoiceQuestion, NumberQuestion, TextQuestion)
)


# Answers in one's own words: below `# question`, a line with `+` says all that is asked for, one with `-` nothing, a part
# of it or the opposite. There is one for each way of saying a point that the patterns know.
GOOD: dict[str, list[str]] = {}
BAD: dict[str, list[str]] = {}
for line in Path(__file__).parents[2].joinpath("free_texts.txt").read_text("utf-8").splitlines():
    sign, _, text = line.partition(" ")
    if sign == "#":
        good, bad = GOOD.setdefault(text, []), BAD.setdefault(text, [])
    else:
        (good if sign == "+" else bad).append(text)


def right(question):
    return next(str(at) for at, option in enumerate(question.options) if not option.why_not)


def test_there_are_more_than_two_dozen_of_every_kind_and_topic():
    assert len(QUESTIONS) >= 40
    assert len(BY_KEY) == len(QUESTIONS)
    for topic in ("Shapes", "Training"):
        assert sum(question.topic == topic for question in QUESTIONS) >= 8
    assert {question.topic for question in QUESTIONS} == {*TOPICS}
    assert min(map(len, (CHOICES, NUMBERS, TEXTS))) >= 8
    assert {question.key for question in TEXTS} == GOOD.keys() == BAD.keys()


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


@pytest.mark.parametrize("question", TEXTS, ids=lambda question: question.key)
def test_a_good_text_has_every_point_and_an_empty_phrase_has_none(question):
    assert len(question.points) >= 2
    for text in (question.because, *GOOD[question.key]):
        assert judge(question, text).missing == ()
        assert judge(question, text).right
    judged = judge(question, "I do not know, sorry")
    assert judged.found == ()
    assert not judged.right
    assert judged.missing == tuple(point.what for point in question.points)


def test_a_part_of_an_answer_is_taken_for_that_part():
    judged = judge(BY_KEY["why-add"], "It is used twice.")
    assert (len(judged.found), len(judged.missing)) == (1, 2)


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
        ("written-to", "MutationError"),
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


@pytest.mark.parametrize("key", BAD)
def test_what_says_nothing_a_part_or_the_opposite_is_not_taken_for_right(key):
    assert [text for text in BAD[key] if judge(BY_KEY[key], text).right] == []


@pytest.mark.parametrize("question", TEXTS, ids=lambda question: question.key)
def test_the_question_its_hint_and_answers_to_others_are_no_answer(question):
    others = [text for key, texts in GOOD.items() if key != question.key for text in texts]
    assert [text for text in (question.text, question.hint, *others) if judge(question, text).right] == []


def test_the_words_in_which_a_point_was_found_are_quoted():
    judged = judge(BY_KEY["checkpointing"], "It needs less memory (e.g. for activations)! It isn't slower.")
    assert judged.found == (("that it saves memory", "less memory"),)
    judged = judge(
        BY_KEY["why-reverse"], "Forward mode would need\na million passes; it is slow.\nForward needs one per weight."
    )
    assert judged.found == (("that forward mode needs a pass for each parameter", "Forward … per"),)


@pytest.mark.parametrize("question", TEXTS, ids=lambda question: question.key)
def test_no_pattern_fits_the_empty_text_and_no_length_makes_an_answer(question):
    for point in question.points:
        for pattern in itertools.chain(point.against, *point.sayings):
            assert not re.search(pattern, "", re.IGNORECASE), pattern
    for text in ("it " * 200, "no formula " * 50, "a" * MAX_LENGTH, "(" * MAX_LENGTH, "one pass is it uses " * 30):
        assert not judge(question, text[:MAX_LENGTH]).right


@pytest.mark.parametrize(
    "word", ["logged", "stored", "remembered", "tracked", "traced", "memorised", "memorized", "kept"]
)
def test_words_for_recorded_are_known(word):
    judged = judge(BY_KEY["how-it-knows"], f"Each operation is {word} with its inputs.")
    assert judged.found


def test_catchwords_are_no_answer_and_that_is_said():
    judged = judge(BY_KEY["why-add"], "used twice several paths sum effect replaced lost otherwise")
    assert not judged.right
    assert "as a sentence" in judged.comment
