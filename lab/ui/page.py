"""What every page does the same way: its opening lines, the theme, and its closing lines."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.ui import assignment, finder, progress
from lab.ui.terms import closable, prose

STYLE = Path(__file__).parents[2] / "assets" / "app.css"


def opening(title: str, what_to_do: str) -> None:
    """The title and the two or three sentences that say what to do and what to look for."""
    style()
    st.title(title)
    st.markdown(what_to_do)


def style() -> None:
    """The app's own style, for a page whose title stands in a row with something else."""
    st.html(STYLE)
    closable()
    finder.reachable()


def theme() -> str:
    """ "light" or "dark", as the visitor's browser shows the page; light where nobody can tell."""
    return st.context.theme.type or "light"


def closing(try_this: str, link: str, label: str) -> None:
    """A suggestion to try, in which terms may be marked as `prose` reads them, and the page to go to next."""
    assignment.opened()
    progress.note()
    st.divider()
    if not assignment.hidden("try"):
        prose(f"**Try this.** {try_this}")
    link_to(link, label, ":material/arrow_forward:")


def link_to(file: str, label: str, icon: str, query: Mapping[str, str] | None = None) -> None:
    """A link to another page, at an address with these parameters."""
    page = st.session_state.get("pages", {}).get(file, file)  # Streamlit would look for the file
    try:
        st.page_link(page, label=label, icon=icon, query_params=dict(query or {}))
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        st.markdown(label)
