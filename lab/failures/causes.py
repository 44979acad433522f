"""Decide between the causes of a message or symptom that has several, each with a program that shows it.

causes.toml states them. The wording of such a text cannot tell which cause it is, but code that it quotes can. Without
code the reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from lab.failures.catalogue import BY_KEY
from lab.failures.fragments import check_fragments, without_libraries
from lab.text import read_rows


@dataclass(frozen=True)
class Cause:
    """One of several causes.

    asks  completes "In your code, is there ...?"
    key   of the failure that shows it
    form  number of that failure's program
    sign  regular expression of text that suggests this cause; "" for none
    read  keys of the failures that the code reader reports for it
    """

    asks: str
    key: str
    form: int = 0
    sign: str = ""
    read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shared:
    """A message or symptom with several causes, the commonest first.

    patterns  regular expressions, one of which a text has in `_plain` form
    key       the failure whose description is this text's; "" for none
    settled   regular expression of text after which a description of the failure `key` needs no question; "" for none
    note      one sentence: what else it may be
    """

    patterns: tuple[str, ...]
    causes: tuple[Cause, ...]
    key: str = ""
    note: str = ""
    settled: str = ""

    def leaves_questions(self, text: str) -> bool:
        """Tell whether a description of the failure `key` may have another cause."""
        return not (self.settled and re.search(self.settled, _plain(text)))


@dataclass(frozen=True)
class Decided:
    """The causes of a shared text, the likeliest first; line: the line of code that proves the first one, or ""."""

    causes: tuple[Cause, ...]
    note: str
    line: str = ""


MAX_CHARACTERS = 20_000  # of a text
_ADVICE = re.compile(  # advice in this engine's messages, which suggests no cause
    r"call it on a result, computed outside no_grad\(\) and without detach\(\)\."
    r"( a leaf that was updated .{,80} instead\.)?"
    r"|update a leaf in place, .{,200}loss\.item\(\)\.|call backward\(retain_graph=true\) the first time"
)


def _read(file: Path) -> tuple[Shared, ...]:
    """Read the shared texts from a TOML file. Raises KeyError or TypeError for a missing or unknown field."""
    content = read_rows(file)
    words = content["words"]
    causes = {
        name: Cause(**row | {"sign": Template(row.get("sign", "")).substitute(words)})
        for name, row in content["cause"].items()
    }
    return tuple(
        Shared(
            **row
            | {
                "causes": tuple(causes[name] for name in row["causes"]),
                "settled": Template(row.get("settled", "")).substitute(words),
            }
        )
        for row in content["text"]
    )


SHARED = _read(Path(__file__).with_suffix(".toml"))
BY_DESCRIPTION = {shared.key: shared for shared in SHARED if shared.key}


def shared_by(text: str) -> Shared | None:
    """Return the message or symptom with several causes that a text has; None if it has none."""
    plain = _plain(text)
    for shared in SHARED:
        if any(re.search(pattern, plain) for pattern in shared.patterns):
            return shared
    return None


def decide(shared: Shared, text: str) -> Decided:
    """Order the causes by what the text says for them. Code that the text quotes may prove one of them."""
    for finding, line in _findings(text):
        for cause in _by_sign(shared.causes, line):
            if finding in cause.read:
                return Decided((cause, *(other for other in shared.causes if other is not cause)), shared.note, line)
    return Decided(tuple(_by_sign(shared.causes, without_libraries(text))), shared.note)


def _by_sign(causes: Sequence[Cause], text: str) -> list[Cause]:
    plain = _ADVICE.sub("", _plain(text))
    return sorted(causes, key=lambda cause: not (cause.sign and re.search(cause.sign, plain)))


def _findings(text: str) -> list[tuple[str, str]]:
    """Return what the code reader finds in the code that a text quotes, as (failure's key, line)."""
    lines = re.split(r"\r\n?|\n", text)
    return [(_KEYS[finding.failure], lines[finding.line - 1].strip()) for finding in check_fragments(text)]


def _plain(text: str) -> str:
    """Return the text in lower case, without quotation marks, with single spaces, also within very long words: so no
    pattern can read a word again from each of its letters."""
    spaced = re.sub(r"\S{80}", r"\g<0> ", re.sub(r"[’'\"‘“”]", "", text[:MAX_CHARACTERS].lower()))
    return re.sub(r"\s+", " ", spaced)


_KEYS = {failure.number: key for key, failure in BY_KEY.items()}
