"""Tell what a pasted text is: a message or a description, a piece of code, or the numbers of a curve."""

from __future__ import annotations

import re
from typing import Literal

from lab.failures.causes import shared_by
from lab.failures.code import NotReadable, parses, program
from lab.failures.finder import ERROR

Kind = Literal["message", "code", "curve"]
STATEMENT = re.compile(
    r"\s*(?:(?:from [\w.]+ )?import \w|(?:async )?(?:def|class|for|with|while|if|elif) .*:|(?:else|try)\s*:|@\w"
    r"|return\b|[\w.\[\], ]+ [-+*/@]?= \S|[\w.\[\]]+\(.*\)\s*(?:#.*)?$|#|>>> |In \[\d+\])"
)
MIN_LINES = 3  # of code or a curve: a shorter text counts as a message
MIN_SHARE = 0.6  # of lines that must be code or rows of a table
_ROW = re.compile(
    r"\s*(?:[-+\w.%:/ \"]*[,;\t|]\s*)*[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf|null)\s*%?\"?[,;|]?\s*", re.I
)
_JSON_ROW = re.compile(r'\s*\{.*"[^"]*(?:loss|acc)[^"]*"\s*:.*\}\s*,?', re.I)


def kind_of(text: str) -> Kind:
    """Return the kind of a text; "message" if it is unclear, because a message always gets an answer."""
    lines = [line for line in text.splitlines() if line.strip()]
    if text.lstrip().startswith("{") and re.search(r'"cells"\s*:', text):
        return "code"  # a notebook
    if len(lines) < MIN_LINES or ERROR.search(text) or (shared_by(text) and not parses(text)):
        return "message"
    if sum(bool(_ROW.fullmatch(line) or _JSON_ROW.fullmatch(line)) for line in lines) >= MIN_SHARE * len(lines):
        return "curve"
    return "code" if sum(map(_is_statement, _lines_of_code(text, lines))) >= MIN_SHARE * len(lines) else "message"


def _lines_of_code(text: str, lines: list[str]) -> list[str]:
    try:
        return [line for line in program(text).splitlines() if line.strip()]
    except NotReadable:
        return lines


def _is_statement(line: str) -> bool:
    return bool(STATEMENT.match(line))
