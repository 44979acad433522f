"""What an address says of a page: its fields, each with a parser, and the note about what does not fit.

The opposite of a parser shows a value; None leaves it out of the address.
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
    """One thing that a page remembers.

    name     of its parameter in the address
    key      in the session, of the widget where there is one; several keys where one parameter holds several values
    default  for a visitor whose address does not say it; of several keys a tuple
    parse    the parameter's text -> the value. ValueError for what does not fit
    show     the value -> the parameter's text; None leaves it out of the address
    limits   the lowest and the highest value that the widget takes
    always   in the address even where it is the default. One field of a page should be: an address without any
             parameter is that of the menu, which leads to what the visitor left here
    label    what the page calls it, where that is another word than its name
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
        """Its keys in the session."""
        return [self.key] if isinstance(self.key, str) else self.key

    def get(self) -> Any:
        """Its value in this visitor's session."""
        session = st.session_state
        return session[self.key] if isinstance(self.key, str) else tuple(session[key] for key in self.key)

    def set(self, value: Any) -> None:
        """Give it a value: in a callback, or before its widget."""
        st.session_state.update({self.key: value} if isinstance(self.key, str) else zip(self.key, value, strict=True))

    def owns(self, name: str) -> bool:
        """Is it the parameter with this name?"""
        return name == self.name

    def read(self, address: Mapping[str, str]) -> tuple[Any, list[str]]:
        """The value that the address gives it, or the default; and the names of the parameters that do not fit."""
        if self.name not in address:
            return copy(self.default), []
        try:
            return self._checked(address[self.name]), []
        except (ValueError, ArithmeticError):
            return copy(self.default), [self.name]

    def write(self, value: Any) -> dict[str, str]:
        """Its part of the address."""
        text = None if value == self.default and not self.always else self.show(value)
        return {} if text is None else {self.name: text}

    def called(self, name: str) -> str:
        """What a note calls the parameter with this name: as the page does, and as the address does."""
        return f"{self.label} (`{name}`)" if self.label else f"`{name}`"

    def taken(self) -> str:
        """What it takes, for a note: "whole numbers from 1 to 300". "" where that is no short list and no range."""
        choices = self.parse.choices if isinstance(self.parse, Choice) else ()
        if choices:
            return " or ".join(choices) if len(choices) <= MAX_NAMED else f"one of its {len(choices)} names"
        low, high = self.limits
        if low is None:
            return ""
        kind = "whole numbers" if self.parse is int or isinstance(self.default, int) else "numbers"
        return f"{kind} from {number(low)}{'' if high == math.inf else f' to {number(high)}'}"

    def fits(self, value: Any) -> bool:
        """Does its widget take the value?"""
        return self.limits == (None, None) or self.limits[0] <= value <= self.limits[1]

    def _checked(self, text: str) -> Any:
        value = self.parse(text)
        if not self.fits(value):
            raise ValueError(text)
        return value


class PrefixField(Field):
    """Parameters whose names begin with `name` and end with an identifier; its value is a dict from these endings."""

    def owns(self, name: str) -> bool:
        return name.startswith(self.name)

    def called(self, name: str) -> str:
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
    """A parser that takes one of the choices."""

    choices: tuple[str, ...]

    def __call__(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(text)
        return text


def one_of(*choices: str) -> Choice:
    """A parser that takes one of the choices."""
    return Choice(choices)


def several_of(*choices: str) -> Callable[[str], tuple[str, ...]]:
    """A parser of choices joined by commas, in any order, each once."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        if not set(names) <= set(choices) or len(set(names)) < len(names):
            raise ValueError(text)
        return names

    return parse


def joined(values: Iterable[str]) -> str | None:
    """The opposite of `several_of`."""
    return ",".join(values) or None


def flag(text: str) -> bool:
    """A parser of what is true or not in the address at all."""
    return one_of("1")(text) == "1"


def flagged(value: bool) -> str | None:
    """The opposite of `flag`."""
    return "1" if value else None


def number(value: float) -> str:
    """Shows a number with as many digits as it takes to read the same one again, and no more."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def optional(value: Any) -> str | None:
    """Shows a value that may be None."""
    return None if value is None else str(value)


def shorter_than(most: int) -> Callable[[str], str]:
    """A parser of a text of at most so many characters."""

    def parse(text: str) -> str:
        if len(text) > most:
            raise ValueError(text)
        return text

    return parse


def chosen_tab(key: str, titles: Mapping[str, str], name: str = "tab") -> Field:
    """Which of a page's tabs is open, the first at first. titles: its name in the address -> its title, which the
    session has."""
    parse = one_of(*titles)
    back = {title: tab for tab, title in titles.items()}
    return Field(name, key, next(iter(titles.values())), lambda text: titles[parse(text)], back.get, always=True)


def player_event(key: str) -> Field:
    """The event at which the address opens the player. The player writes it, a page only leaves it there."""
    return Field("event", key, None, int, lambda event: None, limits=(0, math.inf))


def note(wrong: Sequence[tuple[Field, str]], unknown: Sequence[str]) -> str:
    """What of the address is not used. The names are anybody's who writes a link: only what could be the name of a
    variable is repeated."""
    sentences = ["Part of this page's address does not fit, so the default is used there."]
    others = []
    for field, name in wrong:
        if not _is_name(name):
            unknown = [*unknown, name]
        elif taken := field.taken():
            sentences.append(f"{field.called(name)} takes {taken}.")
        else:
            others.append(field.called(name))
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
