"""Widgets and results that every page draws alike: rows, choices of one option, guesses, buttons, verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

V = TypeVar("V")
FIRST = "Guess first."  # shown in place of the answer


def row(*, bottom: bool = False, **more: Any) -> DeltaGenerator:
    """Return a container whose elements stand next to each other, centred or, for widgets with labels, on one line.

    more: further arguments of `st.container`
    """
    return st.container(horizontal=True, vertical_alignment="bottom" if bottom else "center", **more)


def switch(label: str, options: Mapping[V, str] | Sequence[V], key: str, *, bare: bool = False, **more: Any) -> V:
    """Draw a row of buttons, one of which is always chosen, at first the first, and return its option.

    options: option in the session -> its text; or texts. bare: only screen readers get the label. more: further
    arguments of `st.segmented_control`.
    """
    choices = {"default": next(iter(options)), "required": True, **more}
    return cast(V, st.segmented_control(label, [*options], key=key, **choices, **_look(options, bare)))


def pick(label: str, options: Mapping[V, str] | Sequence[V], key: str, *, bare: bool = False, **more: Any) -> V:
    """Draw a select box and return the chosen option; the arguments are those of `switch`."""
    return cast(V, st.selectbox(label, [*options], key=key, **_look(options, bare), **more))


def button(
    label: str, key: str, on_click: Callable[..., None] | None = None, *args: Any, icon: str = "", **more: Any
) -> None:
    """Draw a button that calls `on_click` with `args`. icon: name of a Material symbol; more: as for `st.button`."""
    st.button(label, key, on_click=on_click, args=args, icon=f":material/{icon}:" if icon else None, **more)


def result(good: bool | None, text: str) -> None:
    """Show the result of a check: a success, an error, or for None a note that the check could not tell."""
    if good is None:
        st.info(text, icon=":material/question_mark:")
    else:
        (st.success if good else st.error)(text, icon=f":material/{'check' if good else 'close'}:")


def ask(question: str, options: Mapping[str, str], key: str, until: str = "", bind: bool = True) -> str | None:
    """Ask a question that the learner may answer before the page does; at first no answer is chosen.

    Returns the learner's choice, or None. options: name in the session -> text of the answer. until: what stands in
    place of the page's own answer until then. bind: whether the address has the choice.
    """
    where: Literal["query-params"] | None = "query-params" if bind else None
    chosen = st.segmented_control(question, [*options], format_func=options.__getitem__, key=key, bind=where)
    if chosen is None and until:
        st.markdown(until)
    return chosen


def verdict(right: bool) -> str:
    """Say whether the guess was right; the caller adds the numbers that show it."""
    return "✓ As you guessed." if right else "✗ Not as you guessed."


def _look(options: Mapping[V, str] | Sequence[V], bare: bool) -> dict[str, Any]:
    texts = {"format_func": options.__getitem__} if isinstance(options, Mapping) else {}
    return {"label_visibility": "collapsed" if bare else "visible", **texts}
