"""Widgets for a learner's own expression on any page: its text, its error message, and its inputs."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from lab.config import ROOT
from lab.expression import ExpressionError
from lab.expression.parser import Expression, parse
from lab.ui import binding
from lab.ui.binding import HeldDict, HeldValue
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, with_code

MAX_CHARACTERS = 2000  # characters of an expression
MAX_INPUT = 4000  # characters of an input
MAX_ELEMENT = 1_000_000.0  # largest absolute value in an input
REACH, STEP = 10.0, 0.1  # the sliders go from -REACH to REACH in these steps
TOO_MANY = "An input has at most two axes and between 1 and 100 elements."
PRESETS_FILE = ROOT / "assets" / "presets.json"


@cache
def presets() -> tuple[dict[str, Any], ...]:
    """Return the examples of the Graph lab: key, name, text, input values; those of layers also have a question."""
    return tuple(json.loads(PRESETS_FILE.read_text("utf-8")))


def value(text: str) -> float | list:
    """Parse an input: a number, a vector or a matrix such as [[1, 2], [3, 4]]. ValueError says what is wrong."""
    if len(text) > MAX_INPUT:
        raise ValueError(TOO_MANY)
    try:
        array = np.array(json.loads(text), dtype=float)
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise ValueError(
            "Write a number, or a vector such as [1, 2], or a matrix with rows of one length: [[1, 2], [3, 4]]."
        ) from None
    if array.ndim > 2 or not 1 <= array.size <= 100:
        raise ValueError(TOO_MANY)
    if not np.all(np.abs(array) <= MAX_ELEMENT):
        raise ValueError("Each element must be a number between -1,000,000 and 1,000,000.")
    return array.tolist()


def written(number: float | list) -> str:
    """Write an input as text, the inverse of `value`, with no more digits than needed to read it again."""
    return binding.number(number) if isinstance(number, (int, float)) else f"[{', '.join(map(written, number))}]"


def held(page: str, text: str) -> tuple[HeldValue, HeldDict]:
    """Return an expression and its inputs for the address; text: the page's initial expression."""
    return (
        HeldValue(f"{page}-expression", text, lambda typed: typed[:MAX_CHARACTERS]),
        HeldDict(f"{page}-in_", {}, value, written),
    )


def text_key(page: str) -> str:
    """Return the key of the widget for a page's expression: another one whenever the page itself has set the text.

    A browser that has not seen the new text yet would otherwise send the old one back.
    """
    session = st.session_state
    text, (shown, number) = session[f"{page}-expression"], session.get(f"{page} text", ("", 0))
    if text not in (shown, session.get(f"{page} text {number}")):
        number += 1
    session[f"{page} text"] = text, number
    return f"{page} text {number}"


def take_text(page: str, key: str) -> bool:
    """Take over what the learner has typed, as a callback of the widget with this key; False if the page has set the
    text since, so that the widget is gone."""
    if key != f"{page} text {st.session_state[f'{page} text'][1]}":
        return False
    st.session_state[f"{page}-expression"] = st.session_state[key]
    return True


def box(
    page: str, examples: Mapping[str, Mapping[str, float | list]], changed: Callable[[], None] = lambda: None
) -> Expression | None:
    """Draw the text field and a choice of examples, and return the expression; None after showing a parse error.

    page: what the keys of `held` begin with. examples: text -> initial values of its inputs. changed: callback for
    another expression. `entries` draws the widgets for the values.
    """
    session = st.session_state
    example, text = f"{page} example", f"{page}-expression"

    def type_text(key: str) -> None:
        if take_text(page, key):
            restart(page)
            changed()

    def take() -> None:
        binding.step()
        session[text], session[f"{page}-in_"] = session[example], {}
        restart(page)
        changed()

    session[example] = session[text] if session[text] in examples else None
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    left.selectbox(
        "Example", [*examples], key=example, on_change=take, placeholder="Your own", label_visibility="collapsed"
    )
    key = text_key(page)
    with right, st.container(key=text):
        st.text_input(
            "Expression",
            session[text],
            key=key,
            max_chars=MAX_CHARACTERS,
            on_change=type_text,
            args=(key,),
            label_visibility="collapsed",
        )
    try:
        expression = memoize(text, session[text], lambda: parse(session[text]))
    except ExpressionError as error:
        mistake(error)
        return None
    session[f"{page} start"] = initial_values(expression, examples.get(session[text], {}))
    return expression


def values_of(page: str, expression: Expression) -> dict[str, float | list]:
    """Return the values of the inputs of the page's expression, which `box` has returned."""
    return initial_values(expression, st.session_state[f"{page} start"] | st.session_state[f"{page}-in_"])


def restart(page: str) -> None:
    """Let the widgets for the values begin again, from the values in the session."""
    st.session_state[f"{page} restarts"] = st.session_state.get(f"{page} restarts", 0) + 1


def entries(page: str, expression: Expression) -> dict[str, float | list] | None:
    """Draw a slider for each number and a text field for each array, and return the values of the inputs.

    Returns None after showing an error if a field cannot be read. Called in a fragment, a slider reruns only that.
    """
    session = st.session_state
    values = values_of(page, expression)
    prefix = f"{page} input {session.get(f'{page} restarts', 0)}"
    with st.container(key=f"{page}-inputs", horizontal=True):  # assets/app.css says how wide each is
        found = {name: _entry(name, at, f"{prefix} {name}") for name, at in values.items()}
    read = {name: number for name, number in found.items() if number is not None}
    values |= read
    session[f"{page}-in_"] = {} if values == session[f"{page} start"] else values
    return read if len(read) == len(found) else None


def _entry(name: str, at: float | list, key: str) -> float | list | None:
    if not isinstance(at, (int, float)):
        text = st.text_input(f"{name} ({'vector' if np.ndim(at) == 1 else 'matrix'})", written(at), key=key)
        try:
            return value(text)
        except ValueError as error:
            st.error(f"{escape_markdown(name)}: {error}")
            return None
    # Another range would begin the slider again, so the value at which it began decides.
    reach = memoize(f"{key} reach", None, lambda: max(REACH, 10.0 ** math.ceil(math.log10(max(abs(at), 1.0)))))
    return float(st.slider(name, -reach, reach, float(at), STEP * reach / REACH, key=key))


def initial_values(expression: Expression, known: Mapping[str, float | list]) -> dict[str, float | list]:
    """Return the value of each input: the known one, or else the next number from 2 on that no other input has.

    Different numbers show which one a message has come from.
    """
    values = {name: known[name] for name in expression.names if name in known}
    for name in expression.names:
        if name not in values:
            values[name] = float(next(number for number in itertools.count(2) if number not in values.values()))
    return values


def mistake(error: Exception) -> None:
    """Show what is wrong with an expression or its values, and the place in the text if the error has one."""
    st.error(with_code(str(error)), icon=":material/block:")
    if isinstance(error, ExpressionError) and error.text:
        st.code(error.marked.partition("\n\n")[2], language=None)
