"""The player as a Streamlit component: the whole trace is sent to the browser once and scrubbed there.

The JavaScript is in static/player/.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
import streamlit as st

from lab.text import strict_json
from lab.trace.comparison import Departure
from lab.trace.derivation import table
from lab.trace.dot import draw
from lab.trace.export import playable, player_data, standalone
from lab.trace.mistakes import Mistakes
from lab.trace.numerical import slopes_of_numbers
from lab.trace.recording import Trace
from lab.ui import page
from lab.ui.assets import component, keep_value
from lab.ui.memoize import memoize
from lab.ui.table import show_table
from model import Tensor

MAX_DRAWN = 100  # nodes of a graph that is drawn where the player cannot be loaded
MAX_PREDICTED = 6  # numbers in a gradient that the learner is asked to predict
LIMIT = 1e6  # largest absolute value that is accepted from the browser

_component = component("player", "player/streamlit.js")


@dataclass(frozen=True)
class Live:
    """A leaf that the learner can change: its initial number or nested list, and its slider's range and step."""

    value: float | list
    low: float = -10.0
    high: float = 10.0
    step: float = 0.1


@dataclass(frozen=True)
class Switch:
    """A choice of the page that can also be made while the player fills the screen.

    options  value -> label; value: the chosen one, or None for a button that has been pressed by nobody yet
    """

    name: str
    options: Mapping[str, str]
    value: str | None = None


class PlayerView(TypedDict, total=False):
    """How the player shows a trace; the browser gets these entries as they are (`PlayerData` in static/types.d.ts)."""

    opening: int  # change this number to move the player to `event` again, wherever the learner has gone
    chosen: tuple[int, int] | None  # node and position of the cell that a change of `opening` selects and shows
    address: str  # query parameter that holds the event while it differs from `event`
    stage: str  # query parameter that holds the event's pass; `address` then leaves out the last event of a pass
    usualStage: str  # the pass that the address leaves out: "forward", "backward" or, if not given, "none"
    text: str  # what the page calls the recorded program, such as an expression; shown in Present mode
    field: str  # key of the page's text field for `text`: a run waits until the page has taken over what was typed
    printed: str  # what the program printed; shown next to its lines in Present mode
    outdated: bool  # True greys the graph, which is that of an earlier text
    compact: bool  # True shows controls, the event's sentence, graph and inputs in 430 pixels; panels in Present mode
    grows: int  # a compact player reaches down to so many pixels from the end of the window
    still: bool  # True shows only the graph after the event, without playing or keyboard control


def live_values(key: str, live: Mapping[str, Live]) -> dict[str, float | list]:
    """Return the value of each live leaf: the one that the learner has set, if it is valid, or else the initial one.

    Record a trace with these values, and pass it to `player` with the same key.
    """
    state = _sent(key, "state")
    sent = state.get("values") if state.get("live") == _identity(live) else None
    sent = sent if isinstance(sent, dict) else {}
    return {name: _validated(sent.get(name), leaf.value) for name, leaf in live.items()}


def player(
    trace: Trace,
    *,
    key: str,
    live: Mapping[str, Live] | None = None,
    may_predict: bool = False,
    judged: Callable[..., Tensor] | None = None,
    title: str = "A backward pass, step by step",
    script: Callable[[], str] | None = None,
    event: int | None = None,
    opened: int | None = None,
    along: tuple[str, int] | None = None,
    departure: Departure | None = None,
    right: Trace | None = None,
    engine: str = "",
    switches: Sequence[Switch] = (),
    on_switch: Callable[[str, str], None] | None = None,
    on_turn: Callable[[int], None] | None = None,
    **view: Unpack[PlayerView],
) -> bool:
    """Show a trace that can be played event by event; return whether it asks for each gradient before it is shown.

    Where the browser cannot load the player, a drawing of the whole pass and a table take its place.

    live     leaves with controls in the player, which can also be dragged on their cards; a change reruns the script,
             or the fragment around this call
    may_predict  True lets the learner be asked for each gradient before it is shown; the engine must be the right one
    judged   the recorded function, if it ran on the correct engine and the player is to explain the gradients; without
             it, or if that would take long, they get no explanation
    title    title of the HTML page that can be downloaded
    script   returns the experiment as a Python program that can be downloaded
    event    number of events that have happened at first, and again after this or `opening` changes; None: all
    opened   the event that the address asks for; takes precedence over `event`
    along    leaf and cell position: forward mode instead of the backward pass, with the derivatives of all nodes with
             respect to this number
    departure  where the pass of a broken engine first differs from the right one; the player marks this event
    right    the pass of the right engine, if `trace` is that of another, called `engine`; shown where they differ
    switches, on_switch  choices of the page, offered above the graph in Present mode, and the callback for their name
             and new value
    on_turn  callback for another prepared state of the page: n steps on, or back if n is negative
    """
    state = _sent(key, "state")
    live = live or {}
    values = live_values(key, live)
    data: dict[str, Any] = {
        "key": key,
        "event": event if opened is None else opened,
        "usual": event,
        "along": None if along is None else {"name": along[0], "cell": along[1]},
        "departure": None if departure is None else vars(departure),
        "right": None if right is None else {"trace": playable(right), "engine": engine},
        "switches": [vars(switch) | {"options": [*switch.options.items()]} for switch in switches],
        "hasScript": script is not None,
        "canPredict": may_predict,
        "sequence": _natural(state.get("sequence")) or 0,
        **view,
    }
    if live:
        leaves = [{"name": name, **vars(leaf)} for name, leaf in live.items()]
        data |= {"live": {"id": _identity(live), "leaves": leaves}, "values": values}
    request, text = _sent(key, "want"), None
    if request.get("what") == "html":
        text = standalone(trace, _natural(request.get("event")), title, slopes_of_numbers(trace, judged))
    elif request.get("what") == "script" and script is not None:
        text = script()
    if text is not None:
        data["taken"] = {"what": request["what"], "number": _natural(request.get("number")), "text": text}

    def act() -> None:
        asked = _sent(key, "want")
        by = asked.get("by")
        if on_turn and isinstance(by, int) and abs(by) <= LIMIT:
            on_turn(by)
        if on_switch:
            _choose(asked, switches, on_switch)

    predicting = state.get("predict") is True

    def packed() -> tuple[Trace, bytes]:
        """Encode the data; the cache keeps the trace, too, so that no other trace gets its id."""
        shown = player_data(trace, slopes_of_numbers(trace, judged))
        if may_predict and predicting:
            shown["guesses"] = Mistakes(trace).wrong_gradients_by_event(MAX_PREDICTED)
        return trace, strict_json(data | shown).encode()

    # Streamlit sends bytes as they are, but parses and sorts a dict.
    shown = _component(
        key=key,
        data=memoize(f"player {key}", (id(trace), data, predicting), packed)[1],
        on_state_change=keep_value,
        on_failed_change=keep_value,
        on_want_change=act,
    )
    if shown.get("failed"):
        _drawing(trace)
    return predicting


def _drawing(trace: Trace) -> None:
    """Draw the whole pass without the player, and say the same as a table; of a large graph only that."""
    st.info("The player could not be loaded. This is the whole pass.")
    rows, large = table(trace), len(trace.nodes) > MAX_DRAWN
    if not large:
        said = "; ".join(f"{row['node']} = {row['value']}, gradient {row['gradient']}" for row in rows)
        st.graphviz_chart(draw(trace, page.theme()), alt=f"The computation graph: {said}.")
    with st.expander("The graph as a table", expanded=large):
        show_table(list(rows[0]), [list(row.values()) for row in rows])


def _choose(asked: Mapping[str, Any], switches: Sequence[Switch], on_switch: Callable[[str, str], None]) -> None:
    """Pass on the choice that the browser asks for, if it is one of those offered."""
    for switch in switches:
        if asked.get("switch") == switch.name and asked.get("value") in [*switch.options]:
            on_switch(switch.name, asked["value"])


def _sent(key: str, name: str) -> dict[str, Any]:
    """Return what the browser sent last, or {}: its "state", or what the learner does "want", such as a download.

    It is a visitor's input, so the caller must check every value.
    """
    sent = st.session_state.get(key, {}).get(name)
    return sent if isinstance(sent, dict) else {}


def _identity(live: Mapping[str, Live]) -> str:
    """Return what tells the live leaves from others, so that values sent for those are ignored."""
    return json.dumps([[name, *vars(leaf).values()] for name, leaf in live.items()])


def _validated(sent: Any, start: float | list) -> float | list:
    """Return `sent` if it has the shape of `start` and no number is too large or nan; or else `start`."""
    try:
        array = np.asarray(sent, dtype=float)
    except (ValueError, TypeError, OverflowError):
        return start
    if array.shape != np.shape(start) or not np.all(np.abs(array) <= LIMIT):
        return start
    return array.tolist()


def _natural(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
