"""Sentences in which terms of the glossary are explained on hover, on keyboard focus and on a tap."""

import re
from functools import lru_cache
from html import escape

import streamlit as st

from lab.lessons.glossary import TERMS

MARK = re.compile(r"\[\[((?!\d)[^\]|]+)(?:\|([^\]]+))?\]\]")


def prose(text: str, line: bool = False) -> None:
    """Show a sentence in which `[[leaf]]` explains a term of the glossary, and `[[leaves|leaf]]` shows another word.

    line: whether a line is drawn above it
    """
    st.html("<hr>" * line + marked(text))


@lru_cache(1000)
def marked(text: str) -> str:
    """Return a sentence as an HTML paragraph: escaped, with `code`, **bold** and *emphasis* as in Markdown.

    Raises KeyError for a term that is not in the glossary.
    """
    shown = escape(text)
    for mark, tag in (("`", "code"), ("**", "b"), ("*", "em")):
        sign = re.escape(mark)
        shown = re.sub(f"{sign}(.+?){sign}", rf"<{tag}>\1</{tag}>", shown)
    return f'<p class="prose">{MARK.sub(_explained, shown)}</p>'


def _explained(mark: re.Match[str]) -> str:
    shown, term = mark[1], mark[2] or mark[1]
    name, meaning = f"term-{term.replace(' ', '-')}", escape(TERMS[term].meaning)
    return (
        f'<button type="button" class="term" aria-describedby="{name}">{shown}</button>'
        f'<span role="tooltip" class="definition" id="{name}"><b>{term}</b> {meaning}</span>'
    )
