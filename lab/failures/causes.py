"""Decide between the causes of a message or symptom that has several, each with a program that shows it.

failures.toml states them. The wording of such a text cannot tell which cause it is, but code that it quotes can.
Without code the reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lab.failures.catalogue import SHARED
from lab.failures.failure import Failure, Shared
from lab.failures.fragments import check_fragments, without_libraries

MAX_CHARACTERS = 20_000  # of a text
_ADVICE = re.compile(  # advice in this engine's messages, which suggests no cause
    r"call it on a result, computed outside no_grad\(\) and without detach\(\)\."
    r"( a leaf that was updated .{,80} instead\.)?"
    r"|update a leaf in place, .{,200}loss\.item\(\)\.|call backward\(retain_graph=true\) the first time"
)
BY_DESCRIPTION = {shared.key: shared for shared in SHARED if shared.key}


def leaves_questions(shared: Shared, text: str) -> bool:
    """Return whether a description of the failure `shared.key` may have another cause."""
    return not (shared.settled and re.search(shared.settled, _plain(text)))


def shared_by(text: str) -> Shared | None:
    """Return the message or symptom with several causes that a text has; None if it has none."""
    plain = _plain(text)
    return next((its for its in SHARED if any(re.search(pattern, plain) for pattern in its.patterns)), None)


def decide(shared: Shared, text: str) -> tuple[Sequence[Failure], str]:
    """Return the causes, those first for which the text speaks; or the one that a line of code in it proves, and this
    line."""
    lines = re.split(r"\r\n?|\n", text)
    for finding in check_fragments(text):
        line = lines[finding.line - 1].strip()
        for cause in _by_sign(shared.causes, line):
            if finding.failure.key in cause.read:
                return [cause], line
    return _by_sign(shared.causes, without_libraries(text)), ""


def _by_sign(causes: Sequence[Failure], text: str) -> Sequence[Failure]:
    plain = _ADVICE.sub("", _plain(text))
    return sorted(causes, key=lambda cause: not (cause.sign and re.search(cause.sign, plain)))


def _plain(text: str) -> str:
    """Return the text in lower case, without quotation marks, with single spaces, also within very long words: so no
    pattern can read a word again from each of its letters."""
    spaced = re.sub(r"\S{80}", r"\g<0> ", re.sub(r"[’'\"‘“”]", "", text[:MAX_CHARACTERS].lower()))
    return re.sub(r"\s+", " ", spaced)
