"""Sentences in which terms of the glossary are explained on hover, on keyboard focus and on a tap."""

import re
from functools import lru_cache
from html import escape

import streamlit as st

from lab.lessons.glossary import TERMS

MARK = re.compile(r"\[\[((?!\d)[^\]|]+)(?:\|([^\]]+))?\]\]")


def prose(text: str) -> None:
    """Show a sentence in which `[[leaf]]` explains a term of the glossary, and `[[leaves|leaf]]` shows another word."""
    st.html(marked(text))


@lru_cache(1000)
def marked(text: str) -> str:
    """Return a sentence as an HTML paragraph: escaped, with `code`, **bold** and *emphasis* as in Markdown.

    Raises KeyError for a term that is not in the glossary.
    """
    parts, at = [], 0
    for match in MARK.finditer(text):
        shown, term = match[1], match[2] or match[1]
        parts += [_plain(text[at : match.start()]), _term(shown, term)]
        at = match.end()
    parts.append(_plain(text[at:]))
    return f'<p class="prose">{"".join(parts)}</p>'


def _term(shown: str, term: str) -> str:
    name, meaning = f"term-{term.replace(' ', '-')}", TERMS[term].meaning
    return (
        f'<button type="button" class="term" aria-describedby="{name}">{escape(shown)}</button>'
        f'<span role="tooltip" class="definition" id="{name}"><b>{escape(term)}</b> {escape(meaning)}</span>'
    )


def _plain(text: str) -> str:
    text = escape(text)
    for mark, tag in (("`", "code"), ("**", "b"), ("*", "em")):
        sign = re.escape(mark)
        text = re.sub(f"{sign}(.+?){sign}", rf"<{tag}>\1</{tag}>", text)
    return text
