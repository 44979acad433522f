"""Which failure a pasted text, or a description in anybody's words, is about: the one finder of the whole lab.

An answer is sure only where the text has the whole of a known phrase, or is itself a part of the phrases of one failure
and of no other, or says nearly word for word what people say of one failure alone. Anything less is a candidate: a text
may share most of its words with one about something else.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from lab.failures.catalogue import BY_KEY
from lab.failures.failure import Demonstration, Failure
from lab.failures.messages import SHAPES

LONGEST = 20_000  # characters that are looked at: the last ones, where a traceback says what happened
MOST = 3  # candidates
DISTINCTIVE = 3  # words that say something, from which a phrase, or a part of one, is no chance
COMMON = frozenset(
    re.findall(r"\w+", "a an and as at be been by for has have if in is it its no not of on or that the to was")
)
ALIKE = 0.5  # of the pairs of words in the shorter text, from which two texts are alike

ERROR = re.compile(r"^\s*[\w.]*(Error|Exception|Warning):|^Traceback", re.MULTILINE)  # no description, but a message

# Of descriptions: how far one must be what people say of a failure
LIKELY, CLEAR, APART = 0.36, 0.8, 0.25  # to be a candidate; to be sure; and ahead of the next one, to be sure
FEWEST = 3  # words that say something, for a description to be sure
STRANGE = 0.4  # how much a word counts that nobody says of a failure, where an answer is not sure
NEAR = 0.6  # of the best candidate's likeness: below, another one is none
SAID = COMMON | frozenset(  # in any question, or the name of a library
    re.findall(
        r"\w+",
        "all although always am any are but can cannot could did do does doesn don every from get gets give gives got "
        "how i into isn just like me my need needs of only or our should so some still than then there this too up use "
        "used using very want we what when which while why will with without would you your t s m error errors message "
        "out says somewhere something problem pytorch torch tf tensorflow jax jnp np nn keras raises raise "
        "runtimeerror help please question",
    )
)
# Words for the same thing, in the form in which they are compared
SAME = MappingProxyType(
    {
        word: name
        for name, words in {
            "gradient": "grad gradients derivative derivatives",
            "second": "twice two again",
            "integer": "int integers long int64 int32 whole longtensor",
            "inplace": "overwrite overwrites overwritten",
            "explode": "explodes exploding diverge diverges diverging blows blow infinity infinite skyrockets",
            "unit": "neuron neurons units",
            "memory": "ram vram leak leaks",
            "rate": "lr",
            "grow": "grows growing increase increases increasing bigger",
            "oscillate": "oscillates oscillating swing swings zigzag jump jumps bounces",
            "initial": "initialise initialised initialize initialized initialising initializing initialisation "
            "initialization init starting",
            "intermediate": "inner hidden",
            "numerical": "numeric finite difference differences",
            "float32": "single",
            "small": "tiny smaller",
            "update": "updated updates updating change changes changed",
            "predict": "prediction predictions predicts output outputs",
            "number": "numbers element elements",
            "train": "trains trained training learn learns learned learning",
            "accumulation": "accum acc",
            "check": "checks checking checker",
            "divide": "divided dividing divides division",
            "plot": "matplotlib plotting pyplot",
            "state": "repackage",
            "rnn": "lstm gru recurrent",
            "evaluation": "validation eval validating",
            "zero": "zeros zeroed 0",
            "dead": "dying dies die died",
            "mean": "average averaged",
            "round": "rounding threshold thresholding thresholded",
            "probability": "probabilities",
            "subtract": "subtracting minus subtracted",
            "vector": "nonscalar",
        }.items()
        for word in words.split()
    }
)


@dataclass(frozen=True)
class Match:
    """A known mistake that a text may be about, by its key; `sure` if it can be no other."""

    key: str
    sure: bool


@dataclass(frozen=True)
class Found:
    """A failure that a text may be about; `sure` if it can be no other, and may be opened at once."""

    failure: Failure
    sure: bool


def find(text: str) -> list[Found]:
    """One sure failure, or at most three candidates, the best first; nothing where none of them fits."""
    return [Found(BY_KEY[match.key], match.sure) for match in look_up(text) if match.key in BY_KEY]


def look_up(text: str) -> list[Match]:
    """The same, with what else an error message may be about: shapes that do not fit (lab/failures/messages.py)."""
    text = text[-LONGEST:]
    found = pasted(text)
    if found and (found[0].sure or _all_whole(text, found)):
        return found
    told = [] if ERROR.search(text) else _by_description(text)
    if told and told[0].sure:
        return told
    keys = dict.fromkeys(match.key for match in (*told, *found))
    return _matches([*keys], sure=False) or _by_keyword(text)


def pasted(text: str) -> list[Match]:
    """The same by the texts alone that a library has about a failure."""
    return _in_view_of_where(text, by_phrase(text, _known_phrases()))


def by_phrase(text: str, phrases: Mapping[str, Collection[str]]) -> list[Match]:
    """The same by known texts alone.

    text      a line, a fragment, or a whole traceback
    phrases   key -> texts by which it is known. Numbers and signs in them do not count
    """
    said, known = words(text), {key: [words(phrase) for phrase in texts] for key, texts in phrases.items()}
    whole = [key for key, texts in known.items() if any(_distinctive(t) and _within(t, said) for t in texts)]
    if whole:
        return _matches(whole, sure=True)
    said = words(_message(text))
    part = [
        key
        for key, texts in known.items()
        if set(said) - COMMON and len(said) > 1 and any(_within(said, t) for t in texts)
    ]
    if part:
        return _matches(part, sure=_distinctive(said))
    scores = {key: max((_alike(said, t) for t in texts), default=0.0) for key, texts in known.items()}
    return _matches(sorted((key for key in scores if scores[key] >= ALIKE), key=lambda key: -scores[key]), sure=False)


def words(text: str) -> list[str]:
    """The words of a text as they are compared: without case, numbers and signs."""
    return re.findall(r"[a-z_]+", re.sub(r"\bin[-\s]+place\b", "inplace", text.lower()))


def _known() -> dict[str, Demonstration]:
    return {**BY_KEY, **SHAPES}


def _known_phrases() -> dict[str, tuple[str, ...]]:
    return {key: known.phrases for key, known in _known().items()}


def _all_whole(text: str, found: Sequence[Match]) -> bool:
    """Does the text have a whole phrase of each of them? Then its other words say little."""
    said, phrases = words(text), _known_phrases()
    return all(any(_distinctive(t) and _within(t, said) for t in map(words, phrases[match.key])) for match in found)


def _in_view_of_where(text: str, found: list[Match]) -> list[Match]:
    """PyTorch says the same of a nan that came through where(): only the line of code in its traceback tells."""
    if {match.key for match in found} == {"nan", "where"} and re.search(r"\bwhere\(", text):
        return sorted(found, key=lambda match: match.key != "where")
    return found


def _matches(keys: list[str], sure: bool) -> list[Match]:
    return [Match(key, sure and len(keys) == 1) for key in keys[:MOST]]


def _message(text: str) -> str:
    """The text without the names of errors in front, and without the lines of code that a traceback has."""
    lines = [line for line in text.splitlines() if not re.match(r" {4}|\t|  File |Traceback \(most recent", line)]
    return "\n".join(re.sub(r"^\s*([\w.]*(Error|Warning|Exception):\s*)+", "", line, flags=re.I) for line in lines)


def _distinctive(text: list[str]) -> bool:
    return len(set(text) - COMMON) >= DISTINCTIVE


def _within(part: list[str], whole: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "


def _alike(one: list[str], other: list[str]) -> float:
    """The share of pairs of neighbouring words that both have; of pairs that say something."""
    pairs, others = ({pair for pair in pairwise(text) if not COMMON.issuperset(pair)} for text in (one, other))
    return len(pairs & others) / max(1, min(len(pairs), len(others)))


def _by_keyword(text: str) -> list[Match]:
    """By one word, where the text hardly says another."""
    keywords = {key: known.keywords for key, known in _known().items()}
    said = {word for word in words(_message(text)) if word not in SAID}
    return _matches([key for key, its in keywords.items() if 2 * len(said & set(its)) > len(said)], sure=False)


# ---------------------------------------------------------------- in anybody's words


def _by_description(text: str) -> list[Match]:
    """The failures of which people say such things, by words that are rare among all that is said of them."""
    asked = frozenset(_stems(text))
    if not asked:
        return []
    known, weights = _descriptions()
    best, following = sorted(((_likeness(asked, key, weights), key) for key in known), reverse=True)[:2]
    if len(asked) >= FEWEST and best[0] >= CLEAR and best[0] - following[0] >= APART:
        return [Match(best[1], True)]
    weights = {**weights, "": STRANGE * weights[""]}
    likeness = {key: _likeness(asked, key, weights) for key in known}
    order = sorted(likeness, key=lambda key: -likeness[key])
    best_likeness = likeness[order[0]]
    if best_likeness < LIKELY:
        return []
    return [Match(key, False) for key in order[:MOST] if likeness[key] >= max(LIKELY, NEAR * best_likeness)]


def _likeness(asked: frozenset[str], key: str, weights: Mapping[str, float]) -> float:
    """From 0 to 1: half for the words that any sentence about the failure has, half for the nearest sentence."""
    sentences = _descriptions()[0][key]
    said = _weight(asked, weights)
    everything = frozenset().union(*sentences)
    common = asked & everything
    if len(common) < 2 and asked not in sentences:
        return 0.0  # one word is no description
    covered = _weight(common, weights) / said
    nearest = max(
        _weight(asked & sentence, weights) / math.sqrt(said * _weight(sentence, weights)) for sentence in sentences
    )
    return (covered + nearest) / 2


def _weight(some: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, weights[""]) for word in some)


@cache
def _descriptions() -> tuple[Mapping[str, Sequence[frozenset[str]]], Mapping[str, float]]:
    """Of each failure the words of each sentence; and the weight of a word: "" is any that nobody says of a failure."""
    known = {
        key: [frozenset(stems) for text in (*failure.plain, failure.name, failure.symptom) if (stems := _stems(text))]
        for key, failure in BY_KEY.items()
    }
    counts = Counter(word for sentences in known.values() for word in frozenset().union(*sentences))
    weights = {word: math.log(1 + len(known) / count) for word, count in counts.items()}
    return MappingProxyType(known), MappingProxyType(weights | {"": math.log(1 + len(known))})


def _stems(text: str) -> list[str]:
    """The words of a description that say something, each in one form."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()
    text = re.sub(r"\bin[-\s]+place\b", "inplace", re.sub(r"\bnot a number\b", "nan", text))
    text = re.sub(r"grad_?check", "gradient check", text)
    text = re.sub(r"\b(zero|no|retain)[_ ]grad\b", r"\1grad", text)
    found = re.findall(r"[a-z][a-z0-9]+|\b0\b", text.replace("_", " "))
    return [_stem(word) for word in found if word not in SAID]


def _stem(word: str) -> str:
    word = SAME.get(word, word)
    for ending in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word
