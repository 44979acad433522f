"""Rank the failures that a description may be about, by the words it shares with what people write about each.

Ridge regression learns from the known sentences how much each piece of a text speaks for each failure. The pieces are
words, pairs of words, and runs of four letters, which words of one family and misspelt ones have in common.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from lab.failures.catalogue import BY_KEY, OTHER, SENTENCES, SHAPES, Label
from lab.text import read_rows

MAX_CANDIDATES = 3
MAX_CHARACTERS = 20_000  # of a text
MAX_WORDS = 1000  # different words of a text that are looked through for those to show
MAX_SHOWN = 4  # words: a line on the page has room for no more
LETTERS = 4  # of a run
# The numbers below were tuned on sentences left out of the index; tests/unit/failures/test_finder.py repeats that.
RIDGE = 0.3
IDF_EXPONENT = 0.6  # 1: full idf weighting, 0: every piece counts the same
UNKNOWN_WEIGHT = 0.6  # of an unknown piece, as a share of the rarest one's: it lowers all scores
MIN_SCORE = 0.15  # for an answer
MIN_MARGIN = 0.07  # over the score of other texts; with less, questions about anything get an answer
MIN_MARGIN_MESSAGE = 0.32  # the same for an error message: those of one library have many words in common
MIN_SHARE_OF_BEST = 0.4  # of the best score that a second candidate needs
MIN_SCORE_SURE = 0.78  # for a sure answer; with these two no left-out sentence gets a wrong sure answer
MIN_MARGIN_SURE = 0.45  # over the next failure, for a sure answer
MIN_WORDS_SURE = 3  # of a text, for a sure answer

STOP_WORDS = frozenset(
    re.findall(r"\w+", "a an and as at be been by for has have if in is it its no not of on or out that the to was")
)
_WORD = re.compile(r"[a-z_0-9]+|[^\x00-\x7f\s]|[-+*/=]=|[-+*/]")
_LANGUAGES = read_rows(Path(__file__).with_name("languages.toml"))
_ELSEWHERE, _CHINESE = (
    {word: term for term, words in _LANGUAGES[table].items() for word in words.split()}
    for table in ("words", "chinese")
)


@dataclass(frozen=True)
class Match:
    """A failure that a text may be about, by its key. `sure` means that it is the only one. by: the words that suggest
    it."""

    key: str
    sure: bool
    by: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class SentenceIndex:
    """What the sentences have taught.

    idf      piece -> weight: rare pieces weigh more; unknown: weight of a piece that none has
    labels   what a text may be about
    weights  piece -> how much it speaks for each label
    """

    idf: Mapping[str, float]
    unknown: float
    labels: Sequence[Label]
    weights: Mapping[str, np.ndarray]

    def scores(self, text: str) -> np.ndarray:
        """Return how much a text speaks for each label."""
        found = _vector(pieces(words_of(text)), self.idf, self.unknown)
        return sum((weight * self.weights[piece] for piece, weight in found.items()), np.zeros(len(self.labels)))

    def strongest(self, text: str, label: Label) -> tuple[str, ...]:
        """Return the words of a text that speak most for a label, the strongest first."""
        at = self.labels.index(label)
        words = dict.fromkeys(word.strip(".,:;!?()[]'\"") for word in text.split())
        strength = {word: self.scores(word)[at] for word in [*words][:MAX_WORDS] if word.lower() not in STOP_WORDS}
        return tuple(sorted(filter(strength.__getitem__, strength), key=lambda word: -strength[word])[:MAX_SHOWN])


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents, with 0 for each digit; some of other languages in
    English."""
    text = text[:MAX_CHARACTERS]
    for word, term in _CHINESE.items():
        text = text.replace(word, f" {term} ")
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    found = _WORD.findall(re.sub(r"\d", "0", plain[:MAX_CHARACTERS].lower()))
    return [_ELSEWHERE.get(word, word) for word in found]


def pieces(words: Sequence[str]) -> set[str]:
    """Return the words, their pairs and their runs of letters, which may go over the end of a word."""
    line = f" {' '.join(words)} "
    runs = {line[at : at + LETTERS] for at in range(len(line) - LETTERS + 1)}
    return runs | {f"<{word}>" for word in words} | {f"<{one} {other}>" for one, other in pairwise(words)}


def fit(labelled: Iterable[tuple[Label, str]]) -> SentenceIndex:
    """Learn from pairs of a label and a sentence."""
    texts = list(labelled)
    split = [pieces(words_of(text)) for _, text in texts]
    counts = Counter(piece for its in split for piece in its)
    idf = {piece: math.log(1 + len(split) / count) ** IDF_EXPONENT for piece, count in counts.items()}
    unknown = UNKNOWN_WEIGHT * max(idf.values())
    columns = {piece: at for at, piece in enumerate(idf)}
    matrix = np.zeros((len(split), len(columns)), np.float32)
    for row, its in zip(matrix, split, strict=True):
        found = _vector(its, idf, unknown)
        row[[columns[piece] for piece in found]] = list(found.values())
    labels = list(dict.fromkeys(label for label, _ in texts))
    targets = np.array([[own == label for label in labels] for own, _ in texts], np.float32)
    solved = np.linalg.solve(matrix @ matrix.T + RIDGE * np.eye(len(split), dtype=np.float32), targets)
    return SentenceIndex(idf, unknown, labels, dict(zip(columns, matrix.T @ solved, strict=True)))


@cache
def everything() -> SentenceIndex:
    """Return the index of all known sentences."""
    return fit(labelled_sentences())


def labelled_sentences() -> list[tuple[Label, str]]:
    """Return what the finder learns from: sentences, and the texts and messages of the catalogue."""
    written = [(label, sentence) for label, sentences in SENTENCES.items() for sentence in sentences]
    catalogue = [
        ((key,), text)
        for key, its in BY_KEY.items()
        for text in (its.name, its.symptom, *its.phrases, *its.keywords, its.meaning, its.fix)
    ]
    return [*written, *catalogue, *((OTHER, phrase) for its in SHAPES.values() for phrase in its.phrases)]


def rank(text: str, index: SentenceIndex, margin: float = MIN_MARGIN) -> list[Match]:
    """Return the failures that a description may be about, the best first; [] if it is more like something else.

    margin: over the score of other texts, for an answer
    """
    scores = dict(zip(index.labels, index.scores(text).tolist(), strict=True))
    other = scores.pop(OTHER)
    best, following = sorted(scores, key=lambda label: -scores[label])[:2]
    if scores[best] < MIN_SCORE or scores[best] - other < margin:
        return []
    if len(best) > 1:
        return [Match(key, False, index.strongest(text, best)) for key in best]
    far_ahead = scores[best] - scores[following] >= MIN_MARGIN_SURE
    if scores[best] >= MIN_SCORE_SURE and far_ahead and len(words_of(text)) >= MIN_WORDS_SURE:
        return [Match(best[0], True, index.strongest(text, best))]
    near = [label for label in scores if len(label) == 1 and scores[label] >= MIN_SHARE_OF_BEST * scores[best]]
    near.sort(key=lambda label: -scores[label])
    return [Match(label[0], False, index.strongest(text, label)) for label in near[:MAX_CANDIDATES]]


def _vector(its: Set[str], idf: Mapping[str, float], unknown: float) -> dict[str, float]:
    """Return the known pieces of a text with their weights, scaled so that its length does not count."""
    length = math.hypot(*(idf.get(piece, unknown) for piece in its)) or 1.0
    return {piece: idf[piece] / length for piece in its if piece in idf}
