"""Judges answers to the questions of practice/questions.toml, and decides which question comes next."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.text import body, numeral
from model import Tensor
from practice.questions import QUESTIONS, ChoiceQuestion, Engine, NumberQuestion, Question

BY_KEY = {question.key: question for question in QUESTIONS}
AFTER_WRONG, AFTER_RIGHT = 3, 6  # number of other questions before one returns
TIMES_RIGHT = 2  # right answers needed after a wrong one
MAX_LENGTH = 40  # characters of an answer

History = Sequence[tuple[str, bool]]  # (a question's key, whether the answer was right), in the order of the answers


@dataclass(frozen=True)
class Judged:
    """The judgement of an answer: whether it is right, and a comment."""

    right: bool
    comment: str


def judge(question: Question, answer: str, engine: Engine = Tensor) -> Judged:
    """Judge an answer: the index of the option for a choice, else the typed text. Numbers are computed by the engine.

    Raises ValueError, with a sentence for the learner, if the text is not an answer at all.
    """
    answer = answer.strip()
    if len(answer) > MAX_LENGTH:
        raise ValueError(f"An answer has at most {MAX_LENGTH} characters.")
    if not answer:
        raise ValueError("There is no answer yet.")
    if isinstance(question, ChoiceQuestion):
        return _judge_choice(question, answer)
    assert isinstance(question, NumberQuestion)
    return _judge_number(question, answer, engine)


def _judge_choice(question: ChoiceQuestion, answer: str) -> Judged:
    if not answer.isdecimal() or int(answer) >= len(question.options):
        raise ValueError("Choose one of the answers.")
    option = question.options[int(answer)]
    return Judged(not option.why_not, option.why_not)


def _judge_number(question: NumberQuestion, answer: str, engine: Engine) -> Judged:
    number = _number(answer)
    right = value(question, engine)
    if _same(number, right):
        return Judged(True, f"It is {numeral(right)}.")
    why_not = next((slip.why_not for slip in question.slips if _same(number, slip.value(engine))), "")
    return Judged(False, f"It is {numeral(right)}, not {numeral(number)}. {why_not}".strip())


def _number(text: str) -> float:
    """Read a number as people type it, such as 2,000 or 2 000 or 0,5, with a typographic minus, or as a fraction."""
    text = re.sub(r"(?<=\d)\s(?=\d{3}\b)", "", text)
    text = re.sub(r"^([-−]?[1-9]\d{0,2})((,\d{3})+)$", lambda match: match[1] + match[2].replace(",", ""), text)
    above, _, below = text.replace(",", ".").replace("−", "-").partition("/")
    try:
        number = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        raise ValueError("This is not a number. Write one such as 12, -0.5 or 1/4.") from None
    if not math.isfinite(number):
        raise ValueError("Write a finite number.")
    return number


def _same(number: float, other: float) -> bool:
    return math.isclose(number, other, rel_tol=1e-6, abs_tol=1e-9)


def value(question: NumberQuestion, engine: Engine = Tensor) -> float:
    """Compute the right number."""
    compute = question.answer or question.run
    if compute is None:
        raise TypeError(f"Nothing computes the answer of “{question.key}”.")
    number = compute(engine)
    assert isinstance(number, float)
    return number


def lines(question: Question) -> str:
    """Return the lines of code that a question is about; "" if it has none."""
    return body(question.run) if question.run else ""


def outcome(question: Question, engine: Engine = Tensor) -> str:
    """Run the lines of a question and return the result as text: a sentence, number or error; "" without lines."""
    if question.run is None:
        return ""
    try:
        result = question.run(engine)
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return numeral(result) if isinstance(result, float) else str(result)


# ---------------------------------------------------------------- the order


def next_question(keys: Iterable[str], seed: int, history: History) -> str | None:
    """Return the key of the next question; None when all are done.

    keys: in the order of seed 0; any other seed shuffles them. A question answered wrongly comes back after a few
    others, until it was right twice. Other keys in the history are ignored.
    """
    queue = _queue(keys, seed, history)
    return queue[0] if queue else None


def count_repeats(keys: Iterable[str], seed: int, history: History) -> int:
    """Count the questions that were answered and will come back."""
    queue = _queue(keys, seed, history)
    asked = {key for key, _ in history}
    return sum(key in asked for key in queue)


def _queue(keys: Iterable[str], seed: int, history: History) -> list[str]:
    """Return the questions still to be asked, in order."""
    queue = list(keys)
    if seed:
        queue = [queue[i] for i in np.random.default_rng(seed).permutation(len(queue))]
    left = dict.fromkeys(queue, 1)  # how many right answers each still needs
    for key, right in history:
        if key not in left:
            continue
        if key in queue:
            queue.remove(key)
        left[key] = max(0, left[key] - 1) if right else TIMES_RIGHT
        if left[key]:
            queue.insert(AFTER_RIGHT if right else AFTER_WRONG, key)
    return queue
