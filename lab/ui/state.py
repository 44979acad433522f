"""How a page keeps what it shows: in the session, and in the address, so that a reload, a copied link and the browser's
Back bring it again.

A page lists its `Field`s and runs within `page`, which reads the address into the session where the address is news,
and tells the browser at the end what the address is to be. Besides, only a player writes to the address: its event.

Streamlit's own `st.query_params` makes an entry in the browser's history for each change. So a component writes the
address, in static/address/: it makes an entry only for a `step`.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.lessons.pages import BY_FILE
from lab.text import strict_json
from lab.ui.address import Field, note
from lab.ui.assets import component

MAX_ADDRESS = 100_000  # characters
STREAMLITS_OWN = ("embed", "embed_options")  # parameters

_component = component("address", "address/address.js")


@dataclass(frozen=True)
class NavigationRequest:
    """A page is to be as at another address: in most cases because the browser has gone there by itself.

    page, search  this address, whose page is "" where it is the one that runs next; without a search the page stays
                  as the visitor left it
    move          the number of the browser's move, which it waits to hear again; 0: another page asks for it
    """

    page: str
    search: str | None
    move: int = 0


@dataclass(frozen=True)
class Parts:
    """The parts of a page, of which one is open. The address is that part's: it says nothing of the others, and leaves
    them as they are.

    tab     says which of the page's tabs is open
    fields  the name of a tab in the address -> the fields of its part, which several tabs may share
    """

    tab: Field
    fields: Mapping[str, Sequence[Field]]

    @property
    def open(self) -> Sequence[Field]:
        """The fields of the open part."""
        return self.fields[self.tab.write(self.tab.get())[self.tab.name]]


@dataclass
class PageState:
    """A page's fields during one run of it, as `page` yields it.

    every     all its fields, also those of parts that are not open
    carried   fields that the addresses of all pages have, where this page has none of that name
    restored  have the open fields been set from the address? Then what else the page keeps begins again
    written   has this run said what the address is to be?
    """

    name: str
    every: Sequence[Field]
    carried: Sequence[Field]
    parts: Parts | None = None
    restored: bool = False
    written: bool = False

    @property
    def fields(self) -> Sequence[Field]:
        """Those that the address has: of a page with parts, those of the open one."""
        return (self.parts.tab, *self.parts.open) if self.parts else self.every

    def write(self, *, kept: Sequence[str] = ()) -> None:
        """Let the address say what the session has, before the page ends: once the fields are what they will be, and
        before a player, which adds its event to the new address.

        kept  parameters that the player writes, and that stay as they are
        """
        session = st.session_state
        if "address asked" in session:  # a fragment has heard of it: the whole page is to run
            st.rerun()
        self.written = True
        self._remember()
        fields = [*self.carried, *(field for field in self.fields if field.name not in kept)]
        session["address entry"] = session.get("address entry", 0) + session.pop("address step", False)
        told = {
            "session": session.setdefault("address session", secrets.token_hex(4)),
            "page": self.name,
            "path": session.get("path", ""),
            "query": urlencode(parameters(fields)),
            "entry": session["address entry"],
            "kept": [*kept],
            "version": session.get("address version", 0),
        }
        # As bytes: to look into a dict, Streamlit imports pandas.
        _component(key="address", data=strict_json(told).encode(), on_went_change=self._navigate)

    @contextlib.contextmanager
    def fragment(self, *fields: Field, kept: Sequence[str] = ()) -> Iterator[None]:
        """Around what changes fields in a part of the page that runs by itself: it is in the address afterwards.

        fields  whose widgets come and go within this part
        kept    as for `write`
        """
        self._give_back(fields)
        yield
        self._hold_absent(fields)
        self.write(kept=kept)

    def _restore(self) -> bool:
        """Bring the fields into the session, and say whether the open ones are set anew: on the first run of a visit,
        where a part is opened for the first time, after a link with parameters, and after the browser's Back or
        Forward. What does not fit in the address gets a note, and its field the default. A visitor who comes back to
        the page by the menu finds all as it was."""
        session = st.session_state
        for field in self.carried:
            for key in field.keys:
                session.setdefault(key, field.default)
        entered, session["page"] = session.get("page") != self.name, self.name
        values = session.get(f"values of {self.name}")
        asked: NavigationRequest | None = session.pop("address asked", None)
        address: dict[str, str] | None
        if asked and asked.page in (self.name, ""):
            if asked.move:
                session.pop("address step", None)  # a widget's old value is no choice
            address = None if asked.search is None else dict(_read_query(asked.search.removeprefix("?")))
        elif entered and len(st.query_params):
            address = st.query_params.to_dict()
        else:
            address = None
        if address is None and values is None:
            address = {}
        known = values or {}
        for key, value in known.items():  # Streamlit forgets a widget that was not on the page,
            session[key] = value if entered else session.get(key, value)  # or has what the script set last
        reset(field for field in self.every if not all(key in known or key in session for key in field.keys))
        self._give_back(self.every)
        if address is not None:
            self._read(address)
        self._remember()
        return self._is_new() or address is not None

    def _is_new(self) -> bool:
        """Is this the first run of the visit in which the open part is open?"""
        if not self.parts:
            return False
        begun: frozenset[str] = st.session_state.get(f"begun on {self.name}", frozenset())
        part = next(tab for tab, fields in self.parts.fields.items() if fields is self.parts.open)
        st.session_state[f"begun on {self.name}"] = begun | {part}
        return part not in begun

    def _read(self, address: dict[str, str]) -> None:
        if self.parts:
            self.parts.tab.set(self.parts.tab.read(address)[0])
        unknown = [name for name in address if not any(field.owns(name) for field in (*self.fields, *self.carried))]
        wrong: list[tuple[Field, str]] = []
        brought = self.carried if any(field.name in address for field in self.carried) else []  # else they stay
        for field in (*self.fields, *brought):
            value, names = field.read(address)
            wrong += [(field, name) for name in names]
            field.set(value)
        if wrong or unknown:
            st.info(note(wrong, unknown))

    def _navigate(self) -> None:
        """The browser has gone to another address of this page by itself."""
        session = st.session_state
        match session["address"].get("went"):
            case {"search": str(search), "version": int(version)} if version != session.get("address version"):
                session["address version"] = version
                if len(search) <= MAX_ADDRESS:
                    session["address asked"] = NavigationRequest(self.name, search, version)

    def _remember(self) -> None:
        keys = [key for field in self.every for key in field.keys]
        st.session_state[f"values of {self.name}"] = {key: st.session_state[key] for key in keys}

    def _hold_absent(self, fields: Iterable[Field]) -> None:
        """Keep what fields have while their widgets are not on the page: Streamlit would go back to what the script,
        and not the visitor, has set last."""
        session, context = st.session_state, get_script_run_ctx()
        shown = context.shared.widget_user_keys_this_run.snapshot() if context else frozenset()
        held: set[str] = session.get("held", set())
        for field in fields:
            held = held.difference(field.keys)
            if shown.isdisjoint(field.keys):
                field.set(field.get())
                held = held.union(field.keys)
        session["held"] = held

    def _give_back(self, fields: Iterable[Field]) -> None:
        """Set what was held in an earlier run once more, before its widgets: a browser that has not had a widget on the
        page shows its default, unless the script sets it in the run in which it comes. What is held changes only where
        a run comes to its end: one that a new message cuts off may have drawn anything."""
        held: set[str] = st.session_state.get("held", set())
        for field in fields:
            if not held.isdisjoint(field.keys):
                field.set(field.get())


@contextlib.contextmanager
def page(
    name: str, fields: Sequence[Field] = (), carried: Sequence[Field] = (), parts: Parts | None = None
) -> Iterator[PageState]:
    """A run of a page: its fields come from the address where that is news, and are in the address afterwards. Those
    whose widgets are not on the page keep their values.

    name     no other page has it
    carried  fields that the addresses of all pages have; those whose names the page's own fields take are left out
    parts    in place of fields, on a page that has some
    """
    if parts:
        fields = list({id(field): field for own in ([parts.tab], *parts.fields.values()) for field in own}.values())
    current = PageState(
        name, fields, [field for field in carried if not any(own.owns(field.name) for own in fields)], parts
    )
    current.restored = current._restore()
    yield current
    current._hold_absent(fields)
    if not current.written:
        current.write()


def begin(page: str, query: Mapping[str, str] = MappingProxyType({})) -> None:
    """Let the page begin as at an address with these parameters, whatever the browser's is (before it runs).

    page  its name; "" for the one that runs next
    """
    st.session_state["address asked"] = NavigationRequest(page, f"?{urlencode(query)}")


def go(query: Mapping[str, str]) -> None:
    """To another address of the page that is open (in a callback)."""
    st.session_state["address asked"] = NavigationRequest(st.session_state["page"], f"?{urlencode(query)}")
    step()


def leave(file: str, here: str, query: Mapping[str, str] = MappingProxyType({})) -> None:
    """To a page, or to another place of this one, so that the browser's Back finds what is open now as it was left.

    file   of the page
    here   the parameters that the browser has, from `parameters` of static/current_page.js
    query  those of the address to go to; without them the page is as the visitor left it
    """
    session = st.session_state
    session["address asked"] = NavigationRequest("", f"?{urlencode(query)}" if query else None)
    if BY_FILE[file].path == session.get("path"):
        if query:
            step()
        st.rerun()
    try:  # Streamlit writes what it is given into the address of the page that is left
        st.switch_page(file, query_params=_read_query(here if len(here) <= MAX_ADDRESS else ""))
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        del session["address asked"]


def _read_query(text: str) -> list[tuple[str, str]]:
    """The parameters of an address, without those that only Streamlit may set."""
    return [pair for pair in parse_qsl(text, keep_blank_values=True) if pair[0].lower() not in STREAMLITS_OWN]


def step() -> None:
    """What the visitor does now is a step that the browser's Back undoes (in a callback)."""
    st.session_state["address step"] = True


def position(key: str, count: int) -> int:
    """The place that a widget has in a list of so many; the nearest one where the list has become shorter.

    Streamlit reads a name in place of a number while the browser still shows another list: then the first place.
    """
    at = st.session_state[key]
    return min(at, count - 1) if isinstance(at, int) else 0


def reset(fields: Iterable[Field]) -> None:
    """Set fields to their defaults (in a callback, or before their widgets)."""
    for field in fields:
        field.set(field.read({})[0])


def parameters(fields: Iterable[Field]) -> dict[str, str]:
    """What the address says of these fields."""
    return {name: text for field in fields for name, text in field.write(field.get()).items()}
