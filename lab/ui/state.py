"""The state of a page, kept in the session and in the address: a reload, a link and the browser's Back restore it.

A page lists its `Field`s and runs within `page`, which reads a new address into the session and at the end sends the
browser the address of the page's state. Only a player writes to the address, too: its event.

Streamlit's own `st.query_params` adds an entry to the browser's history for each change. So a component in
static/address/ writes the address, and adds an entry only for a `step`.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.lessons.pages import BY_FILE
from lab.text import strict_json
from lab.ui.address import Field, note
from lab.ui.assets import component

MAX_ADDRESS = 100_000  # characters of an address that is read
STREAMLIT_PARAMETERS = ("embed", "embed_options")  # which only Streamlit may set

_component = component("address", "address/address.js")


@dataclass(frozen=True)
class NavigationRequest:
    """A request to show a page as at another address, in most cases because the visitor pressed Back or Forward.

    page    name of the page; "" for the one that runs next
    search  query of the address; None leaves the page as the visitor left it
    move    number of the browser's move, which it expects back; 0 if a page makes the request
    """

    page: str
    search: str | None
    move: int = 0


@dataclass(frozen=True)
class Parts:
    """The parts of a page, one of which is open. The address holds only its fields and does not change the others.

    tab     the field for the open tab
    fields  name of a tab in the address -> fields of its part, which several tabs may share
    """

    tab: Field
    fields: Mapping[str, Sequence[Field]]

    @property
    def open(self) -> Sequence[Field]:
        """The fields of the open part; the address may leave out the name of the first."""
        return self.fields[self.tab.write(self.tab.get()).get(self.tab.name, next(iter(self.fields)))]


@dataclass
class PageState:
    """A page's fields during one run, as `page` yields it.

    every     all fields, including those of parts that are not open
    carried   fields in the addresses of all pages, except those whose names this page uses itself
    restored  True if this run has set the open fields from the address; the page then resets its other state
    written   True if this run has sent the address to the browser
    """

    name: str
    every: Sequence[Field]
    carried: Sequence[Field]
    parts: Parts | None = None
    restored: bool = False
    written: bool = False

    @property
    def fields(self) -> Sequence[Field]:
        """The fields in the address; if the page has parts, those of the open part."""
        return (self.parts.tab, *self.parts.open) if self.parts else self.every

    def write(self, *, kept: Sequence[str] = ()) -> None:
        """Send the browser the address of the current state, before the page ends.

        Call it when the fields have their final values, and before a player, which adds its event to the new address.

        kept  parameters that the player writes, which stay as they are
        """
        session = st.session_state
        if "address asked" in session:  # the request came while a fragment ran, but needs the whole page
            st.rerun()
        self.written = True
        self._remember()
        fields = [*self.carried, *(field for field in self.fields if field.name not in kept)]
        session["address entry"] = session.get("address entry", 0) + session.pop("address step", False)
        data = {
            "session": session.setdefault("address session", secrets.token_hex(4)),
            "page": self.name,
            "path": session.get("path", ""),
            "query": urlencode(parameters(fields)),
            "entry": session["address entry"],
            "kept": [*kept],
            "version": session.get("address version", 0),
        }
        # As bytes, because Streamlit imports pandas to inspect a dict.
        _component(key="address", data=strict_json(data).encode(), on_navigated_change=self._navigate)

    @contextlib.contextmanager
    def fragment(self, *fields: Field, kept: Sequence[str] = ()) -> Iterator[None]:
        """Wrap the body of a fragment that changes fields, and write them to the address afterwards.

        fields  fields whose widgets appear and disappear within the fragment
        kept    as for `write`
        """
        self._reassign_held(fields)
        for field in self.every:
            field.refuse_misfit()
        yield
        self._hold_absent(fields)
        self.write(kept=kept)

    def _restore(self) -> bool:
        """Bring the fields into the session, and tell whether the open ones were set from the address.

        They are set on the first run of a visit, when a part is first opened, after a link with parameters, and after
        the browser's Back or Forward. A parameter that does not fit gets a note, and its field the default. A visitor
        who returns to the page by the menu finds it unchanged.
        """
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
                session.pop("address step", None)  # a widget's restored value is not a choice of the visitor
            address = None if asked.search is None else dict(_read_query(asked.search.removeprefix("?")))
        elif entered and len(st.query_params):
            address = st.query_params.to_dict()
        else:
            address = None
        if address is None and values is None:
            address = {}
        known = values or {}
        for key, value in known.items():  # Streamlit forgets a widget that was not on the page, or has
            session[key] = value if entered else session.get(key, value)  # the value that the script set last
        reset(field for field in self.every if not all(key in known or key in session for key in field.keys))
        self._reassign_held(self.every)
        for field in self.every:
            field.refuse_misfit()
        if address is not None:
            self._read(address)
        self._remember()
        return self._is_new() or address is not None

    def _is_new(self) -> bool:
        """Tell whether the open part is opened for the first time in this visit."""
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
        brought = self.carried if any(field.name in address for field in self.carried) else []  # otherwise they stay
        for field in (*self.fields, *brought):
            value, names = field.read(address)
            wrong += [(field, name) for name in names]
            field.set(value)
        if wrong or unknown:
            st.info(note(wrong, unknown))

    def _navigate(self) -> None:
        """Request the address to which the browser has moved on this page, by Back or Forward."""
        session = st.session_state
        match session["address"].get("navigated"):
            case {"search": str(search), "version": int(version)} if version != session.get("address version"):
                session["address version"] = version
                if len(search) <= MAX_ADDRESS:
                    session["address asked"] = NavigationRequest(self.name, search, version)

    def _remember(self) -> None:
        keys = [key for field in self.every for key in field.keys]
        st.session_state[f"values of {self.name}"] = {key: st.session_state[key] for key in keys}

    def _hold_absent(self, fields: Iterable[Field]) -> None:
        """Keep the values of fields whose widgets are not on the page.

        Streamlit would restore the value that the script set last, which may differ from the visitor's.
        """
        session, context = st.session_state, get_script_run_ctx()
        shown = context.shared.widget_user_keys_this_run.snapshot() if context else frozenset()
        held: set[str] = session.get("held", set())
        for field in fields:
            held = held.difference(field.keys)
            if shown.isdisjoint(field.keys):
                field.set(field.get())
                held = held.union(field.keys)
        session["held"] = held

    def _reassign_held(self, fields: Iterable[Field]) -> None:
        """Re-assign held values before their widgets are drawn.

        Streamlit shows a reappearing widget's default unless its key is set in that same run. Which values are held
        changes only when a run completes: an interrupted run may have drawn any of the widgets.
        """
        held: set[str] = st.session_state.get("held", set())
        for field in fields:
            if not held.isdisjoint(field.keys):
                field.set(field.get())


@contextlib.contextmanager
def page(
    name: str, fields: Sequence[Field] = (), carried: Sequence[Field] = (), parts: Parts | None = None
) -> Iterator[PageState]:
    """Run a page: read a new address into its fields, and write the fields to the address afterwards.

    Fields whose widgets are not on the page keep their values.

    name     unique name of the page
    carried  fields in the addresses of all pages; those whose names the page uses itself are left out
    parts    in place of `fields`, if the page has parts
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
    """Make a page start as at an address with these parameters, whatever the browser's address is.

    page  name of the page, called before it runs; "" for the one that runs next
    """
    st.session_state["address asked"] = NavigationRequest(page, f"?{urlencode(query)}")


def go(query: Mapping[str, str]) -> None:
    """Go to another address of the current page; call it in a callback."""
    st.session_state["address asked"] = NavigationRequest(st.session_state["page"], f"?{urlencode(query)}")
    step()


def leave(file: str, here: str, query: Mapping[str, str] = MappingProxyType({})) -> None:
    """Open a page, or another address of this one, so that the browser's Back returns to the present state.

    file   file of the page
    here   parameters of the browser's present address, from `parameters` of static/current_page.js
    query  parameters of the address to open; without them the page is as the visitor left it
    """
    session = st.session_state
    if BY_FILE[file].key:  # Streamlit itself keeps the page's state in the address
        st.switch_page(file, query_params=dict(query))
    session["address asked"] = NavigationRequest("", f"?{urlencode(query)}" if query else None)
    if BY_FILE[file].path == session.get("path"):
        if query:
            step()
        st.rerun()
    try:  # Streamlit writes query_params into the address of the page that is left
        st.switch_page(file, query_params=_read_query(here if len(here) <= MAX_ADDRESS else ""))
    except StreamlitPageNotFoundError:  # the page was started on its own, without app.py
        del session["address asked"]


def _read_query(text: str) -> list[tuple[str, str]]:
    """Parse the parameters of an address, without those that only Streamlit may set."""
    return [pair for pair in parse_qsl(text, keep_blank_values=True) if pair[0].lower() not in STREAMLIT_PARAMETERS]


def put(key: str, value: Any) -> None:
    """Store a value in the session, as a callback."""
    st.session_state[key] = value


def forget_widgets(prefix: str) -> None:
    """Forget the widgets whose keys begin so; they then start from the page's values again."""
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]


def step() -> None:
    """Make the present action a step that the browser's Back undoes; call it in a callback."""
    st.session_state["address step"] = True


def position(key: str, count: int) -> int:
    """Return the index that a widget holds in a list of `count` items; the last one if the list has become shorter.

    Returns 0 if Streamlit has a name instead of an index, because the browser still shows another list.
    """
    at = st.session_state[key]
    return min(at, count - 1) if isinstance(at, int) else 0


def reset(fields: Iterable[Field]) -> None:
    """Set fields to their defaults; call it in a callback or before their widgets are drawn."""
    for field in fields:
        field.set(field.read({})[0])


def parameters(fields: Iterable[Field]) -> dict[str, str]:
    """Return the parameters of the address that stand for the present values of these fields."""
    return {name: text for field in fields for name, text in field.write(field.get()).items()}
