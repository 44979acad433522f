"""The lines of code in a text that is no program: those of a traceback's frames, or a piece pasted with a question."""

from __future__ import annotations

import re
import textwrap

from lab.failures.code import parses

STATEMENT = re.compile(
    r"\s*(?:(?:from [\w.]+ )?import \w|(?:async )?(?:def|class|for|with|while|if|elif) .*:|(?:else|try)\s*:|@\w"
    r"|return\b|[\w.\[\], ]+ [-+*/@]?= \S|[\w.\[\]]+\(.*\)\s*(?:#.*)?$|#|>>> |In \[\d+\])"
)
_FRAME = re.compile(r'\s*File "([^"]*)", line \d+')
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python")
_MARKERS = re.compile(r"\s*[~^]+\s*$")
_ARROW = re.compile(r"^\s*(?:-+> ?)?\d+ (?=\s*\S)")  # a notebook's "----> 3 loss.backward()"


def quoted_code(text: str) -> list[str]:
    """Pieces that can be read as Python, each without indentation; those of a traceback first, each line alone."""
    frames, rest = _frames(text)
    blocks: list[list[str]] = []
    block: list[str] = []
    for line in [*rest, ""]:
        line = _ARROW.sub("", line)
        if STATEMENT.match(line) or (block and re.match(r"\s+\S|[)\]}]", line)):
            block.append(line)
        elif line.strip() and block:
            blocks.append(block)
            block = []
    blocks.append(block)
    pieces = [*frames, *(textwrap.dedent("\n".join(block)) for block in blocks if block)]
    return [piece for piece in pieces if parses(piece)]


def without_libraries(text: str) -> str:
    """The text, with those lines of a traceback's frames left out that are a library's own."""
    code, rest = _frames(text)
    return "\n".join([*rest, *code])


def _frames(text: str) -> tuple[list[str], list[str]]:
    """The lines of code of a traceback's frames, outside libraries; and the lines of the text that are no traceback."""
    code, rest = [], []
    lines = iter(text.splitlines())
    for line in lines:
        if frame := _FRAME.match(line):
            quoted = next(lines, "").strip()
            if quoted and not _LIBRARY.search(frame[1]):
                code.append(quoted)
        elif not _MARKERS.match(line):
            rest.append(line)
    return code, rest
