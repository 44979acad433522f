"""Say what a pasted text is: a message or a description, a piece of code, or a log."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Literal

from lab.failures.causes import shared_by
from lab.failures.code import UNREADABLE, NotReadable, program, tree_of
from lab.failures.curve.log import LogError, read
from lab.failures.curve.table import tables
from lab.failures.finder import ERROR
from lab.failures.fragments import STATEMENT

Kind = Literal["message", "code", "curve"]
IN_NO_LOG = (ast.Import, ast.ImportFrom, ast.For, ast.While, ast.With, ast.FunctionDef, ast.ClassDef)
MAX_CHARACTERS = 100_000  # of a text that are parsed
MAX_SAMPLE = 20_000  # of these, whose lines tell the kind
MIN_LINES = 3  # of code: a shorter text counts as a message
MIN_LOSSES = 2  # of a log
MIN_SHARE = 0.6  # of lines that must be code, or hold numbers of a log


def kind_of(text: str) -> Kind:
    """Return the kind of a text; "message" if it is unclear, because a message always gets an answer."""
    text = text[:MAX_CHARACTERS]
    sample = _sample(text)
    lines = [line.strip() for line in sample.splitlines() if line.strip()]
    if text.lstrip().startswith("{") and re.search(r'"cells"\s*:', text):
        return "code"  # a notebook
    if ERROR.search(sample):
        return "message"
    if _is_log(sample, len(lines)) and not any(isinstance(node, IN_NO_LOG) for node in _statements(text) or ()):
        return "curve"
    if len(lines) < MIN_LINES or (shared_by(sample) and _statements(text) is None):
        return "message"
    read = lines
    with suppress(NotReadable):
        read = [line.strip() for line in program(sample).splitlines()]
    return "code" if sum(bool(STATEMENT.match(line)) for line in read) >= MIN_SHARE * len(lines) else "message"


def _statements(text: str) -> list[ast.stmt] | None:
    """Return the statements of a text that is Python, and None for any other."""
    try:
        return tree_of(program(text)).body
    except (NotReadable, *UNREADABLE):
        return None


def _sample(text: str) -> str:
    """Return the whole lines in the first MAX_SAMPLE characters; all of these if they are one line."""
    sample = text[:MAX_SAMPLE]
    return sample if sample == text else sample.rpartition("\n")[0] or sample


def _is_log(text: str, lines: int) -> bool:
    """Return whether most lines hold numbers with names, and some of the numbers are losses."""
    try:
        log = read(text)
        losses = sum(table.losses for table in tables(log))
    except LogError:
        return False
    return losses >= MIN_LOSSES and log.unread <= (1 - MIN_SHARE) * lines
