"""The frame of every page: theme, tabs, opening and closing lines, and links to other pages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Literal

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.lessons.pages import BY_FILE, BY_PATH
from lab.text import strict_json
from lab.ui import binding, progress, search_field
from lab.ui.assets import component, keep_value
from lab.ui.terms import prose

_component = component("frame", "search/search.js", lost="The search", isolate_styles=False)


@contextmanager
def frame(path: str, *values: binding.HeldValue) -> Iterator[bool]:
    """Draw a page with keys such as F, which projects it, and with search; keep `values` in its address.

    Yields True if the values have just come from an address, so that the page resets its other state.
    """
    values = (*values, progress.ASKED, *progress.ASSIGNMENT)
    # Before anything that takes time. A page that is embedded in another site has no bar at the top, and so no search.
    here = strict_json({"path": st.session_state.get("path", ""), "searches": not st.context.is_embedded})
    told = _component(key="frame", data=here.encode(), on_theme_change=keep_value, on_asked_change=keep_value)
    search_field.take(told.get("asked"))
    arrived = binding.arrive(path, *values)
    if arrived:
        progress.arrive()
    progress.show_task(link_to)
    yield arrived
    binding.write(*values)


def tabs(path: str, contents: Mapping[str, Callable[[], None]], gap: Literal["xsmall"] | None = None) -> str:
    """Draw the tabs of a page and the contents of the open one, the only one that is computed; return its name.

    contents: name of a tab in lab/lessons/pages.toml -> function that draws it; gap: between its elements, if unusual.
    """
    page = BY_PATH[path]
    opened = next(iter(page.tabs))
    drawn = st.tabs([*page.tabs.values()], key=f"{page.key}-tab", on_change="rerun", bind="query-params")
    for tab, name in zip(drawn, page.tabs, strict=True):
        if tab.open:
            opened = name
            with tab, st.container(gap=gap) if gap else nullcontext():
                contents[name]()
    return opened


def theme() -> str:
    """Return "light" or "dark", the theme in the visitor's browser; "light" if it is unknown."""
    return st.context.theme.type or "light"


def closing(try_this: str, link: str, label: str, query: Mapping[str, str] | None = None) -> None:
    """Show a suggestion to try, with terms marked as for `prose`, and a link to the next page."""
    progress.opened()
    progress.note()
    prose(f"**Try this.** {try_this}", line=True)
    link_to(link, label, "arrow_forward", query)


def link_to(file: str, label: str, icon: str, query: Mapping[str, str] | None = None) -> None:
    """Show a link to a page, which opens as `query` says, or else as the visitor left it.

    icon: name of a Material symbol; query: as for `Page.parameters`.
    """
    page = st.session_state.get("pages", {}).get(file, file)  # given a path, Streamlit would search for the file
    try:
        st.page_link(page, label=label, icon=f":material/{icon}:", query_params=BY_FILE[file].parameters(query or {}))
    except StreamlitPageNotFoundError:  # the page was started on its own, without app.py
        st.markdown(label)
