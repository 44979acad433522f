"""The player as a Streamlit component: the whole trace is sent to the browser once and scrubbed there.

The JavaScript is in static/player/.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.text import strict_json
from lab.trace.comparison import Departure
from lab.trace.derive import table
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


def live_values(key: str, live: Mapping[str, Live]) -> dict[str, float | list]:
    """Return the value of each live leaf: the one that the learner has set, if it is valid, or else the initial one.

    Record a trace with these values, and pass it to `player` with the same key.
    """
    state = _state(key)
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
    opening: int = 0,
    chosen: tuple[int, int] | None = None,
    opened: int | None = None,
    address: str | None = None,
    stage: str | None = None,
    usual_stage: str = "none",
    departure: Departure | None = None,
    right: Trace | None = None,
    engine: str = "",
    text: str = "",
    field: str = "",
    outdated: bool = False,
    switches: Sequence[Switch] = (),
    on_switch: Callable[[str, str], None] | None = None,
    along: tuple[str, int] | None = None,
    on_turn: Callable[[int], None] | None = None,
    compact: bool = False,
    grows: bool = False,
    still: bool = False,
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
    opening  change this number to move the player to `event` again, wherever the learner has gone
    chosen   node and position of the cell that are selected whenever `opening` changes; the player then comes into view
    opened   the event that the address asks for; takes precedence over `event`
    address  query parameter that holds the event while it differs from `event`, so that a copied link opens there
    stage    query parameter that holds the event's pass, "forward" or "backward"; `address` then holds the event only
             if it is not the last of its pass
    usual_stage  the pass that the address leaves out
    along    leaf and cell position: forward mode instead of the backward pass, with the derivatives of all nodes with
             respect to this number
    departure  where the pass of a broken engine first differs from the right one; the player marks this event
    right    the pass of the right engine, if `trace` is that of another one, which `engine` names; both are shown
             where they differ
    text     what the page calls the recorded program, such as an expression; shown above the graph in Present mode
    field    key of the page's text field for `text`: a run waits until the page has taken over what was typed there
    outdated  True greys the graph, which is that of an earlier text
    switches, on_switch  choices of the page, offered above the graph in Present mode, and the callback for their name
             and new value
    on_turn  callback for another prepared state of the page: n steps on, or back if n is negative
    compact  True shows only the controls, the event's sentence, the graph and the inputs, about 430 pixels high; the
             panels about a node appear in Present mode
    grows    True lets a compact player reach to the end of the window if its graph is too large for 430 pixels
    still    True shows only the graph after the event, without playing or keyboard control
    """
    state = _state(key)
    live = live or {}
    values = live_values(key, live)
    data: dict[str, Any] = {
        "key": key,
        "event": event if opened is None else opened,
        "usual": event,
        "address": address,
        "stage": stage,
        "usualStage": usual_stage,
        "along": None if along is None else {"name": along[0], "cell": along[1]},
        "departure": None if departure is None else vars(departure),
        "right": None if right is None else {"trace": playable(right), "engine": engine},
        "text": text,
        "field": field,
        "outdated": outdated,
        "switches": [vars(switch) | {"options": [*switch.options.items()]} for switch in switches],
        "opening": opening,
        "chosen": chosen,
        "hasScript": script is not None,
        "compact": compact,
        "grows": grows,
        "still": still,
        "canPredict": may_predict,
        "sequence": _natural(state.get("sequence")) or 0,
    }
    if live:
        leaves = [{"name": name, **vars(leaf)} for name, leaf in live.items()]
        data |= {"live": {"id": _identity(live), "leaves": leaves}, "values": values}
    request = _request(key)
    if request.get("what") == "html":
        page = standalone(trace, _natural(request.get("event")), title, slopes_of_numbers(trace, judged))
        data["taken"] = _download(request, page)
    elif request.get("what") == "script" and script is not None:
        data["taken"] = _download(request, script())

    def act() -> None:
        asked = _request(key)
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
    """Draw the whole pass without the player, and say the same as a table; of a large graph only as text."""
    st.info("The player could not be loaded. This is a drawing of the whole pass.")
    if len(trace.nodes) > MAX_DRAWN:
        st.code(trace.to_text(), language=None)
        return
    st.graphviz_chart(draw(trace, theme=page.theme()), alt=f"The computation graph. As text:\n{trace.to_text()}")
    with st.expander("The graph as a table"):
        rows = table(trace)
        show_table(list(rows[0]), [list(row.values()) for row in rows])


def _choose(asked: Mapping[str, Any], switches: Sequence[Switch], on_switch: Callable[[str, str], None]) -> None:
    """Pass on the choice that the browser asks for, if it is one of those offered."""
    for switch in switches:
        if asked.get("switch") == switch.name and asked.get("value") in [*switch.options]:
            on_switch(switch.name, asked["value"])


def _download(request: dict[str, Any], text: str) -> dict[str, Any]:
    return {"what": request["what"], "number": _natural(request.get("number")), "text": text}


def _request(key: str) -> dict[str, Any]:
    """Return what the learner has just asked for in the player, such as a download; {} for nothing."""
    request = st.session_state.get(key, {}).get("want")
    return request if isinstance(request, dict) else {}


def _state(key: str) -> dict[str, Any]:
    """Return what the browser sent last; it is a visitor's input, so the caller must check every value."""
    state = st.session_state.get(key, {}).get("state")
    return state if isinstance(state, dict) else {}


def _identity(live: Mapping[str, Live]) -> str:
    """Return a hash of the live leaves, so that values sent for other leaves or initial values are ignored."""
    text = json.dumps([[name, *vars(leaf).values()] for name, leaf in live.items()])
    return hashlib.blake2s(text.encode(), digest_size=8).hexdigest()


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
