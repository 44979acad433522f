"""An expression of the learner's own and its inputs, for any page: the text, what is wrong with it, and its numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.builder import Expression, parse
from lab.ui import address, state
from lab.ui.address import Field, PrefixField
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, with_code

LONGEST = 2000  # characters of an expression
LARGEST = 1_000_000.0  # number of an input
REACH, STEP = 10.0, 0.1  # of the sliders, on both sides of 0
PRESETS_FILE = Path(__file__).parents[2] / "assets" / "presets.json"


@cache
def presets() -> tuple[dict[str, Any], ...]:
    """The examples of the Graph lab: key, name, text and the values of the inputs; of a layer also a question."""
    return tuple(json.loads(PRESETS_FILE.read_text("utf-8")))


def value(text: str) -> float | list:
    """An input as JSON: a number, a vector, or a matrix such as [[1, 2], [3, 4]]. ValueError says what is wrong."""
    try:
        array = np.array(json.loads(text), dtype=float)
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise ValueError(
            "Write a number, or a vector such as [1, 2], or a matrix with rows of one length: [[1, 2], [3, 4]]."
        ) from None
    if array.ndim > 2 or not 1 <= array.size <= 100:
        raise ValueError("An input has at most two axes and between 1 and 100 elements.")
    if not np.all(np.abs(array) <= LARGEST):
        raise ValueError("Each element must be a number between -1,000,000 and 1,000,000.")
    return array.tolist()


def written(number: float | list) -> str:
    """The opposite of `value`; each number as short as it can be read again."""
    return address.number(number) if isinstance(number, (int, float)) else f"[{', '.join(map(written, number))}]"


def fields(page: str, text: str) -> tuple[Field, PrefixField]:
    """What the address says of an expression and its inputs; text: the expression that the page begins with."""
    return (
        Field("expression", f"{page} expression", text, address.shorter_than(LONGEST), always=True),
        PrefixField("in_", f"{page} inputs", {}, value, written, label="Input"),
    )


def expression_box(page: str, examples: Mapping[str, Mapping[str, float | list]]) -> Expression | None:
    """The text, with some examples to choose; None where it cannot be read, which the page then says.

    examples: text -> the values that its inputs begin with. The values are asked for with `inputs`.
    """
    session = st.session_state
    key = f"{page} example"

    def take() -> None:
        session[f"{page} expression"], session[f"{page} inputs"] = session[key], {}
        begin(page)
        state.step()

    texts = [*examples]
    session[key] = session[f"{page} expression"] if session[f"{page} expression"] in texts else None
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    left.selectbox("Example", texts, key=key, on_change=take, placeholder="Your own", label_visibility="collapsed")
    right.text_input(
        "Expression",
        key=f"{page} expression",
        max_chars=LONGEST,
        on_change=begin,
        args=(page,),
        label_visibility="collapsed",
    )
    try:
        expression = memoize(
            f"{page} expression", session[f"{page} expression"], lambda: parse(session[f"{page} expression"])
        )
    except ExpressionError as error:
        mistake(error)
        return None
    known = examples.get(session[f"{page} expression"], {})
    session[f"{page} inputs"] = {
        name: session[f"{page} inputs"].get(name, known.get(name, 1.0)) for name in expression.names
    }
    return expression


def mistake(error: Exception) -> None:
    """What is wrong with an expression or with its values; with the place in the text, where the error knows it."""
    st.error(with_code(str(error)), icon=":material/block:")
    if isinstance(error, ExpressionError) and error.text:
        st.code(error.marked.partition("\n\n")[2], language=None)


def inputs(page: str, expression: Expression, columns: int = 4) -> dict[str, float | list] | None:
    """A slider for each input that is a number, a text for each array; None where one cannot be read, which is said.

    A fragment may call it: a slider then runs only that part of the page.
    """
    session = st.session_state
    found: dict[str, float | list | None] = {}
    names: Sequence[str] = expression.names
    with st.container(key=f"{page}-inputs"):  # two side by side on a phone
        for row in range(0, len(names), columns):
            for place, name in zip(st.columns(columns), names[row : row + columns], strict=False):
                with place:
                    found[name] = _input(page, name, session[f"{page} inputs"][name])
    read = {name: number for name, number in found.items() if number is not None}
    session[f"{page} inputs"] = session[f"{page} inputs"] | read
    return read if len(read) == len(found) else None


def _input(page: str, name: str, start: float | list) -> float | list | None:
    # The page writes into a widget before its first run only: a value from here would undo what the hand does.
    if isinstance(start, (int, float)):
        key = f"{page} input {name}"
        reach = max(REACH, 10.0 ** math.ceil(math.log10(max(abs(start), 1.0))))
        session = st.session_state
        reach = session.setdefault(f"{key} reach", reach)
        session.setdefault(f"{key} slider", float(start))
        return float(st.slider(name, -reach, reach, step=STEP * reach / REACH, key=f"{key} slider"))
    return array_entry(name, start, f"{page} input {name} array")


def array_entry(name: str, start: float | list, key: str) -> float | list | None:
    """A field for an array; None where what is in it cannot be read, which is said."""
    st.session_state.setdefault(key, written(start))
    text = st.text_input(f"{name} ({'vector' if np.ndim(start) == 1 else 'matrix'})", key=key)
    try:
        return value(text)
    except ValueError as error:
        st.error(f"{escape_markdown(name)}: {error}")
        return None


def begin(page: str) -> None:
    """The widgets of the inputs begin with their values again: where an address has set all of them."""
    for key in [key for key in st.session_state if str(key).startswith(f"{page} input ")]:
        del st.session_state[key]
