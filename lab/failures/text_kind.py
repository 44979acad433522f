"""Tell what a pasted text is: a message or a description, a piece of code, or the numbers of a curve."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from lab.failures.causes import shared_by
from lab.failures.code import NotReadable, parses, program
from lab.failures.finder import ERROR

Kind = Literal["message", "code", "curve"]
# The patterns read a line, stripped, in one pass: no two repeats that follow each other share a sign
STATEMENT = re.compile(
    r"(?:(?:from [\w.]+ )?import \w|(?:async )?(?:def|class|for|with|while|if|elif) .*:|(?:else|try)\s*:|@\w"
    r"|return\b|[\w.\[\], ]+ [-+*/@]?= \S|[\w.\[\]]+\(.*\)\s*(?:#.*)?$|#|>>>|In \[\d+\])"
)
MAX_CHARACTERS = 100_000  # of a text that are parsed
MAX_SAMPLE = 20_000  # of these, whose lines tell the kind
MIN_LINES = 3  # of code or a curve: a shorter text counts as a message
MIN_SHARE = 0.6  # of lines that must be code or rows of a table
_SEPARATOR = re.compile(r"[,;\t|]")
_CELL = re.compile(r"[-+\w.%:/ \"]*")
_NUMBER = re.compile(r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf|null)\s*%?\"?", re.I)


def kind_of(text: str) -> Kind:
    """Return the kind of a text; "message" if it is unclear, because a message always gets an answer."""
    text = text[:MAX_CHARACTERS]
    sample = _sample(text)
    lines = [line.strip() for line in sample.splitlines() if line.strip()]
    if text.lstrip().startswith("{") and re.search(r'"cells"\s*:', text):
        return "code"  # a notebook
    if len(lines) < MIN_LINES or ERROR.search(sample) or (shared_by(sample) and not _is_program(text)):
        return "message"
    if sum(_is_row(line) or _is_json_row(line) for line in lines) >= MIN_SHARE * len(lines):
        return "curve"
    return "code" if sum(map(_is_statement, _lines_of_code(sample, lines))) >= MIN_SHARE * len(lines) else "message"


def _is_program(text: str) -> bool:
    try:
        return parses(program(text))
    except NotReadable:
        return False


def _sample(text: str) -> str:
    """Return the whole lines in the first MAX_SAMPLE characters; all of these if they are one line."""
    sample = text[:MAX_SAMPLE]
    return sample if sample == text else sample.rpartition("\n")[0] or sample


def _is_row(line: str) -> bool:
    """Tell whether a line is a row of a table: cells between separators, the last of which is a number."""
    last = line[:-1] if line.endswith((",", ";", "|")) else line
    *cells, number = map(str.strip, _SEPARATOR.split(last))
    return bool(_NUMBER.fullmatch(number)) and all(map(_CELL.fullmatch, cells))


def _is_json_row(line: str) -> bool:
    """Tell whether a line is an object in JSON with a key such as "train_loss"."""
    if not line.startswith("{") or not line.removesuffix(",").rstrip().endswith("}"):
        return False
    texts = pairwise(line.lower().split('"'))
    return any(("loss" in text or "acc" in text) and after.lstrip().startswith(":") for text, after in texts)


def _lines_of_code(text: str, lines: list[str]) -> list[str]:
    try:
        return [line.strip() for line in program(text).splitlines() if line.strip()]
    except NotReadable:
        return lines


def _is_statement(line: str) -> bool:
    return bool(STATEMENT.match(line))
