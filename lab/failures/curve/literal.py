"""Read numbers in nested lists and dicts, as Python and JSON print them, without running anything."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 8
WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_TOKEN = re.compile(
    r"""\s*(?:("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|([-+]?[^\W\d][\w.]*)|([][(){},:]))"""
)
_REST_OF_CALL = re.compile(r"[^()\[\]{}\n]*\)")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class NoLiteral(ValueError):
    """The text is no literal; `at` is where it stops being one."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Literal:
    """A literal that begins at a place in a text. Lists and tuples become lists, a call such as tensor(0.5) its first
    argument, and None or any other word None."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.end = text, at

    def value(self, depth: int = 0) -> Any:
        """Read one value. Raises NoLiteral."""
        string, number, word, sign = self._next()
        if depth > MAX_DEPTH or (sign and sign not in _CLOSING):
            raise NoLiteral(self.end)
        if string:
            return string[1:-1]
        if number:
            return float(number)
        if sign:
            return dict(self._entries(depth)) if sign == "{" else list(self._items(_CLOSING[sign], depth))
        if self.text.startswith("(", self.end):
            return self._argument(depth)
        if word.lower() == "true":
            return True
        found = WORDS.get(word.strip("-+").rpartition(".")[2].lower())
        return -found if found is not None and word.startswith("-") else found

    def _next(self) -> tuple[str, ...]:
        found = _TOKEN.match(self.text, self.end)
        if not found:
            raise NoLiteral(self.end)
        self.end = found.end()
        return found.groups(default="")

    def _closed(self, sign: str) -> bool:
        """Take the sign, or a comma, if one of them is next. Return whether it was the sign."""
        found = _TOKEN.match(self.text, self.end)
        if found and found[4] and found[4] in (sign, ","):
            self.end = found.end()
        return bool(found and found[4] == sign)

    def _items(self, closing: str, depth: int) -> Iterator[Any]:
        while not self._closed(closing):
            yield self.value(depth + 1)

    def _entries(self, depth: int) -> Iterator[tuple[str, Any]]:
        while not self._closed("}"):
            name = self.value(depth + 1)
            if self._next()[3] != ":":
                raise NoLiteral(self.end)
            yield str(name), self.value(depth + 1)

    def _argument(self, depth: int) -> Any:
        self.end += 1
        value = self.value(depth + 1)
        rest = _REST_OF_CALL.match(self.text, self.end)
        if not rest:
            raise NoLiteral(self.end)
        self.end = rest.end()
        return value
