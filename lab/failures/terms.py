"""Reduce a text to terms: one form for each thing, in whichever way and language it is written.

terms.toml has the words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from lab.text import read_rows

_CONTENT = read_rows(Path(__file__).with_suffix(".toml"))
_WRITTEN = tuple(
    (re.compile(pattern.replace("${length}", _CONTENT["length"])), f" {term} " if term else "")
    for pattern, term in _CONTENT["written"]
)
_SAME = {word: term for term, words in _CONTENT["same"].items() for word in words.split()}
_CHINESE = sorted((word for word in _SAME if not word.isascii()), key=len, reverse=True)  # before what they contain
NEGATIONS = frozenset(_CONTENT["negations"].split())
_NOTHING = frozenset(_CONTENT["nothing"].split())
MAX_CHARACTERS = 20_000  # of a text
_ENDINGS = tuple(_CONTENT["endings"].split())


def terms(text: str) -> list[str]:
    """Return the significant words of a text, each in one form, and their pairs as "one two"."""
    text = _bare(text[:MAX_CHARACTERS])  # now, because the next line would sort a long row of accents
    for word in _CHINESE:
        text = text.replace(word, f" {_SAME[word]} ")
    text = _bare(unicodedata.normalize("NFKD", text))[:MAX_CHARACTERS]  # é -> e; one sign may become 18
    text = " ".join(text.split())
    text = re.sub(
        r"([^\x00-\x7f]+)", r" \1 ", re.sub(r"([a-z])([A-Z][a-z])", r"\1 \2", text.replace("ß", "ss"))
    ).lower()
    for pattern, term in _WRITTEN:
        text = pattern.sub(term, text)
    words = [_stem(word) for word in re.findall(r"[a-z][a-z0-9]+", text.replace("_", " ")) if word not in _NOTHING]
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


def _bare(text: str) -> str:
    """Return the text without accents that are signs of their own."""
    return "".join(char for char in text if not unicodedata.combining(char))


@lru_cache(5000)
def _stem(word: str) -> str:
    word = _SAME.get(word, word)
    for ending in _ENDINGS:
        least = 4 if len(ending) > 2 else 3
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word
