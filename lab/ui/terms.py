"""A sentence of a page, in which words of the glossary are explained: on hover, on keyboard focus and on a tap."""

import re
from functools import lru_cache
from html import escape

import streamlit as st

from lab.lessons.glossary import TERMS
from lab.ui.assets import component

MARK = re.compile(r"\[\[((?!\d)[^\]|]+)(?:\|([^\]]+))?\]\]")

_component = component("terms", "terms/terms.js", "listen")


def closable() -> None:
    """Let the Escape key close an explanation; once on a page."""
    _component(key="terms")


def prose(text: str) -> None:
    """Show a sentence that stands in the page's own source. `[[leaf]]` is explained, and so is `[[leaves|leaf]]`."""
    st.html(marked(text))


@lru_cache(1000)
def marked(text: str) -> str:
    """A paragraph of HTML. Everything in it is escaped; `code`, **bold** and *emphasis* are as in Markdown.

    KeyError for a term that the glossary does not have.
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
