"""Read numbers in nested lists and dicts, as Python and JSON print them, without running anything."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_DEPTH = 8
WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "true": True}
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|(?P<word>[-+]?[^\W\d][\w.]*)|(?P<sign>[][(){},:]))"""
)
_REST_OF_CALL = re.compile(r"[^()\[\]{}\n]*\)")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class NoLiteral(ValueError):
    """The text is no literal; `at` is where it stops being one."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def read_literal(text: str, at: int, depth: int = 0) -> tuple[Any, int]:
    """Return the literal that begins at a place in a text, and its end. Raises NoLiteral.

    Lists and tuples become lists, a call such as tensor(0.5) its first argument, and None or any other word None.
    """
    found = _TOKEN.match(text, at)
    if not found or depth > MAX_DEPTH:
        raise NoLiteral(found.end() if found else at)
    token, at = found[found.lastgroup or 0], found.end()
    if found["number"]:
        return float(token), at
    if found["string"]:
        return token[1:-1], at
    if found["sign"]:
        if token not in _CLOSING:
            raise NoLiteral(at)
        values, at = _values(text, at, _CLOSING[token], depth + 1)
        return dict(values) if token == "{" else values, at
    if text.startswith("(", at):
        value, at = read_literal(text, at + 1, depth + 1)
        rest = _REST_OF_CALL.match(text, at)
        if not rest:
            raise NoLiteral(at)
        return value, rest.end()
    value = WORDS.get(token.strip("-+").rpartition(".")[2].lower())
    return -value if value and token[0] == "-" else value, at


def _values(text: str, at: int, closing: str, depth: int) -> tuple[list[Any], int]:
    """Return what is in a bracket, pairs of a name and a value if it is a dict, and where the bracket ends."""
    values: list[Any] = []
    while True:
        after = _TOKEN.match(text, at)
        if after and after["sign"] in (closing, ","):
            at = after.end()
            if after["sign"] == closing:
                return values, at
        value, at = read_literal(text, at, depth)
        if closing == "}":
            colon = _TOKEN.match(text, at)
            if not colon or colon["sign"] != ":":
                raise NoLiteral(at)
            inner, at = read_literal(text, colon.end(), depth)
            value = str(value), inner
        values.append(value)
