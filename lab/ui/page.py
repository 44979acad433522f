"""The frame of every page: style, theme, tabs, opening and closing lines, and links to other pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.lessons.pages import BY_FILE, BY_PATH
from lab.text import strict_json
from lab.ui import address, assignment, binding, progress, search_field, state
from lab.ui.assets import component, keep_value
from lab.ui.terms import prose
from lab.ui.widgets import button

Draw = Callable[[state.PageState], Callable[[], None] | None]  # draws a tab; its result is called at the page's end
STYLE = Path(__file__).parents[2] / "assets" / "app.css"

_listeners = component("page", "page/page.js", lost="What the keys of this page do", isolate_styles=False)


@contextmanager
def run(name: str, fields: Sequence[address.Field] = (), parts: state.Parts | None = None) -> Iterator[state.PageState]:
    """Run a page as `state.page` does, in the app's style, with the task of a card or a teacher in the address."""
    style()
    if parts:
        groups = {id(own): (*own, progress.ASKED) for own in parts.fields.values()}  # tabs that share fields go on to
        parts = replace(parts, fields={tab: groups[id(own)] for tab, own in parts.fields.items()})
    with state.page(name, (*fields, progress.ASKED), assignment.FIELDS, parts) as current:
        if current.restored:
            progress.arrive()
        progress.show_task()
        yield current


@contextmanager
def frame(path: str, *values: binding.HeldValue) -> Iterator[bool]:
    """Draw a page in the app's style, with its title, and keep `values` in its address.

    Yields True if the values have just come from an address, so that the page resets its other state.
    """
    values = (*values, progress.HELD_CARD, *assignment.HELD)
    style(native=True)
    arrived = binding.arrive(path, *values)
    if arrived:
        progress.arrive()
    progress.show_task()
    yield arrived
    binding.write(*values)
    binding.settle()


def tabs(path: str, contents: Mapping[str, Callable[[], None]], gap: Literal["xsmall", "small"] = "small") -> str:
    """Draw the tabs of a page and the contents of the open one, the only one that is computed; return its name.

    contents: name of a tab in lab/lessons/pages.toml -> function that draws it; gap: space between its elements.
    """
    page = BY_PATH[path]
    opened = next(iter(page.tabs))
    drawn = st.tabs([*page.tabs.values()], key=f"{page.key}-tab", on_change="rerun", bind="query-params")
    for tab, name in zip(drawn, page.tabs, strict=True):
        if tab.open:
            opened = name
            with tab, st.container(gap=gap):
                contents[name]()
    return opened


@dataclass(frozen=True)
class Tabs:
    """The tabs of a page; only the open one is computed.

    path  address of the page, whose row in lab/lessons/pages.toml has the titles of the tabs
    key   session key of the widget
    """

    path: str
    key: str

    @property
    def titles(self) -> Mapping[str, str]:
        """Name of a tab in the address -> its title, which is the value in the session."""
        return BY_PATH[self.path].tabs

    @property
    def field(self) -> address.Field:
        """The address field for the open tab."""
        return address.chosen_tab(self.key, self.titles, BY_PATH[self.path].tab)

    def show(self, contents: Mapping[str, Callable[[], Any]], gap: Literal["xsmall", "small"] = "small") -> Any:
        """Draw the tabs and the contents of the open one, and return what its function returns.

        contents: name of a tab -> function that draws it; gap: space between the elements in a tab.
        """
        tabs = st.tabs(list(self.titles.values()), key=self.key, on_change=state.step)
        for tab, name in zip(tabs, self.titles, strict=True):
            if tab.open:
                with tab, st.container(gap=gap):
                    return contents[name]()
        return None

    @property
    def open(self) -> str:
        """The name of the open tab."""
        return next(name for name, title in self.titles.items() if title == st.session_state[self.key])


@dataclass(frozen=True)
class TabGroup:
    """One or more tabs of a page that share address fields, which the other tabs do not have.

    tabs  name of a tab in the address -> function that draws it
    """

    fields: Sequence[address.Field]
    tabs: Mapping[str, Draw]


def show_parts(tabs: Tabs, *parts: TabGroup) -> None:
    """Run a page that consists of several groups of tabs in one row."""
    fields = {tab: part.fields for part in parts for tab in part.tabs}
    draws = {tab: draw for part in parts for tab, draw in part.tabs.items()}
    with run(tabs.path, parts=state.Parts(tabs.field, fields)) as current:
        st.title(BY_PATH[tabs.path].title)
        end = tabs.show({tab: partial(draw, current) for tab, draw in draws.items()})
    if end:
        end()


def style(native: bool = False) -> None:
    """Load the app's style sheet and what every page offers: projecting by F, keys, its theme, and search."""
    st.html(STYLE)
    here = strict_json({"native": native, "path": st.session_state.get("path", "")})
    _listeners(key="listeners", data=here.encode(), on_theme_change=keep_value)
    search_field.show()


def theme() -> str:
    """Return "light" or "dark", the theme in the visitor's browser; "light" if it is unknown."""
    return st.context.theme.type or "light"


def closing(try_this: str, link: str, label: str, query: Mapping[str, str] | None = None) -> None:
    """Show a suggestion to try, with terms marked as for `prose`, and a link to the next page."""
    assignment.opened()
    progress.note()
    st.divider()
    prose(f"**Try this.** {try_this}")
    link_to(link, label, "arrow_forward", query)


def link_to(file: str, label: str, icon: str, query: Mapping[str, str] | None = None) -> None:
    """Show a link to a page, at an address with the parameters `query`. icon: name of a Material symbol.

    A link to the current page is a button instead, because Streamlit would not read the address again.
    """
    if query and file in BY_FILE:
        query = BY_FILE[file].parameters(query)
    if query and file in BY_FILE and not BY_FILE[file].key and BY_FILE[file].path == st.session_state.get("path"):
        button(label, f"{label} {urlencode(query)}", state.go, query, icon=icon, type="tertiary")
        return
    page = st.session_state.get("pages", {}).get(file, file)  # given a path, Streamlit would search for the file
    try:
        st.page_link(page, label=label, icon=f":material/{icon}:", query_params=dict(query or {}))
    except StreamlitPageNotFoundError:  # the page was started on its own, without app.py
        st.markdown(label)
