"""One search for the whole lab: error messages, pages, operations and terms.

A pasted message is looked up as on the pages that explain it, so that an answer there and here is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.failures import finder
from lab.failures.catalogue import BY_KEY
from lab.failures.finder import COMMON
from lab.failures.messages import SHAPES
from lab.lessons.glossary import TERMS
from lab.lessons.pages import PAGES
from lab.ops import OPS
from lab.training.doctor import rules

MOST = 6  # answers
LIKELY = 2  # of them, failures that are not named word for word
LONGEST = 5000  # characters of a question: a traceback is long
SAID = COMMON | {"are", "do", "does", "how", "i", "my", "too", "what", "when", "why"}  # in any question


@dataclass(frozen=True)
class Answer:
    """kind: "failure", "message", "page", "operation" or "term"; text: one sentence; path, query: where it leads, if
    anywhere."""

    kind: str
    title: str
    text: str
    path: str | None
    query: Mapping[str, str] = field(default_factory=dict)
    sure: bool = False


def search(question: str) -> Sequence[Answer]:
    """The answers, the best first; none where nothing fits. A sure message stands alone."""
    question = question[:LONGEST]
    pasted = finder.pasted(question)
    if any(match.sure for match in pasted):
        return [_known(match.key, sure=True) for match in pasted if match.sure]
    found = [_known(match.key, match.sure) for match in finder.look_up(question)[:LIKELY]]
    asked = _words(question)
    if not asked or len(asked) > 12:  # a traceback that is not known: single words of it say nothing
        return found[:MOST]
    scored = [(_score(asked, title, words), answer) for title, words, answer in _entries()]
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    answers = [answer for _, answer in best if answer.kind not in ("failure", "message") or not found]
    named = [answer for answer in answers if answer.title.lower() == question.strip().lower()]  # before likely messages
    return [*named, *found, *(answer for answer in answers if answer not in named)][:MOST]


def _known(key: str, sure: bool = False) -> Answer:
    if key in BY_KEY:
        return Answer("failure", BY_KEY[key].name, BY_KEY[key].symptom, "wrong", {"failure": key}, sure)
    return Answer(
        "message", SHAPES[key].title, "An error message, caused and mended with its program.",
        "simulate-error", {"part": "messages", "message": key}, sure,
    )  # fmt: skip


def _entries() -> list[tuple[str, str, Answer]]:
    symptoms = {"training": " ".join(rule.name for rule in rules())}  # what the doctor there can name
    entries = [
        (page.title, f"{page.question} {page.words} {symptoms.get(page.path, '')}",
         Answer("page", page.title, page.question, page.path))
        for page in PAGES
    ]  # fmt: skip
    entries += [
        (known.title, " ".join((*known.phrases, *known.keywords, known.tells, known.meaning, known.fix)), _known(key))
        for key, known in (*BY_KEY.items(), *SHAPES.items())
    ]
    entries += [(term, meaning, Answer("term", term, meaning, None)) for term, meaning in TERMS.items()]
    for name, op in OPS.items():
        text = f"An operation of the engine ({op.kind})."
        entries.append((name, f"{op.kind} {op.spoken}", Answer("operation", name, text, "operations", {"op": name})))
    return entries


def _score(asked: Sequence[str], title: str, words: str) -> float:
    """Each word that was asked for must be found, or begun; in the title it counts more."""
    in_title, in_words = _words(title), _words(words)
    score = 0.0
    for word in asked:
        if word in in_title:
            score += 4
        elif any(other.startswith(word) for other in in_title):
            score += 3
        elif word in in_words:
            score += 2
        elif len(word) > 2 and any(_begins(word, other) for other in in_words):
            score += 1
        else:
            return 0.0
    return score + (1 if len(in_title) == len(asked) else 0)


def _begins(word: str, other: str) -> bool:
    """Is the one the other's beginning, or the stem of it: detached, detach?"""
    return other.startswith(word) or (len(other) > 4 and word.startswith(other))


def _words(text: str) -> list[str]:
    """Those that say something, in the singular."""
    return [_singular(word) for word in re.findall(r"[a-z_]+|[-+*/@]+", text.lower()) if word not in SAID]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
