"""Find the failure that a pasted text is about, whether it is a message, a traceback or a description.

An answer is sure only in three cases: the text contains a whole known phrase; it is a part of the phrases of one
failure and of no other; or it is worded like what people write about one failure and about no other. Anything less is a
candidate. A message with several causes is never sure of one, unless the text quotes the line of code that proves it
(lab/failures/causes.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise

from lab.failures.catalogue import BY_KEY, KNOWN
from lab.failures.causes import BY_DESCRIPTION, decide, leaves_questions, shared_by
from lab.failures.failure import Failure, Shared
from lab.failures.index import MAX_CANDIDATES, Match, everything, rank
from lab.failures.terms import terms

MAX_CHARACTERS = 20_000  # read from the end, where a traceback says what happened
MAX_PIECES = 1000  # different words and pairs of words of a text that are looked through for those to show
MAX_WORDS_SHOWN = 4  # a line on the page has room for no more
MIN_DISTINCTIVE_WORDS = 3  # with 2, "in-place operation" would be a whole phrase of two failures
MIN_WORDS_PART = 4  # of a part of a known text: three, such as "learning rate schedule", are too common
MIN_PAIR_OVERLAP = 0.5  # share of the shorter text's word pairs from which two texts count as versions of one
STOP_WORDS = frozenset(
    re.findall(r"\w+", "a an and as at be been by for has have if in is it its no not of on or out that the to was")
)
DIFFERENCE = re.compile(r"\W*(whats?( is|.s)? )?(the |a )?differences? between\b", re.I)  # a question, not a failure
QUESTION = re.compile(r"\W*(what|when|where|which|who|is it|is there|do i|does|should|can|may)\b", re.I)
ERROR = re.compile(r"^[^\S\n]*[\w.]*(Error|Exception|Warning):|^Traceback", re.MULTILINE)  # of a message


def find(text: str) -> list[Match]:
    """Return one sure failure, or candidates, the best first; [] where none fits, or something else fits better.

    There are at most MAX_CANDIDATES, or all causes of a text that has several.
    """
    text = text[-MAX_CHARACTERS:]
    shared, matches = _read(text)
    if shared:
        return _causes(shared, text)
    failures = (its for its in matches if {its.key, matches[0].key} <= BY_KEY.keys())
    return [replace(its, by=_as_written(text, its.by), form=_form(its.failure, text)) for its in failures]


def look_up(text: str) -> list[Match]:
    """Return the failures or messages that a text may be about, each key once.

    Unlike `find` it knows what is not among the failures (NEARBY), and is sure of a message that it
    knows word for word, however many causes that has.
    """
    text = text[-MAX_CHARACTERS:]
    shared, matches = _read(text)
    if not shared:
        return matches
    known = by_message(text)
    if known and known[0].sure:
        return known
    causes = _causes(shared, text)
    return [Match(key, causes[0].sure) for key in dict.fromkeys(cause.key for cause in causes)][:MAX_CANDIDATES]


def _read(text: str) -> tuple[Shared | None, list[Match]]:
    """Return the message or symptom with several causes that a text is, or None and what it matches."""
    found = by_message(text)
    shared = shared_by(text)
    phrases = {match.key: _known_phrases()[match.key] for match in found}
    whole = found if len(_whole(words(text), phrases)) == len(found) or (found and found[0].sure) else []
    if shared and {match.key for match in whole} <= {shared.key, *(cause.key for cause in shared.causes)}:
        return shared, []
    if whole:
        return None, whole
    if DIFFERENCE.match(text):
        return None, []
    ranked = [] if ERROR.search(text) else rank(text, everything())
    if ranked and ranked[0].sure:
        described = BY_DESCRIPTION.get(ranked[0].key)
        if described and leaves_questions(described, text):
            return described, []
        return None, [Match(ranked[0].key, not QUESTION.match(text), ranked[0].by)]
    by_key = {match.key: match for match in (*found, *ranked)}
    keys = dict.fromkeys(match.key for match in (*ranked, *found))
    most = max(MAX_CANDIDATES, len(ranked))  # of what may be about any of several failures, all of them
    return None, [Match(key, False, by_key[key].by) for key in keys][:most] or _by_keyword(text)


def _form(failure: Failure, text: str) -> int:
    """Return the number of the form whose message the text has; 0, the first one, if it has none."""
    said = _spaced(words(text))
    forms = (n for n, form in enumerate(failure.others, 1) if form.says and _spaced(words(form.says)) in said)
    return next(forms, 0)


def _causes(shared: Shared, text: str) -> list[Match]:
    causes, line = decide(shared, text)
    return [Match(its.key, bool(line), (), its.asks, its.form_number, line, shared.note) for its in causes]


def by_message(text: str) -> list[Match]:
    """Match against the messages of libraries alone: those that a text has, is a part of, or is like, in this order of
    preference. Numbers and signs do not count."""
    known = _known_phrases()
    whole = _whole(words(text), known)
    if whole:
        return _matches(whole, sure=True)
    its = words(_message(text))
    said = _spaced(its)
    part = [
        key
        for key, texts in known.items()
        if set(its) - STOP_WORDS and len(its) > 1 and any(said in _spaced(t) for t in texts)
    ]
    if part:
        return _matches(part, sure=_distinctive(its) and len(its) >= MIN_WORDS_PART)
    pieces = {_pairs(piece) for piece in _pieces(text) if _distinctive(piece)}
    scores = {key: max((_best_overlap(_pairs(t), pieces) for t in texts), default=0.0) for key, texts in known.items()}
    alike = sorted((key for key in scores if scores[key] >= MIN_PAIR_OVERLAP), key=lambda key: -scores[key])
    return _matches(alike, sure=False)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared: without case, numbers and signs."""
    return tuple(re.findall(r"[a-z_]+", re.sub(r"\bin[-\s]+place\b", "inplace", text.lower())))


@cache
def _known_phrases() -> Mapping[str, Sequence[tuple[str, ...]]]:
    return {key: [words(phrase) for phrase in known.phrases] for key, known in KNOWN.items()}


def _whole(said: Sequence[str], phrases: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    """Return the keys of which a whole phrase is in a text."""
    spaced = _spaced(said)
    return [key for key, texts in phrases.items() if any(_distinctive(t) and _spaced(t) in spaced for t in texts)]


def _matches(keys: list[str], sure: bool) -> list[Match]:
    """Return the first failures as matches. sure: whether the only one is the right one."""
    return [Match(key, sure and len(keys) == 1) for key in keys[:MAX_CANDIDATES]]


def _message(text: str) -> str:
    """Return the text without the names of errors, and without a traceback's lines of code."""
    lines = [line for line in text.splitlines() if not re.match(r" {4}|\t|  File |Traceback \(most recent", line)]
    return "\n".join(re.sub(r"^\s*([\w.]*(Error|Warning|Exception):\s*)+", "", line, flags=re.I) for line in lines)


def _pieces(text: str) -> list[tuple[str, ...]]:
    """Return the words of the text's message, and those of each sentence that is long enough."""
    message = _message(text)
    sentences = [words(sentence) for sentence in re.split(r"[.!?…]\s|\n", message)]
    return [words(message), *(its for its in sentences if len(set(its) - STOP_WORDS) > MIN_DISTINCTIVE_WORDS)]


def _distinctive(text: Sequence[str]) -> bool:
    """Return whether a text has enough words that are not stop words."""
    return len(set(text) - STOP_WORDS) >= MIN_DISTINCTIVE_WORDS


def _spaced(its: Sequence[str]) -> str:
    """Return words as a text, which contains that of any words that follow each other among them."""
    return f" {' '.join(its)} "


@lru_cache(1000)
def _pairs(its: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring words, without pairs of stop words."""
    return frozenset(pair for pair in pairwise(its) if not STOP_WORDS.issuperset(pair))


def _best_overlap(phrase: Set[tuple[str, str]], pieces: Iterable[Set[tuple[str, str]]]) -> float:
    """Return the largest share of its pairs that a phrase has in common with one of the pieces."""
    alike = (pairs for pairs in pieces if not pairs.isdisjoint(phrase))
    return max((len(pairs & phrase) / min(len(pairs), len(phrase)) for pairs in alike), default=0.0)


def _by_keyword(text: str) -> list[Match]:
    """Match by a keyword, where more than half of the text's words are keywords of the failure."""
    its = {term for term in terms(_message(text)) if " " not in term}
    named = {key: its & {term for word in known.keywords for term in terms(word)} for key, known in KNOWN.items()}
    return _matches([key for key, found in named.items() if 2 * len(found) > len(its)], sure=False)


def _as_written(text: str, its: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the text, one or two for each, that became these terms."""
    words = text.split()
    found: dict[str, str] = {}
    for piece in [*dict.fromkeys((*words, *map(" ".join, pairwise(words))))][:MAX_PIECES]:
        its_terms = set(terms(piece)).intersection(its)
        for term in its_terms - found.keys():
            found[term] = piece.strip(".,:;!?()[]'\"")
    return tuple(dict.fromkeys(found[term] for term in its if term in found))[:MAX_WORDS_SHOWN]
