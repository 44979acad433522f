"""Judges answers to the questions of practice/questions.toml, and decides which question comes next."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.text import body, numeral
from model import Tensor
from practice.questions import NOT, QUESTIONS, ChoiceQuestion, Engine, NumberQuestion, Point, Question, TextQuestion

BY_KEY = {question.key: question for question in QUESTIONS}
AFTER_WRONG, AFTER_RIGHT = 3, 6  # number of other questions before one returns
TIMES_RIGHT = 2  # right answers needed after a wrong one
MAX_LENGTH = 600  # characters of an answer

# A negation followed by at most two words.
NEGATION = re.compile(
    r"\b(no|not|never|without|nothing|none|cannot|\w+n't)\b(?! (only|just))( [\w-]+){0,2} ?$", re.IGNORECASE
)

# Words that join others into sentences. A list of keywords has almost none of them.
JOINING = re.compile(
    r"\b(an?|the|of|to|in|on|at|by|for|from|with|and|or|but|so|that|its?|is|are|was|were|be|been|has|have|had|do|does|they|"
    r"them|their|there|this|these|which|who|what|when|while|because|if|than|then|as|can|could|would|will|must|you|we)\b",
    re.IGNORECASE,
)
MIN_JOINED = 0.13  # the smallest share of such words in a sentence
MIN_WORDS = 4  # shorter answers need none

History = Sequence[tuple[str, bool]]  # (a question's key, whether the answer was right), in the order of the answers


@dataclass(frozen=True)
class Judged:
    """The judgement of an answer: whether it is right, and a comment. For a text also the points that it makes, each
    with the words of the answer that say it, and the points that it misses."""

    right: bool
    comment: str
    found: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


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
    if isinstance(question, NumberQuestion):
        return _judge_number(question, answer, engine)
    assert isinstance(question, TextQuestion)
    return _judge_text(question, answer)


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


def _judge_text(question: TextQuestion, answer: str) -> Judged:
    """Judge a text by its words: a point is made if one sentence has all the patterns of one of its sayings, none of
    them negated. So a mere list of words is no answer, and the words found can be quoted."""
    if _only_keywords(answer):
        comment = "Write it as a sentence: keywords alone do not say how they belong together."
        return Judged(False, comment, missing=tuple(point.what for point in question.points))
    parts = re.split(r"(?<=[\w)][\w)])[.;!?](?=\s|$)|\n", answer.replace("’", "'"))  # not after "e.g."
    sentences = [" ".join(part.split()) for part in parts]
    words = {point.what: _find_words(point, sentences) for point in question.points}
    missing = tuple(what for what, quote in words.items() if not quote)
    return Judged(not missing, "", tuple((what, quote) for what, quote in words.items() if quote), missing)


def _only_keywords(answer: str) -> bool:
    """Tell whether an answer is a list of words that nothing joins, without punctuation as in "Easier: ..."."""
    words = re.findall(r"[\w']+", answer)
    joined = len(JOINING.findall(answer)) / max(1, len(words))
    return len(words) >= MIN_WORDS and joined < MIN_JOINED and not re.search(r"[.:;]\s", answer)


def _find_words(point: Point, sentences: Sequence[str]) -> str:
    """Quote the words with which one of these sentences makes the point; "" if none does or one says the opposite."""
    if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in point.against for sentence in sentences):
        return ""
    for sentence, saying in itertools.product(sentences, point.sayings):
        found = [_find_pattern(pattern, sentence, NOT in saying) for pattern in saying]
        places = [place for place in found if place]
        if len(places) == len(saying):
            return _quote(sentence, places)
    return ""


def _find_pattern(pattern: str, sentence: str, negated: bool) -> tuple[int, int] | None:
    """Find a pattern in a sentence, not after a negation unless `negated` allows it; return its span or None."""
    for match in re.finditer(pattern, sentence, re.IGNORECASE):
        if negated or not NEGATION.search(sentence[: match.start()]):
            return match.span()
    return None


def _quote(sentence: str, places: Sequence[tuple[int, int]]) -> str:
    """Quote the words of a sentence at these places, with "…" for the words between them."""
    marked = [
        any(start < word.end() and word.start() < end for start, end in places)
        for word in re.finditer(r"\S+", sentence)
    ]
    parts = itertools.groupby(zip(sentence.split(), marked, strict=True), key=lambda pair: pair[1])
    runs = [" ".join(word for word, _ in run) for is_marked, run in parts if is_marked]
    return " … ".join(runs).strip(",:()")


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
