"""What every page does the same way: its opening lines, the theme, state in the address, and its closing lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

STYLE = Path(__file__).parents[2] / "assets" / "app.css"


def opening(title: str, what_to_do: str) -> None:
    """The title and the two or three sentences that say what to do and what to look for."""
    st.html(STYLE)
    st.title(title)
    st.markdown(what_to_do)


def theme() -> str:
    """ "light" or "dark", as the visitor's browser shows the page; light where nobody can tell."""
    return st.context.theme.type or "light"


def from_address(name: str, default: Any, parse: Callable[[str], Any]) -> Any:
    """A value that the address carries; the default, with a note, where `parse` refuses it with a ValueError."""
    if name not in st.query_params:
        return default
    try:
        return parse(st.query_params[name])
    except ValueError:
        st.info(f"The address of this page has a value for “{name}” that does not fit; the default is used instead.")
        return default


def to_address(**values: str | None) -> None:
    """Write values into the address, so that a copied link shows the same; None takes one away."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != value:
            st.query_params[name] = value


def one_of(*choices: str) -> Callable[[str], str]:
    """A parser for `from_address` that takes one of the choices."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return parse


def closing(try_this: str, link: str, label: str) -> None:
    """A suggestion to try, and the page to go to next."""
    st.divider()
    st.markdown(f"**Try this.** {try_this}")
    try:
        st.page_link(link, label=label, icon=":material/arrow_forward:")
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        st.markdown(label)
