"""Fields of a page's address: how each is parsed, checked and written, and the note about parameters that do not fit.

The inverse of a parser turns a value into text; where it returns None, the address leaves the parameter out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import streamlit as st

MAX_NAME = 40  # characters of a parameter's name that a note repeats
MAX_NAMED = 8  # choices that a note lists


@dataclass(frozen=True)
class Field:
    """A value that a page keeps in the session and in its address.

    name     name of its parameter in the address
    key      session key, also of the widget if there is one; several keys if one parameter holds several values
    default  value when the address has no such parameter; a tuple for several keys
    parse    turns the parameter's text into the value; ValueError if it does not fit
    show     turns the value into the parameter's text; None leaves it out of the address
    limits   lowest and highest value that the widget accepts
    always   True writes the default, too. One field of each page should: an address without parameters comes from the
             menu, which returns to the page as the visitor left it
    label    what the page calls it, if that differs from `name`
    """

    name: str
    key: str | tuple[str, ...]
    default: Any
    parse: Callable[[str], Any] = str
    show: Callable[[Any], str | None] = str
    limits: tuple[Any, Any] = (None, None)
    always: bool = False
    label: str = ""

    @property
    def keys(self) -> Sequence[str]:
        """The session keys, also where there is only one."""
        return [self.key] if isinstance(self.key, str) else self.key

    def get(self) -> Any:
        """Return the value in this visitor's session."""
        session = st.session_state
        return session[self.key] if isinstance(self.key, str) else tuple(session[key] for key in self.key)

    def set(self, value: Any) -> None:
        """Store a value in the session; call it in a callback or before the widget is drawn."""
        st.session_state.update({self.key: value} if isinstance(self.key, str) else zip(self.key, value, strict=True))

    def owns(self, name: str) -> bool:
        """Tell whether the parameter with this name belongs to the field."""
        return name == self.name

    def read(self, address: Mapping[str, str]) -> tuple[Any, list[str]]:
        """Return the value in the address or else the default, and the names of the parameters that do not fit."""
        if self.name not in address:
            return copy(self.default), []
        try:
            return self._checked(address[self.name]), []
        except (ValueError, ArithmeticError):
            return copy(self.default), [self.name]

    def write(self, value: Any) -> dict[str, str]:
        """Return the parameters that stand for a value in the address; none if it is left out."""
        text = None if value == self.default and not self.always else self.show(value)
        return {} if text is None else {self.name: text}

    def display_name(self, name: str) -> str:
        """Return the name of a parameter for a note: the page's label, if it has one, and the name in the address."""
        return f"{self.label} (`{name}`)" if self.label else f"`{name}`"

    def accepted(self) -> str:
        """Describe the accepted values for a note, such as "whole numbers from 1 to 300"; "" if there are no limits."""
        choices = self.parse.choices if isinstance(self.parse, Choice) else ()
        if choices:
            return " or ".join(choices) if len(choices) <= MAX_NAMED else f"one of its {len(choices)} names"
        low, high = self.limits
        if low is None:
            return ""
        kind = "whole numbers" if self.parse is int or isinstance(self.default, int) else "numbers"
        return f"{kind} from {number(low)}{'' if high == math.inf else f' to {number(high)}'}"

    def fits(self, value: Any) -> bool:
        """Tell whether the value is within the widget's limits, which a browser need not keep to."""
        if self.limits == (None, None):
            return True
        return isinstance(value, (int, float)) and self.limits[0] <= value <= self.limits[1]

    def refuse_misfit(self) -> None:
        """Set the field to its default if the session has a value that its widget does not accept."""
        value = self.get()
        if value is not None and not self.fits(value):
            self.set(copy(self.default))

    def _checked(self, text: str) -> Any:
        value = self.parse(text)
        if not self.fits(value):
            raise ValueError(text)
        return value


class PrefixField(Field):
    """All parameters whose names are `name` and then an identifier; its value is a dict from identifiers to values."""

    def owns(self, name: str) -> bool:
        return name.startswith(self.name)

    def display_name(self, name: str) -> str:
        return f"{self.label} {name.removeprefix(self.name)} (`{name}`)" if self.label else f"`{name}`"

    def read(self, address: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
        found, wrong = {}, []
        for name in filter(self.owns, address):
            ending = name.removeprefix(self.name)
            try:
                value = self._checked(address[name])
            except (ValueError, ArithmeticError):
                wrong.append(name)
                continue
            if ending.isidentifier():
                found[ending] = value
            else:
                wrong.append(name)
        return found, wrong

    def write(self, value: dict[str, Any]) -> dict[str, str]:
        texts = {name: self.show(one) for name, one in value.items()}
        return {f"{self.name}{name}": text for name, text in texts.items() if text is not None}


@dataclass(frozen=True)
class Choice:
    """A parser that accepts one of the choices."""

    choices: tuple[str, ...]

    def __call__(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(text)
        return text


def one_of(*choices: str) -> Choice:
    """Return a parser that accepts one of the choices."""
    return Choice(choices)


def number_of(*numbers: float) -> Callable[[str], float]:
    """Return a parser that accepts one of the numbers."""
    return lambda text: numbers[numbers.index(float(text))]


def several_of(*choices: str) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of choices joined by commas, in any order, each at most once."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        if not set(names) <= set(choices) or len(set(names)) < len(names):
            raise ValueError(text)
        return names

    return parse


def joined(values: Iterable[str]) -> str | None:
    """Join values by commas, the inverse of `several_of`."""
    return ",".join(values) or None


def flag(text: str) -> bool:
    """Parse a parameter that is "1" if true and absent if false."""
    return one_of("1")(text) == "1"


def flagged(value: bool) -> str | None:
    """Return the text of a truth value, the inverse of `flag`."""
    return "1" if value else None


def number(value: float) -> str:
    """Write a number with no more digits than are needed to parse the same number again."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def optional(value: Any) -> str | None:
    """Return the text of a value; None for None."""
    return None if value is None else str(value)


def shorter_than(limit: int) -> Callable[[str], str]:
    """Return a parser of a text of at most `limit` characters."""

    def parse(text: str) -> str:
        if len(text) > limit:
            raise ValueError(text)
        return text

    return parse


def chosen_tab(key: str, titles: Mapping[str, str], name: str = "tab") -> Field:
    """Return a field for the open tab of a page; the default is the first.

    titles: name of a tab in the address -> its title, which is the value in the session.
    """
    parse = one_of(*titles)
    back = {title: tab for tab, title in titles.items()}
    return Field(name, key, next(iter(titles.values())), lambda text: titles[parse(text)], back.get, always=True)


def player_event(key: str) -> Field:
    """Return a field for the event at which the address opens the player; only the player writes it."""
    return Field("event", key, None, int, lambda event: None, limits=(0, math.inf))


def note(wrong: Sequence[tuple[Field, str]], unknown: Sequence[str]) -> str:
    """Describe which parameters of the address are not used.

    Anyone can write a link, so the note repeats a name only if it could be the name of a variable.
    """
    sentences = ["Part of this page's address does not fit, so the default is used there."]
    others = []
    for field, name in wrong:
        if not _is_name(name):
            unknown = [*unknown, name]
        elif accepted := field.accepted():
            sentences.append(f"{field.display_name(name)} takes {accepted}.")
        else:
            others.append(field.display_name(name))
    if others:
        sentences.append(f"The page cannot use the value of {', '.join(others)}.")
    proper = [f"`{name}`" for name in unknown if _is_name(name)]
    if len(proper) < len(unknown):
        proper.append("a name that no page has")
    if proper:
        sentences.append(f"It does not know {', '.join(proper)}.")
    return " ".join(sentences)


def _is_name(name: str) -> bool:
    return name.isidentifier() and len(name) <= MAX_NAME
