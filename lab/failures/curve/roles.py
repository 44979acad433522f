"""Tell what a number is by its name, in the languages and the spellings in which trainers print it."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from lab.text import read_rows

_FILE = read_rows(Path(__file__).with_name("words.toml"))
WORDS: Mapping[str, str] = _FILE["kinds"]
ROLES: Mapping[str, str] = _FILE["roles"]  # what a number may be -> the words for it
FILLERS, _OF = _FILE["fillers"].split(), _FILE["of"].split()
COUNTERS = {"epoch", "step"}  # roles
TOTAL = {"total", "max", "of"}  # words in the name of how many there will be
MAX_ABBREVIATION = 2  # letters of one, such as "ep", which is a name alone only
MIN_LETTERS = 4  # of a word that counts without its accents, or cut short
MAX_COMPOUND = 20  # letters of two words that are written as one
NORM_ALONE = {"norm", "total", "global", "l2"}  # words of the name of a norm that says of nothing else
UNSPACED = "\u2e80"  # the first character of the scripts that write words without spaces
MAX_CACHED = 20_000  # names
MAX_HEADING = 5  # words above which a name is no heading
_LETTERS = str.maketrans("łıøđß", "liods")  # that no accent tells from another


def _folded(word: str) -> str:
    letters = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", letters).translate(_LETTERS)


_EXACT = {word.rstrip("-"): kind for kind, words in WORDS.items() for word in words.split()}
_FOLDED = {bare: kind for word, kind in _EXACT.items() if len(bare := _folded(word)) >= MIN_LETTERS}
_STEMS = {kind: tuple(_folded(one[:-1]) for one in words.split() if one[-1] == "-") for kind, words in WORDS.items()}
# The same as regular expressions, and the words that counts have
OF_WORD = "|".join(word if word > UNSPACED else rf"{word}\b" for word in _OF)
COUNTER_WORD = "|".join(word for word, kind in _EXACT.items() if kind in COUNTERS)
_TOTAL = re.compile("|".join(word for word in _OF if word > UNSPACED))
_PHASES = [word.rstrip("-") for kind in ("train", "val") for word in WORDS[kind].split() if not word.isascii()]
_SPLIT = re.compile(r"[\s/_\-:()\[\]|.,@#'’&]+")
_CAMEL = re.compile(r"([a-zäöü])([A-Z])")
_NORM = re.compile(
    r"(?i)grad(ient)?s?|norms?|total|global|l2|2\.0|\(2\)|\b(gnorm|param(eter)?s?|train(ing)?|val(id(ation)?)?)\b"
)


def split(name: str) -> list[str]:
    """Return the words of a name, in lower case. Cross entropy is one: entropy alone is no loss."""
    return (
        _SPLIT.sub(" ", _CAMEL.sub(r"\1 \2", name).lower().replace("@1", "1"))
        .replace("cross entropy", "crossentropy")
        .split()
    ) or [name]


@lru_cache(maxsize=MAX_CACHED)
def kinds_of(word: str) -> frozenset[str]:
    """Return the kinds of a word: keys of WORDS. It may be written without accents, hold two words, or be cut short."""
    bare = word if word.isascii() else _folded(word)
    if kind := _EXACT.get(word) or _FOLDED.get(bare):
        return frozenset({kind})
    for at in range(2, len(bare) - 1 if len(bare) <= MAX_COMPOUND else 0):  # as in valloss
        pair = {_EXACT.get(bare[:at]), _EXACT.get(bare[at:])}
        if pair & {"train", "val"} and pair & {"loss", "measure", "accuracy"}:
            return frozenset(kind for kind in pair if kind)
    found = {
        kind
        for kind, stems in _STEMS.items()
        if bare.startswith(stems) or bare.endswith(stems) or any(one in bare for one in stems if one > UNSPACED)
    }
    return frozenset(found)


def kinds(words: Iterable[str]) -> set[str]:
    return set().union(*map(kinds_of, words))


@lru_cache(maxsize=MAX_CACHED)
def is_phase(name: str) -> bool:
    """Return whether a name says training or validation, and no more."""
    return bool(phase(name)) and all(kinds_of(word) & {"train", "val", "plain", "total"} for word in split(name))


@lru_cache(maxsize=MAX_CACHED)
def phase(name: str) -> str:
    """Return the last word of a name that says training or validation; "" if there is none."""
    word = next((word for word in reversed(split(name)) if kinds_of(word) & {"train", "val"}), "")
    return next((stem for stem in _PHASES if stem in word), word)


@lru_cache(maxsize=MAX_CACHED)
def heading(name: str) -> str:
    """Return what `phase` does for a name that may stand above other names; "" for any other."""
    words = split(name)
    return phase(name) if len(words) < MAX_HEADING and "other" not in kinds(words) and role(name) != "lr" else ""


@lru_cache(maxsize=MAX_CACHED)
def role(name: str) -> str | None:
    """Return what a number is, by its name (see `Table`); None for an unknown name."""
    short = name.rpartition(" - ")[2].strip()  # without the name of a run, as in "name of the run - train/loss"
    words = split(short)
    joined, found = " ".join(words), kinds(words)
    if "other" in found or found >= {"train", "val"} or name.endswith("/s"):
        return None
    if "norm" in words and NORM_ALONE.issuperset(words):
        return "grad_norm"
    if "measure" in found or ("distance" in found and found & {"train", "val"}):  # as in valid_1's l2
        found.add("loss")
    if "gradient" in found and "loss" not in found:
        layer = _NORM.sub(" ", short).strip(string.whitespace + "/_-.:|")
        return f"grad_norm/{layer}" if layer else "grad_norm"
    part = "val" if "val" in found else "train"
    for kind in ("accuracy", "loss"):
        if kind in found:
            return f"{part}_{kind}"
    if "lr" in found or "learning rate" in joined:
        return "lr"
    if not TOTAL.isdisjoint(words) or _TOTAL.search(short) or "%" in name:
        return None
    if len(words) > 1:
        found = kinds(word for word in words if len(word) > MAX_ABBREVIATION or not word.isascii())
    return next((kind for kind in ("run", "epoch", "step") if kind in found), None)


def is_score(name: str) -> bool:
    """Return whether a name is that of a loss or an accuracy."""
    return (role(name) or "").endswith(("loss", "accuracy"))
