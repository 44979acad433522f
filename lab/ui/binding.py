"""Values that no widget can hold, kept in the session and in the page's address: a counter, a dict, a path of answers.

A widget's own value needs none of this: `bind="query-params"` keeps it in the address, and in the session while the
widget is not on the page. Such a key is written with hyphens and is the parameter's name; one with spaces is the
session's alone.

The address is read when the visitor comes to the page with parameters, or goes Back or Forward within it. It is not
read otherwise, because the browser sends the address it had when the visitor pressed a button: what the server has
written since would be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import streamlit as st

# The parameter that numbers the history entries of a page, and what the browser adds to the number of one that it has
# left: static/page/navigation.js.
ENTRY, LEFT = "entry", "~"
SINCE = "since step"  # session key: whether this run has a step, and what was set: key -> new value, old values
MAX_ENTRY = 20  # characters of the number
MAX_TEXT = 100_000  # characters of a parameter that is read


@dataclass(frozen=True)
class HeldValue:
    """A value that a page keeps in the session and in its address.

    key      session key, which is also the name of the parameter
    default  value when the address has no such parameter; the address then leaves it out
    parse    turns the parameter's text into the value; ValueError if it does not fit
    show     turns the value into the parameter's text; None leaves it out
    shared   True for a value that belongs to all pages: it stays when an address does not have it
    written  False for a value that the browser itself writes to the address, such as the player's event
    """

    key: str
    default: Any
    parse: Callable[[str], Any] = str
    show: Callable[[Any], str | None] = str
    shared: bool = False
    written: bool = True

    def owns(self, name: str) -> bool:
        """Return whether the parameter with this name belongs to the value."""
        return name == self.key

    def read(self, address: Mapping[str, str]) -> Any:
        """Return the value in the address; the default if it has none, or one that does not fit."""
        return self._parsed(address.get(self.key), copy(self.default))

    def write(self, value: Any) -> dict[str, str]:
        """Return the parameters that stand for a value."""
        text = None if value == self.default else self.show(value)
        return {} if text is None else {self.key: text}

    def _parsed(self, text: str | None, otherwise: Any = None) -> Any:
        try:
            return otherwise if text is None or len(text) > MAX_TEXT else self.parse(text)
        except (ValueError, ArithmeticError):
            return otherwise


class HeldDict(HeldValue):
    """A dict from names to values: one parameter for each name, called by the key and then the name."""

    def owns(self, name: str) -> bool:
        return name.startswith(self.key) and name.removeprefix(self.key).isidentifier()

    def read(self, address: Mapping[str, str]) -> dict[str, Any]:
        found = {name.removeprefix(self.key): self._parsed(address[name]) for name in filter(self.owns, address)}
        return {name: value for name, value in found.items() if value is not None}

    def write(self, value: Mapping[str, Any]) -> dict[str, str]:
        texts = {f"{self.key}{name}": self.show(one) for name, one in value.items()}
        return {name: text for name, text in texts.items() if text is not None}


def choice(key: str, *options: str | None, written: bool = True) -> HeldValue:
    """Return a value that is one of the options; the first is the default."""
    return HeldValue(key, options[0], one_of(*options), written=written)


def one_of(*options: str | None) -> Callable[[str], str]:
    """Return a parser that accepts one of the options."""

    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    return parse


def several(key: str, *options: str) -> HeldValue:
    """Return some of the options, in any order, each at most once; at first none."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        if not set(names) <= set(options) or len(set(names)) < len(names):
            raise ValueError(text)
        return names

    return HeldValue(key, (), parse, ",".join)


def natural(text: str) -> int:
    """Parse a whole number that is not negative."""
    if int(text) < 0:
        raise ValueError(text)
    return int(text)


def whole(key: str, default: int, low: int, high: int) -> HeldValue:
    """Return a whole number between two limits."""

    def parse(text: str) -> int:
        if not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return HeldValue(key, default, parse)


def flag(key: str) -> HeldValue:
    """Return a truth value, which is False at first."""
    return HeldValue(key, False, lambda text: text == "1", lambda value: "1" if value else None)


def number(value: float) -> str:
    """Write a number with no more digits than are needed to parse the same number again."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def arrive(page: str, *values: HeldValue) -> bool:
    """Bring values into the session before the page is drawn, and return whether they have just come from an address.

    page: unique name of the page.
    """
    session, address = st.session_state, st.query_params.to_dict()
    entered, session["page"] = session.get("page") != page, page
    others = (ENTRY, *(value.key for value in values if value.shared))
    asked = entered and any(name not in others for name in address)
    asked = _moved(address.get(ENTRY, ""), entered) or asked
    new = False
    for value in values:
        known = value.key in session
        brought = (asked or entered) and value.key in address if value.shared else asked
        if brought or not known:
            set_widget(value.key, value.read(address))
        new = new or not known
    return asked or new


def _moved(text: str, entered: bool) -> bool:
    """Return whether the browser has moved to another entry of this page's history; text: its number in the address.

    After `step` the browser sends the entry it had before until it has heard of the new one, and then renames the old
    one. An entry that it has moved to is renamed here: from then on it has heard of the values.
    """
    session = st.session_state
    entry = _entry(text)
    known = session.get(ENTRY, ("",))
    if not entered and entry in known:
        _keep()
        if entry == known[0] and not session[SINCE]["stepped"]:
            session[ENTRY] = known[:1]
            session[SINCE]["set"] = {}
        session[SINCE]["stepped"] = False
        return False
    session[ENTRY], session[SINCE] = (entry,), {"stepped": False, "set": {}}
    if not entered:
        session[ENTRY] = entry.removesuffix(LEFT) if LEFT in entry else entry + LEFT, entry
        st.query_params[ENTRY] = session[ENTRY][0] or []
    return not entered


def _entry(text: str) -> str:
    """Return the number of an entry as it is in the address; "" for anything else."""
    return text if (text.rstrip(LEFT) or "0").isdecimal() and len(text) < MAX_ENTRY else ""


def _keep() -> None:
    """Set again what `set_widget` has set if the message has left the browser before it heard of that entry.

    Such a message has the old values of the widgets. A value that differs from them is what the visitor has chosen.
    """
    session = st.session_state
    if _entry(st.query_params.get(ENTRY, "")) == session[ENTRY][0]:
        return
    for key, (value, *before) in session[SINCE]["set"].items():
        if session.get(key) in before:
            session[key] = value


def write(*values: HeldValue) -> None:
    """Write values to the address; call it at the end of a page, and of a fragment that changes them."""
    session, address = st.session_state, st.query_params
    values = tuple(value for value in values if value.written)
    wanted = {name: text for value in values for name, text in value.write(session[value.key]).items()}
    changed: dict[str, str | list[str]] = {name: text for name, text in wanted.items() if address.get(name) != text}
    gone = (name for name in address if name not in wanted and any(value.owns(name) for value in values))
    changed |= {name: [] for name in gone}  # a parameter without values is left out
    if changed:
        address.update(changed)  # at once: each message to the browser costs time


def reset(*values: HeldValue) -> None:
    """Set values to their defaults; call it in a callback or before they are used."""
    st.session_state.update({value.key: copy(value.default) for value in values})


def put(key: str, value: Any) -> None:
    """Store a value in the session, as a callback."""
    st.session_state[key] = value


def set_widget(key: str, value: Any) -> None:
    """Set a widget of an entry that has just begun, although its old value may still be on the way here."""
    session = st.session_state
    session[SINCE]["set"][key] = value, session.get(key), *session[SINCE]["set"].get(key, ())[1:]
    session[key] = value


def step() -> None:
    """Make the present action one that the browser's Back undoes; call it in a callback, before anything changes."""
    _keep()
    known = st.session_state[ENTRY]
    entry = str(int(known[0].rstrip(LEFT) or 0) + 1)
    st.session_state[ENTRY] = entry, *known
    st.session_state[SINCE]["stepped"] = True
    st.query_params[ENTRY] = entry
