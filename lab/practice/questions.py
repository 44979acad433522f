"""Answers to the questions of practice/questions.toml: judged, and the order in which questions come."""

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
AFTER_WRONG, AFTER_RIGHT = 3, 6  # other questions that come before one returns
TIMES = 2  # that one must be right which has been wrong
LONGEST = 600  # characters of an answer

# A negation, with at most two words behind it.
NEGATION = re.compile(
    r"\b(no|not|never|without|nothing|none|cannot|\w+n't)\b(?! (only|just))( [\w-]+){0,2} ?$", re.IGNORECASE
)

# What joins words into sentences. A list of catchwords has next to none of them.
JOINING = re.compile(
    r"\b(an?|the|of|to|in|on|at|by|for|from|with|and|or|but|so|that|its?|is|are|was|were|be|been|has|have|had|do|does|they|"
    r"them|their|there|this|these|which|who|what|when|while|because|if|than|then|as|can|could|would|will|must|you|we)\b",
    re.IGNORECASE,
)
MIN_JOINED = 0.13  # the share of such words in a sentence
CATCHWORDS = 4  # fewer words may do without

History = Sequence[tuple[str, bool]]  # (a question's key, was it right?), in the order in which they were answered


@dataclass(frozen=True)
class Judged:
    """right: of a text, are all its points there? said: what to say of this very answer. found, missing: of a text, its
    points, as clauses; of those that were found, also the words of the answer that say it."""

    right: bool
    said: str
    found: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


def judge(question: Question, answer: str, engine: Engine = Tensor) -> Judged:
    """answer: of a choice the number of the option, from 0; of a number and a text what was typed.

    ValueError with a sentence for what is no answer at all. Numbers are computed now, by the engine.
    """
    answer = answer.strip()
    if not answer:
        raise ValueError("There is no answer yet.")
    if isinstance(question, ChoiceQuestion):
        return _chosen(question, answer)
    if isinstance(question, NumberQuestion):
        return _numeric(question, answer, engine)
    assert isinstance(question, TextQuestion)
    return _written(question, answer)


def _chosen(question: ChoiceQuestion, answer: str) -> Judged:
    if not answer.isdecimal() or int(answer) >= len(question.options):
        raise ValueError("Choose one of the answers.")
    option = question.options[int(answer)]
    return Judged(not option.why_not, option.why_not)


def _numeric(question: NumberQuestion, answer: str, engine: Engine) -> Judged:
    number = _number(answer)
    due = value(question, engine)
    if _same(number, due):
        return Judged(True, f"It is {numeral(due)}.")
    why_not = next((slip.why_not for slip in question.slips if _same(number, slip.value(engine))), "")
    return Judged(False, f"It is {numeral(due)}, not {numeral(number)}. {why_not}".strip())


def _number(text: str) -> float:
    """A number as people type it: 2,000 or 2 000 or 0,5, with a true minus, or as a fraction."""
    text = re.sub(r"(?<=\d)\s(?=\d{3}\b)", "", text)
    text = re.sub(r"^([-−]?[1-9]\d{0,2})((,\d{3})+)$", lambda match: match[1] + match[2].replace(",", ""), text)
    above, _, below = text.replace(",", ".").replace("−", "-").partition("/")
    try:
        number = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        raise ValueError("This is no number. Write one such as 12, -0.5 or 1/4.") from None
    if not math.isfinite(number):
        raise ValueError("Write a number that is finite.")
    return number


def _same(number: float, other: float) -> bool:
    return math.isclose(number, other, rel_tol=1e-6, abs_tol=1e-9)


def _written(question: TextQuestion, answer: str) -> Judged:
    """By its words: a point is there where one sentence has all the words of one of its sayings, and none of them is
    negated. So words that only stand beside each other are no answer, and what was found can be quoted."""
    if _only_catchwords(answer):
        return Judged(
            False,
            "Write it as a sentence: catchwords alone do not say how they belong together.",
            (),
            tuple(point.what for point in question.points),
        )
    parts = re.split(r"(?<=[\w)][\w)])[.;!?](?=\s|$)|\n", answer.replace("’", "'"))  # not after "e.g."
    sentences = [" ".join(part.split()) for part in parts]
    words = {point.what: _words(point, sentences) for point in question.points}
    missing = tuple(what for what, said in words.items() if not said)
    return Judged(not missing, "", tuple((what, said) for what, said in words.items() if said), missing)


def _only_catchwords(answer: str) -> bool:
    """A list of words without anything that joins them, and without marks that set them apart ("Easier: ...")."""
    words = re.findall(r"[\w']+", answer)
    joined = len(JOINING.findall(answer)) / max(1, len(words))
    return len(words) >= CATCHWORDS and joined < MIN_JOINED and not re.search(r"[.:;]\s", answer)


def _words(point: Point, sentences: Sequence[str]) -> str:
    """The words by which one of these sentences says the point; "" where none does, or one says the opposite."""
    if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in point.against for sentence in sentences):
        return ""
    for sentence, saying in itertools.product(sentences, point.sayings):
        found = [_place(pattern, sentence, NOT in saying) for pattern in saying]
        places = [place for place in found if place]
        if len(places) == len(saying):
            return _quoted(sentence, places)
    return ""


def _place(pattern: str, sentence: str, negated: bool) -> tuple[int, int] | None:
    """Where a pattern stands in a sentence: not behind a negation, unless that may be."""
    for match in re.finditer(pattern, sentence, re.IGNORECASE):
        if negated or not NEGATION.search(sentence[: match.start()]):
            return match.span()
    return None


def _quoted(sentence: str, places: Sequence[tuple[int, int]]) -> str:
    """The words of a sentence that stand at these places, with "…" for what is between them."""
    marked = [
        any(start < word.end() and word.start() < end for start, end in places)
        for word in re.finditer(r"\S+", sentence)
    ]
    parts = itertools.groupby(zip(sentence.split(), marked, strict=True), key=lambda pair: pair[1])
    runs = [" ".join(word for word, _ in run) for is_marked, run in parts if is_marked]
    return " … ".join(runs).strip(",:()")


def value(question: NumberQuestion, engine: Engine = Tensor) -> float:
    """The right number, computed now."""
    compute = question.answer or question.run
    if compute is None:
        raise TypeError(f"Nothing computes the answer of “{question.key}”.")
    number = compute(engine)
    assert isinstance(number, float)
    return number


def lines(question: Question) -> str:
    """The lines that a question is about; "" where it has none."""
    return body(question.run) if question.run else ""


def outcome(question: Question, engine: Engine = Tensor) -> str:
    """What comes of these lines, run now: a sentence, a number, or the error; "" where there are none."""
    if question.run is None:
        return ""
    try:
        result = question.run(engine)
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return numeral(result) if isinstance(result, float) else str(result)


# ---------------------------------------------------------------- the order


def following(keys: Iterable[str], seed: int, history: History) -> str | None:
    """The question to ask next; None when all are done.

    keys: in the order of seed 0; any other seed shuffles them. A wrong one comes back after a few others, until it was
    right twice. What the history says of other keys is left aside.
    """
    queue = _queue(keys, seed, history)
    return queue[0] if queue else None


def coming_back(keys: Iterable[str], seed: int, history: History) -> int:
    """How many of these were answered and will come once more."""
    queue = _queue(keys, seed, history)
    asked = {key for key, _ in history}
    return sum(key in asked for key in queue)


def _queue(keys: Iterable[str], seed: int, history: History) -> list[str]:
    """What is still to be asked, in order."""
    queue = list(keys)
    if seed:
        queue = [queue[i] for i in np.random.default_rng(seed).permutation(len(queue))]
    left = dict.fromkeys(queue, 1)  # how often each has to be right
    for key, right in history:
        if key not in left:
            continue
        if key in queue:
            queue.remove(key)
        left[key] = max(0, left[key] - 1) if right else TIMES
        if left[key]:
            queue.insert(AFTER_RIGHT if right else AFTER_WRONG, key)
    return queue
