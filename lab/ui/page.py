"""What every page does the same way: its opening lines, the theme, and its closing lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.lessons.pages import BY_FILE, BY_PATH
from lab.ui import address, assignment, progress, search_field, state
from lab.ui.assets import component, keep_value
from lab.ui.project import projectable
from lab.ui.terms import closable, prose

Draw = Callable[[state.PageState], Callable[[], None] | None]  # a tab; what it returns is called as the page has ended
STYLE = Path(__file__).parents[2] / "assets" / "app.css"

_theme = component("theme", "theme/theme.js", "follow")


@contextmanager
def run(name: str, fields: Sequence[address.Field] = (), parts: state.Parts | None = None) -> Iterator[state.PageState]:
    """A run of a page, as `state.page` has it, in the app's own style and with the teacher's list in its address."""
    style()
    with state.page(name, fields, assignment.FIELDS, parts) as current:
        if current.restored:
            progress.arrive()
        yield current


@dataclass(frozen=True)
class Tabs:
    """The tabs of a page, of which only the open one is computed.

    path  of the page, whose row in lab/lessons/pages.toml has their titles
    key   of the widget, in the session
    """

    path: str
    key: str

    @property
    def titles(self) -> Mapping[str, str]:
        """The name of a tab in the address -> its title, which the session has."""
        return BY_PATH[self.path].tabs

    @property
    def field(self) -> address.Field:
        """Which one is open."""
        return address.chosen_tab(self.key, self.titles, BY_PATH[self.path].tab)

    def show(self, contents: Mapping[str, Callable[[], Any]], gap: Literal["xsmall", "small"] = "small") -> Any:
        """The tabs, with what draws each of them, and the gap between what is drawn. Returns what the open one does."""
        tabs = st.tabs(list(self.titles.values()), key=self.key, on_change=state.step)
        for tab, name in zip(tabs, self.titles, strict=True):
            if tab.open:
                with tab, st.container(gap=gap):
                    return contents[name]()
        return None

    @property
    def open(self) -> str:
        """The name of the open one."""
        return next(name for name, title in self.titles.items() if title == st.session_state[self.key])


@dataclass(frozen=True)
class TabGroup:
    """One or several tabs of a page, with fields that the other tabs do not have.

    tabs  name of a tab in the address -> what draws it
    """

    fields: Sequence[address.Field]
    tabs: Mapping[str, Draw]


def show_parts(tabs: Tabs, *parts: TabGroup) -> None:
    """A whole page of several parts in one row of tabs."""
    fields = {tab: part.fields for part in parts for tab in part.tabs}
    draws = {tab: draw for part in parts for tab, draw in part.tabs.items()}
    with run(tabs.path, parts=state.Parts(tabs.field, fields)) as current:
        st.title(BY_PATH[tabs.path].title)
        end = tabs.show({tab: partial(draw, current) for tab, draw in draws.items()})
    if end:
        end()


def opening(title: str, what_to_do: str) -> None:
    """The title and the two or three sentences that say what to do and what to look for."""
    st.title(title)
    st.markdown(what_to_do)


def style() -> None:
    """The app's own style, and what can be asked for from any page."""
    st.html(STYLE)
    closable()
    projectable()
    _theme(key="theme", on_changed_change=keep_value)
    search_field.show()


def theme() -> str:
    """ "light" or "dark", as the visitor's browser shows the page; light where nobody can tell."""
    return st.context.theme.type or "light"


def closing(try_this: str, link: str, label: str, query: Mapping[str, str] | None = None) -> None:
    """A suggestion to try, in which terms may be marked as `prose` reads them, and the page to go to next."""
    assignment.opened()
    progress.note()
    st.divider()
    if not assignment.hidden("try"):
        prose(f"**Try this.** {try_this}")
    link_to(link, label, ":material/arrow_forward:", query)


def link_to(file: str, label: str, icon: str, query: Mapping[str, str] | None = None) -> None:
    """A link to a page, at an address with these parameters. To the page that is open it is a button: Streamlit would
    not read the address again."""
    if query and file in BY_FILE and BY_FILE[file].path == st.session_state.get("path"):
        st.button(label, f"{label} {urlencode(query)}", icon=icon, type="tertiary", on_click=state.go, args=(query,))
        return
    page = st.session_state.get("pages", {}).get(file, file)  # Streamlit would look for the file
    try:
        st.page_link(page, label=label, icon=icon, query_params=dict(query or {}))
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        st.markdown(label)
