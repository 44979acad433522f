"""Rank the failures that a description may be about, by the words it shares with what people write about each.

The method combines nearest centroid and nearest neighbours: each sentence is a vector of idf weights, and a failure's
score is the cosine with its centroid plus that with its nearest sentences.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import pairwise

from lab.failures.catalogue import BY_KEY, NEARBY, OTHER, SENTENCES, Label
from lab.failures.failure import Failure
from lab.failures.terms import NEGATIONS, terms

MAX_CANDIDATES = 3
# The numbers below were tuned on sentences left out of the index.
IDF_EXPONENT = 0.75  # 1: full idf weighting, 0: every word counts the same
N_NEIGHBOURS = 2  # sentences whose mean cosine counts: one alone may match by chance
NEIGHBOUR_WEIGHT = 0.75  # of that mean, next to the cosine with the centroid
OTHER_CENTROID_WEIGHT = 0.5  # of the cosine with the centroid of all other texts, which resembles everything a little
UNKNOWN_WEIGHT = 0.6  # of an unknown word, as a share of the rarest word's: it lowers all scores
MIN_MARGIN_CANDIDATE = 0.1  # over the score of other texts; with less, questions about anything get an answer
MIN_MARGIN_ONE_WORD = 0.35  # the same, if a single word suggests the failure
MIN_SHARE_OF_BEST = 0.4  # of the best score that a second candidate needs
MIN_SCORE_SURE = 0.74  # for a sure answer; with these three no text of the tests gets a wrong sure answer
MIN_MARGIN_SURE = 0.45  # over the next failure, for a sure answer
MIN_WORDS_SURE = 3  # that suggest the failure, for a sure answer
MIN_LETTERS_SLIP = 5  # of a word that may be misspelt: shorter ones resemble too many others
MAX_SLIPS = 20  # different words of a text that are compared with all known ones
MIN_SLIP_RATIO = 0.8  # of difflib: one wrong letter in five

Vector = Mapping[str, float]  # term -> weight; of length 1, or less where it has terms that no sentence has


@dataclass(frozen=True)
class Match:
    """A failure, or a message about shapes, that a text may be about. `sure` means that it is the only one.

    by    the terms that suggest it, or the words of the text, the strongest first; () if a known message does
    asks  what to look for in the code, if the text has several causes; "" otherwise
    form  number of the program that shows it
    line  line of code in the text that proves it
    note  one sentence: what else the text may be about
    """

    key: str
    sure: bool
    by: tuple[str, ...] = field(default=(), compare=False)
    asks: str = field(default="", compare=False)
    form: int = field(default=0, compare=False)
    line: str = field(default="", compare=False)
    note: str = field(default="", compare=False)

    @property
    def failure(self) -> Failure:
        return BY_KEY[self.key]


@dataclass(frozen=True)
class SentenceIndex:
    """Sentences, ready to be searched.

    idf        term -> weight: rare terms weigh more
    labels     one for each sentence
    postings   term -> (number of a sentence that has it, its weight there)
    centroids  label -> mean direction of everything written about it
    """

    idf: Mapping[str, float]
    labels: Sequence[Label]
    postings: Mapping[str, Sequence[tuple[int, float]]]
    centroids: Mapping[Label, Vector]


def fit(labelled: Iterable[tuple[Label, str]]) -> SentenceIndex:
    """Build the index from pairs of a label and a sentence."""
    split = [(label, frozenset(terms(sentence))) for label, sentence in labelled]
    counts = Counter(term for _, its in split for term in its)
    idf = {term: math.log(1 + len(split) / count) ** IDF_EXPONENT for term, count in counts.items()}
    sentences = [(label, _vector(its, idf)) for label, its in split]
    postings: dict[str, list[tuple[int, float]]] = {term: [] for term in idf}
    for number, (_, vector) in enumerate(sentences):
        for term, weight in vector.items():
            postings[term].append((number, weight))
    catalogue = [
        ((key,), _vector(frozenset(terms(text)), idf))
        for key, its in BY_KEY.items()
        for text in (*its.keywords, its.meaning, its.fix)
    ]
    sums: dict[Label, Counter[str]] = {}
    for label, vector in (*sentences, *catalogue):
        sums.setdefault(label, Counter()).update(vector)
    lengths = {label: math.hypot(*total.values()) for label, total in sums.items()}
    centroids = {label: {term: x / lengths[label] for term, x in total.items()} for label, total in sums.items()}
    return SentenceIndex(idf, [label for label, _ in sentences], postings, centroids)


@cache
def everything() -> SentenceIndex:
    """Return the index of all known sentences."""
    return fit(labelled_sentences())


def labelled_sentences() -> list[tuple[Label, str]]:
    """Return what the finder learns from: sentences, names, symptoms and messages of the catalogue."""
    written = [(label, sentence) for label, sentences in SENTENCES.items() for sentence in sentences]
    catalogue = [((key,), text) for key, its in BY_KEY.items() for text in (its.name, its.symptom, *its.phrases)]
    return [*written, *catalogue, *((OTHER, phrase) for its in NEARBY.values() for phrase in its.phrases)]


def rank(text: str, index: SentenceIndex) -> list[Match]:
    """Return the failures that a description may be about, the best first; [] if it is more like something else."""
    query = _vector(frozenset(_spelled(terms(text), index)), index.idf)
    scores = _scores(query, index)
    other = scores.pop(OTHER, 0.0)
    order = sorted(scores, key=lambda label: -scores[label])
    by = {label: _shared_terms(query, index.centroids[label]) for label in order[:MAX_CANDIDATES]}
    best, following = order[:2]
    if scores[best] - other < (MIN_MARGIN_CANDIDATE if len(by[best]) > 1 else MIN_MARGIN_ONE_WORD):
        return []
    if len(best) > 1:
        return [Match(key, False, by[best]) for key in best]
    far_ahead = scores[best] - scores[following] >= MIN_MARGIN_SURE
    if scores[best] >= MIN_SCORE_SURE and far_ahead and len(by[best]) >= MIN_WORDS_SURE:
        return [Match(best[0], True, by[best])]
    near = (label for label in by if scores[label] >= MIN_SHARE_OF_BEST * scores[best] and len(label) == 1)
    return [Match(label[0], False, by[label]) for label in near]


def _spelled(found: Sequence[str], index: SentenceIndex) -> list[str]:
    """Replace each unknown word by the known word that it misspells, if there is one."""
    words = [term for term in found if " " not in term]
    unknown = dict.fromkeys(word for word in words if word not in index.idf and len(word) >= MIN_LETTERS_SLIP)
    corrected = {word: _corrected(word, index) for word in [*unknown][:MAX_SLIPS]}
    words = [corrected.get(word, word) for word in words]
    return [*words, *map(" ".join, pairwise(words))]


def _corrected(word: str, index: SentenceIndex) -> str:
    known = (term for term in index.idf if term[0] == word[0] and " " not in term and len(term) >= MIN_LETTERS_SLIP)
    return next(iter(get_close_matches(word, known, 1, MIN_SLIP_RATIO)), word)


def _scores(query: Vector, index: SentenceIndex) -> dict[Label, float]:
    products: defaultdict[int, float] = defaultdict(float)
    for term, weight in query.items():
        for number, its in index.postings[term]:
            products[number] += weight * its
    cosines: dict[Label, list[float]] = {label: [] for label in index.centroids}
    for number, product in products.items():
        cosines[index.labels[number]].append(product)
    return {
        label: (OTHER_CENTROID_WEIGHT if label == OTHER else 1.0)
        * sum(weight * centroid[term] for term, weight in query.items() if term in centroid)
        + NEIGHBOUR_WEIGHT * sum(sorted(cosines[label])[-N_NEIGHBOURS:]) / N_NEIGHBOURS
        for label, centroid in index.centroids.items()
    }


def _vector(its: frozenset[str], idf: Mapping[str, float]) -> Vector:
    unknown = UNKNOWN_WEIGHT * max(idf.values())
    length = math.hypot(*(idf.get(term, 0.0 if " " in term else unknown) for term in its))
    return {term: idf[term] / length for term in sorted(its) if term in idf}


def _shared_terms(query: Vector, centroid: Vector) -> tuple[str, ...]:
    """Return the words that both have, the strongest first."""
    shared = (term for term in query if term in centroid and " " not in term and term not in NEGATIONS)
    strength = {term: query[term] * centroid[term] for term in shared}
    return tuple(sorted(strength, key=lambda term: -strength[term]))
