"""How a page keeps what it shows: in the session, and in the address, so that a reload, a copied link and the browser's
Back bring it again.

A page lists its `Field`s. It begins with `restore`, which reads the address into the session where the address is news;
`mirror` tells the browser what the address is to be. Nothing else reads or writes the address, except that the player
keeps its event there (lab/ui/player.py).

Streamlit's own `st.query_params` makes an entry in the browser's history for each change. So a component writes the
address, in static/address/: it makes an entry only for a `step`.
"""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.lessons import assignment_link
from lab.lessons.assignment import LONGEST as LONGEST_BEGINNING
from lab.trace.recording import strict_json
from lab.ui.assets import component

LONGEST, LONGEST_NAME = 100_000, 40  # characters: of an address, and of a parameter's name that a note repeats
MAX_NAMED = 8  # choices that a note lists
STREAMLITS_OWN = ("embed", "embed_options")  # parameters

_component = component("address", "address/address.js")


@dataclass
class Asked:
    """A page is to be as at another address: in most cases because the browser has gone there by itself.

    page, search  this address
    number        of the browser's move, or 0. What is done on the page before it shows the answer is sent with the
                  values that its widgets had before, as if they had been chosen anew; so the browser says when it has
                  `seen` the answer
    restored      has the page been computed for it?
    """

    page: str
    search: str
    number: int = 0
    restored: bool = False

    def seen(self) -> bool:
        """Do the widgets of this run say what the browser shows since then?"""
        return self.number in (0, st.session_state.get("address", {}).get("seen"))


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


class Family(Field):
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


LONGEST_SET_NAME = 80  # characters
SET = (  # what a teacher's link has brought (lab/ui/assignment.py): of every page whose own fields lack these names
    Field(assignment_link.ITEMS, "set items", (), assignment_link.read, assignment_link.written),
    Field(assignment_link.NAME, "set name", "", shorter_than(LONGEST_SET_NAME)),
    Field(assignment_link.HIDE, "set hidden", (), assignment_link.words, "~".join),
    Field(assignment_link.BEGIN, "set begin", "", shorter_than(LONGEST_BEGINNING)),
)


def chosen_tab(key: str, titles: Mapping[str, str], name: str = "tab") -> Field:
    """Which of a page's tabs is open, the first at first. titles: its name in the address -> its title, which the
    session has."""
    parse = one_of(*titles)
    back = {title: tab for tab, title in titles.items()}
    return Field(name, key, next(iter(titles.values())), lambda text: titles[parse(text)], back.get, always=True)


def player_event(key: str) -> Field:
    """The event at which the address opens the player. The player writes it, so `mirror` only leaves it there."""
    return Field("event", key, None, int, lambda event: None, limits=(0, math.inf))


@dataclass
class PageState:
    """A page's fields during one run of it, as `page` yields it.

    restored  have the fields been set from the address? Then what else the page keeps begins again
    written   has this run said what the address is to be?
    """

    name: str
    fields: Sequence[Field]
    restored: bool
    written: bool = False

    def write(self, *, kept: Sequence[str] = ()) -> None:
        """Let the address say what the session has, before the page ends: once the fields are what they will be, and
        before a player, which adds its event to the new address.

        kept  parameters that the player writes, and that stay as they are
        """
        self.written = True
        mirror(self.name, self.fields, kept=kept)

    @contextlib.contextmanager
    def fragment(self, *fields: Field, kept: Sequence[str] = ()) -> Iterator[None]:
        """Around what changes fields in a part of the page that runs by itself: it is in the address afterwards.

        fields  whose widgets come and go within this part
        kept    as for `write`
        """
        give_back([key for field in fields for key in _keys(field)])
        yield
        _hold_absent(fields)
        self.write(kept=kept)


@contextlib.contextmanager
def page(name: str, fields: Sequence[Field]) -> Iterator[PageState]:
    """A run of a page: its fields come from the address where that is news, and are in the address afterwards. Those
    whose widgets are not on the page keep their values.

    name  no other page has it
    """
    current = PageState(name, fields, restore(name, fields))
    yield current
    _hold_absent(fields)
    if not current.written:
        current.write()


def _hold_absent(fields: Iterable[Field]) -> None:
    context = get_script_run_ctx()
    shown = context.shared.widget_user_keys_this_run.snapshot() if context else frozenset()
    hold(field for field in fields if shown.isdisjoint(_keys(field)))


def restore(page: str, fields: Sequence[Field]) -> bool:
    """Bring the fields into the session, at the beginning of each run of a page.

    True where they have been set anew: on the first run of a visit, after a link with parameters, and after the
    browser's Back or Forward, until it shows the answer. What does not fit in the address gets a note, and its field
    the default. A visitor who comes back to the page by the menu finds all as it was.
    """
    state = st.session_state
    for field in SET:
        state.setdefault(str(field.key), field.default)
    entered, state["page"] = state.get("page") != page, page
    kept = state.get(f"{page} kept")
    asked: Asked | None = state.get("address asked")
    if asked and (asked.page != page or asked.seen()):
        del state["address asked"]
    if asked and asked.page == page:
        asked.restored = True
        if asked.number:
            state.pop("address step", None)  # a widget's old value is no choice
        address = dict(parse_qsl(asked.search.removeprefix("?"), keep_blank_values=True))
        for name in STREAMLITS_OWN:
            address.pop(name, None)
    elif entered and (len(st.query_params) or kept is None):
        address = st.query_params.to_dict()
    else:
        for key, value in (kept or {}).items():
            state.setdefault(key, value)  # Streamlit forgets a widget that was not on the page
        give_back(state.get("held", {}))
        _keep(page, fields)
        return False
    state.pop("cards undone", None)
    carried = _carried(fields)
    unknown = [name for name in address if not any(field.owns(name) for field in (*fields, *carried))]
    wrong: list[tuple[Field, str]] = []
    brought = carried if any(field.name in address for field in carried) else []  # no other address takes the set away
    for field in (*fields, *brought):
        value, names = field.read(address)
        wrong += [(field, name) for name in names]
        _set(field, value)
    if wrong or unknown:
        st.info(_note(wrong, unknown))
    _keep(page, fields)
    return True


def begin(page: str) -> None:
    """Let the page begin as at an address without parameters, whatever the browser's is (before `restore`)."""
    st.session_state["address asked"] = Asked(page, "")


def mirror(page: str, fields: Sequence[Field], *, kept: Sequence[str] = ()) -> None:
    """Let the address say what the session has, in each run of the page, or of a fragment that changes a field.

    As soon as the fields are what they will be; before the player, which adds its event to the new address.

    kept  parameters that the player writes, and that stay as they are
    """
    state = st.session_state
    asked: Asked | None = state.get("address asked")
    if asked and (not asked.restored or asked.seen()):  # in a fragment: `restore` has not run
        st.rerun()
    _keep(page, fields)
    address: dict[str, str] = {}
    for field in fields:
        if field.name not in kept:
            address |= field.write(_get(field))
    address = of_set(_carried(fields)) | address
    state["address entry"] = state.get("address entry", 0) + state.pop("address step", False)
    said = {
        "session": state.setdefault("address session", secrets.token_hex(4)),
        "page": page,
        "path": state.get("path", ""),
        "query": urlencode(address),
        "entry": state["address entry"],
        "kept": [*kept],
        "heard": state.get("address heard", 0),
    }
    # As bytes: to look into a dict, Streamlit imports pandas.
    _component(key="address", data=strict_json(said).encode(), on_went_change=lambda: _ask(page))


def step() -> None:
    """What the visitor does now is a step that the browser's Back undoes (in a callback)."""
    st.session_state["address step"] = True


def hold(fields: Iterable[Field]) -> None:
    """Keep what fields have while their widgets are not on the page: Streamlit would go back to what the script, and
    not the visitor, has set last. In the run in which the widgets come back, `give_back` has the last word."""
    held: dict[str, None] = st.session_state.get("held", {})
    for field in fields:
        _set(field, _get(field))
        held |= dict.fromkeys(_keys(field))
    st.session_state["held"] = held


def give_back(keys: Iterable[str]) -> None:
    """Set what was held in an earlier run once more, before its widgets: a browser that has not had a widget on the
    page shows its default, unless the script sets it in the run in which it comes. `restore` does it for all; a
    fragment does it for widgets that come and go inside it."""
    state = st.session_state
    held = state.get("held", {})
    for key in [key for key in keys if key in held]:
        del held[key]
        with contextlib.suppress(KeyError):
            state[key] = state[key]


def reset(fields: Iterable[Field]) -> None:
    """Set fields to their defaults (in a callback, or before their widgets)."""
    for field in fields:
        _set(field, field.read({})[0])


def of_set(fields: Iterable[Field] = SET) -> dict[str, str]:
    """What the address says of the set, or of these fields of it."""
    return {name: text for field in fields for name, text in field.write(_get(field)).items()}


def _carried(fields: Sequence[Field]) -> list[Field]:
    return [field for field in SET if not any(own.owns(field.name) for own in fields)]


def _ask(page: str) -> None:
    """The browser has gone to another address of this page by itself."""
    state = st.session_state
    match state["address"].get("went"):
        case {"search": str(search), "number": int(number)}:
            state["address heard"] = number
            if len(search) <= LONGEST:
                state["address asked"] = Asked(page, search, number)


def _keys(field: Field) -> Sequence[str]:
    return [field.key] if isinstance(field.key, str) else field.key


def _get(field: Field) -> Any:
    state = st.session_state
    return state[field.key] if isinstance(field.key, str) else tuple(state[key] for key in field.key)


def _set(field: Field, value: Any) -> None:
    if isinstance(field.key, str):
        st.session_state[field.key] = value
    else:
        st.session_state.update(zip(field.key, value, strict=True))


def _keep(page: str, fields: Sequence[Field]) -> None:
    keys = [key for field in fields for key in _keys(field)]
    st.session_state[f"{page} kept"] = {key: st.session_state[key] for key in keys}


def _note(wrong: Sequence[tuple[Field, str]], unknown: Sequence[str]) -> str:
    """What of the address is not used. The names are anybody's who writes a link: only what could be the name of a
    variable is repeated."""
    said = ["Part of this page's address does not fit, so the default is used there."]
    others = []
    for field, name in wrong:
        if not _is_proper(name):
            unknown = [*unknown, name]
        elif taken := field.taken():
            said.append(f"{field.called(name)} takes {taken}.")
        else:
            others.append(field.called(name))
    if others:
        said.append(f"The page cannot use the value of {', '.join(others)}.")
    proper = [f"`{name}`" for name in unknown if _is_proper(name)]
    if len(proper) < len(unknown):
        proper.append("a name that no page has")
    if proper:
        said.append(f"It does not know {', '.join(proper)}.")
    return " ".join(said)


def _is_proper(name: str) -> bool:
    return name.isidentifier() and len(name) <= LONGEST_NAME
