"""Tables as Markdown: readable by screen readers, in either theme, at any width, and without importing pandas."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache


def markdown_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table of plain texts: every mark of punctuation is escaped, so that a label stays a label."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(
        "| " + " | ".join(cell if cell == "---" else escape_markdown(str(cell)) for cell in line) + " |"
        for line in lines
    )


def with_code(text: str) -> str:
    """As Markdown, a sentence in which only what stands between backticks is more than plain text: code."""
    return re.sub(
        r"`[^`]*`|[!-/:-@\[-`{-~]",
        lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}",
        " ".join(text.split()),
    )


@lru_cache(10_000)  # most cells of a page are what they were in its last run
def escape_markdown(text: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
