"""Which failure a pasted text, or a description in anybody's words, is about: the one finder of the whole lab.

An answer is sure only where the text has the whole of a known phrase, or is itself a part of the phrases of one failure
and of no other, or speaks much as people speak of one failure, and of no other. Anything less is a candidate: a text
may share most of its words with one about something else. Of a message with several causes none is sure, unless the
text quotes code that proves it (lab/failures/causes.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import pairwise

from lab.failures.catalogue import BY_KEY
from lab.failures.causes import BY_DESCRIPTION, Shared, decide, shared_by
from lab.failures.failure import Demonstration, Failure
from lab.failures.messages import SHAPES
from lab.failures.said import ELSEWHERE, SAID, UNTOLD
from lab.failures.terms import terms

LONGEST = 20_000  # characters that are looked at: the last ones, where a traceback says what happened
MOST, MOST_WORDS = 3, 4  # candidates; words that are said to speak for one
DISTINCTIVE = 3  # words that say something, from which a phrase, or a part of one, is no chance
COMMON = frozenset(
    re.findall(r"\w+", "a an and as at be been by for has have if in is it its no not of on or that the to was")
)
ALIKE = 0.5  # of the pairs of words in the shorter text, from which two texts are alike

DIFFERENCE = re.compile(r"\W*(whats?( is|.s)? )?(the |a )?differences? between\b", re.I)  # a question, not a failure
QUESTION = re.compile(r"\W*(what|when|where|which|who|is it|is there|do i|does|should|can|may)\b", re.I)
ERROR = re.compile(r"^\s*[\w.]*(Error|Exception|Warning):|^Traceback", re.MULTILINE)  # no description, but a message

# Of descriptions
LIKELY, ALONE = 0.2, 0.4  # ahead of that to other things, to be a candidate; with one word that speaks for it
CLEAR, APART = 0.75, 0.45  # to be sure; and ahead of that of the next one
FEWEST = 3  # words that speak for a failure, for it to be sure
NEAR = 0.4  # of the best candidate's likeness: below, another one is none
NEAREST, SENTENCES = 2, 0.75  # the sentences that are nearest, and how much they count beside all that is said
EVEN = 0.75  # the lower, the less more a rare word counts than a common one
SHORTEST, SLIP = 5, 0.8  # letters of a word that may be a slip of another, and how alike the two must be
UNKNOWN = 0.6  # of the weight of the rarest: that of a word that nobody says of anything


@dataclass(frozen=True)
class Match:
    """A known mistake that a text may be about, by its key; `sure` if it can be no other. by: as terms, see Found."""

    key: str
    sure: bool
    by: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Found:
    """A failure that a text may be about; `sure` if it can be no other, and may be opened at once.

    by    the words of the text that speak for it, the strongest first, where no known message does
    asks  of one of several causes of the text: what to look for, see Cause; form: of the program that shows it
    line  the line of code in the text that proves it
    note  what else the text may be about, a sentence
    """

    failure: Failure
    sure: bool
    by: tuple[str, ...] = field(default=(), compare=False)
    asks: str = field(default="", compare=False)
    form: int = field(default=0, compare=False)
    line: str = field(default="", compare=False)
    note: str = field(default="", compare=False)


def find(text: str) -> list[Found]:
    """One sure failure, or candidates, the best first: at most three, or the causes of a text that has several. Nothing
    where none fits."""
    text = text[-LONGEST:]
    shared, matches = _read(text)
    if shared:
        return _causes(shared, text)
    return [
        Found(BY_KEY[its.key], its.sure, _as_written(text, its.by), form=_form(BY_KEY[its.key], text))
        for its in matches
        if its.key in BY_KEY
    ]


def look_up(text: str) -> list[Match]:
    """Which message or mistake it is, each key once, with what else a message may be about: shapes that do not fit
    (lab/failures/messages.py). A message that is known word for word is sure, however many causes it has."""
    text = text[-LONGEST:]
    shared, matches = _read(text)
    if not shared:
        return matches
    known = pasted(text)
    if known and known[0].sure:
        return known
    causes = _causes(shared, text)
    return [Match(key, causes[0].sure) for key in dict.fromkeys(cause.failure.key for cause in causes)][:MOST]


def pasted(text: str) -> list[Match]:
    """The same by the texts alone that a library has about a failure."""
    return _in_view_of_where(text, by_phrase(text, _known_phrases()))


def _read(text: str) -> tuple[Shared | None, list[Match]]:
    """A message or symptom with several causes, or else what it is about."""
    found = pasted(text)
    shared = shared_by(text)
    whole = found if found and (found[0].sure or _all_whole(text, found)) else []
    if shared and {match.key for match in whole} <= {shared.key, *(cause.key for cause in shared.causes)}:
        return shared, []
    if whole:
        return None, whole
    if DIFFERENCE.match(text):
        return None, []
    told = [] if ERROR.search(text) else by_description(text, _heard())
    if told and told[0].key in BY_DESCRIPTION and told[0].sure:
        return BY_DESCRIPTION[told[0].key], []
    if told and told[0].sure:
        return None, [Match(told[0].key, not QUESTION.match(text), told[0].by)]
    by_key = {match.key: match for match in (*found, *told)}
    keys = dict.fromkeys(match.key for match in (*told, *found))
    return None, [Match(key, False, by_key[key].by) for key in keys][:MOST] or _by_keyword(text)


def _form(failure: Failure, text: str) -> int:
    """The form of a failure whose message the text has; the first one if it has none."""
    said = words(text)
    forms = (number for number, form in enumerate(failure.others, 1) if form.says and _within(words(form.says), said))
    return next(forms, 0)


def _causes(shared: Shared, text: str) -> list[Found]:
    decided = decide(shared, text)
    causes = decided.causes[:1] if decided.line else decided.causes
    return [
        Found(BY_KEY[cause.key], bool(decided.line), (), cause.asks, cause.form, decided.line, decided.note)
        for cause in causes
    ]


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
    pieces = _pieces(text)
    scores = {
        key: max((_alike(piece, t) for t in texts for piece in pieces), default=0.0) for key, texts in known.items()
    }
    return _matches(sorted((key for key in scores if scores[key] >= ALIKE), key=lambda key: -scores[key]), sure=False)


@lru_cache(1000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared: without case, numbers and signs."""
    return tuple(re.findall(r"[a-z_]+", re.sub(r"\bin[-\s]+place\b", "inplace", text.lower())))


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


def _pieces(text: str) -> list[tuple[str, ...]]:
    """The words of its message, and of each sentence of it that is long enough."""
    message = _message(text)
    sentences = [words(sentence) for sentence in re.split(r"[.!?…]+\s|\n", message)]
    return [words(message), *(its for its in sentences if len(set(its) - COMMON) > DISTINCTIVE)]


def _distinctive(text: Sequence[str]) -> bool:
    return len(set(text) - COMMON) >= DISTINCTIVE


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of pairs of neighbouring words that both have; of pairs that say something."""
    pairs, others = ({pair for pair in pairwise(text) if not COMMON.issuperset(pair)} for text in (one, other))
    return len(pairs & others) / max(1, min(len(pairs), len(others)))


def _by_keyword(text: str) -> list[Match]:
    """By one word, where the text hardly says another."""
    said = {term for term in terms(_message(text)) if " " not in term}
    named = {key: said & {term for word in known.keywords for term in terms(word)} for key, known in _known().items()}
    return _matches([key for key, its in named.items() if 2 * len(its) > len(said)], sure=False)


# ---------------------------------------------------------------- in anybody's words


Vector = Mapping[str, float]  # a term and its weight; its length is 1, or less where it has terms that nobody says


@dataclass(frozen=True)
class Heard:
    """What is known of the words in which people speak of failures.

    weights  of terms: those that few sentences have weigh more
    meant    of each sentence, the key of the failure; several keys where it may be any of them; "" for something else
    saying   a term -> the sentences that have it, by number, and its weight in each
    middles  of each failure, of all that is said and stated of it
    """

    weights: Mapping[str, float]
    meant: Sequence[str]
    saying: Mapping[str, Sequence[tuple[int, float]]]
    middles: Mapping[str, Vector]


def hear(said: Iterable[tuple[str, str]]) -> Heard:
    """Learn from sentences: (what is meant, see Heard, and the sentence)."""
    split = [(key, frozenset(terms(sentence))) for key, sentence in said]
    counts = Counter(term for _, its in split for term in its)
    weights = {term: math.log(1 + len(split) / count) ** EVEN for term, count in counts.items()}
    sentences = [(key, _vector(its, weights)) for key, its in split]
    saying: dict[str, list[tuple[int, float]]] = {term: [] for term in weights}
    for number, (_, vector) in enumerate(sentences):
        for term, weight in vector.items():
            saying[term].append((number, weight))
    stated = [
        (key, _vector(frozenset(terms(text)), weights))
        for key, its in BY_KEY.items()
        for text in (*its.keywords, its.tells, its.meaning, its.fix)
    ]
    sums: dict[str, Counter[str]] = {}
    for key, vector in (*sentences, *stated):
        sums.setdefault(key, Counter()).update(vector)
    lengths = {key: math.hypot(*total.values()) for key, total in sums.items()}
    middles = {key: {term: x / lengths[key] for term, x in total.items()} for key, total in sums.items()}
    return Heard(weights, [key for key, _ in sentences], saying, middles)


def by_description(text: str, heard: Heard) -> list[Match]:
    """The failures of which people speak so: near to all that is said of one, and to the nearest sentences of it."""
    asked = _vector(frozenset(_spelled(terms(text), heard)), heard.weights)
    likeness = _likeness(asked, heard)
    elsewhere = likeness.pop("", 0.0)
    order = sorted(likeness, key=lambda key: -likeness[key])
    by = {key: _speaking(asked, heard.middles[key]) for key in order[:MOST]}
    best, following = order[:2]
    if likeness[best] - elsewhere < (LIKELY if len(by[best]) > 1 else ALONE):
        return []
    if " " in best:
        return [Match(key, False, by[best]) for key in best.split()]
    if likeness[best] >= CLEAR and likeness[best] - likeness[following] >= APART and len(by[best]) >= FEWEST:
        return [Match(best, True, by[best])]
    return [Match(key, False, by[key]) for key in by if likeness[key] >= NEAR * likeness[best] and " " not in key]


def _spelled(said: Sequence[str], heard: Heard) -> list[str]:
    """The terms, with each word that nobody says replaced by the one that it is a slip of, if there is one."""
    words = [term for term in said if " " not in term]
    words = [word if word in heard.weights or len(word) < SHORTEST else _slip(word, heard) for word in words]
    return [*words, *map(" ".join, pairwise(words))]


def _slip(word: str, heard: Heard) -> str:
    known = (term for term in heard.weights if term[0] == word[0] and " " not in term and len(term) >= SHORTEST)
    return next(iter(get_close_matches(word, known, 1, SLIP)), word)


def _likeness(asked: Vector, heard: Heard) -> dict[str, float]:
    """To each failure, and to other things."""
    products: defaultdict[int, float] = defaultdict(float)
    for term, weight in asked.items():
        for number, its in heard.saying[term]:
            products[number] += weight * its
    nearest: dict[str, list[float]] = {key: [] for key in heard.middles}
    for number, product in products.items():
        nearest[heard.meant[number]].append(product)
    return {
        key: sum(weight * middle[term] for term, weight in asked.items() if term in middle)
        + SENTENCES * sum(sorted(nearest[key])[-NEAREST:]) / NEAREST
        for key, middle in heard.middles.items()
    }


@cache
def _heard() -> Heard:
    return hear(everything_said())


def everything_said() -> list[tuple[str, str]]:
    """What the finder learns from."""
    said = [(key, sentence) for key, sentences in SAID.items() for sentence in sentences]
    stated = [(key, text) for key, its in BY_KEY.items() for text in (its.name, its.symptom, *its.phrases)]
    others = [("", text) for text in (*ELSEWHERE, *(phrase for its in SHAPES.values() for phrase in its.phrases))]
    untold = [(" ".join(keys), sentence) for keys, sentences in UNTOLD.items() for sentence in sentences]
    return [*said, *stated, *untold, *others]


def _vector(its: frozenset[str], weights: Mapping[str, float]) -> Vector:
    rare = UNKNOWN * max(weights.values())
    length = math.hypot(*(weights.get(term, 0.0 if " " in term else rare) for term in its))
    return {term: weights[term] / length for term in sorted(its) if term in weights}


def _speaking(asked: Vector, middle: Vector) -> tuple[str, ...]:
    """The words that speak for it, the strongest first."""
    strength = {term: asked[term] * middle[term] for term in asked if term in middle and " " not in term}
    return tuple(sorted(strength, key=lambda term: -strength[term]))


def _as_written(text: str, its: Sequence[str]) -> tuple[str, ...]:
    """Where the text says these terms, in one word or in two."""
    words = text[-LONGEST:].split()
    found = {}
    for piece in (*words, *map(" ".join, pairwise(words))):
        for term in its:
            if term not in found and term in terms(piece):
                found[term] = piece.strip(".,:;!?()[]'\"")
    return tuple(dict.fromkeys(found[term] for term in its if term in found))[:MOST_WORDS]
