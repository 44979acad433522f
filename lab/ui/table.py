"""Tables and plain text as Markdown, which suits screen readers, both themes and any width, and needs no pandas."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import streamlit as st


def show_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Draw a table of plain texts."""
    st.markdown(markdown_table(headers, rows))


def markdown_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table of plain texts; punctuation is escaped, so that no cell is read as Markdown."""
    lines = [[escape_markdown(str(cell)) for cell in line] for line in (headers, *rows)]
    lines.insert(1, ["---"] * len(headers))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_code(text: str) -> str:
    """Return a sentence as Markdown, escaped except for code between backticks."""
    shown = " ".join(text.split())
    return re.sub(r"(`[^`]+`)|([!-/:-@\[-`{-~])", lambda found: found[1] or f"\\{found[2]}", shown)


@lru_cache(10_000)  # most cells of a page stay the same from run to run
def escape_markdown(text: str) -> str:
    """Escape a plain text for Markdown, on one line."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
