"""Which known message a pasted text is: Simulate Error and the Fault lab look with this one finder.

An answer is sure only where the text has the whole of a known phrase, or is itself a part of the phrases of one message
and of no other. Anything less is a candidate: a text may share most of its words with a message about something else.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

MOST = 3  # candidates
DISTINCTIVE = 3  # words that say something, from which a phrase, or a part of one, is no chance
COMMON = frozenset(
    re.findall(r"\w+", "a an and as at be been by for has have if in is it its no not of on or that the to was")
)
ALIKE = 0.5  # of the pairs of words in the shorter text, from which two texts are alike


@dataclass(frozen=True)
class Match:
    """A message that a text may be about; `sure` if it can be no other."""

    key: str
    sure: bool


def find(
    text: str, phrases: Mapping[str, Collection[str]], keywords: Mapping[str, Collection[str]] | None = None
) -> list[Match]:
    """One sure match, or at most three candidates, the best first; nothing where nothing fits.

    text      a line, a fragment, or a whole traceback
    phrases   key -> texts by which a message is known. Numbers and signs in them do not count
    keywords  key -> words that speak for a message where nothing better is found
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
    alike = sorted((key for key in scores if scores[key] >= ALIKE), key=lambda key: -scores[key])
    return _matches(alike or [key for key, its in (keywords or {}).items() if set(said) & set(its)], sure=False)


def words(text: str) -> list[str]:
    """The words of a text as they are compared: without case, numbers and signs."""
    return re.findall(r"[a-z_]+", re.sub(r"\bin[-\s]+place\b", "inplace", text.lower()))


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
    """The share of pairs of neighbouring words that both have."""
    pairs, others = (set(pairwise(text)) for text in (one, other))
    return len(pairs & others) / max(1, min(len(pairs), len(others)))
