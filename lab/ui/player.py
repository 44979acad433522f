"""The player as a Streamlit component: the whole trace goes to the browser once and is scrubbed there.

The JavaScript is in static/player/, where the browser loads it by its address. A component's own script travels with
every message, so here it is only a few lines that load the rest.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.gradcheck.slopes import Slope
from lab.practice.mistakes import Mistakes
from lab.text import strict_json
from lab.trace.export import plain, playable, standalone
from lab.trace.nonfinite import remarks
from lab.trace.numerical import NumericalCheck, check, slopes_of_numbers
from lab.trace.recording import Trace
from lab.traps.faults.compare import Departure
from lab.ui.assets import keep_value, loading
from lab.ui.memoize import memoize
from model import Tensor, no_grad

LONGEST_PREDICTION = 6  # numbers of a gradient that is asked for
LIMIT = 1e6  # of a number that the browser may send, either way

_LOADER = (
    loading("player/streamlit.js", "player/player.css")
    + """export default function (component) {
  loading.then(
    (player) => player.show(component),
    () => component.setStateValue("failed", true),
  );
  return () => loading.then((player) => player.remove(component.parentElement), () => {});
}"""
)
_component = st.components.v2.component("tensor_ops_lab_player", html="", js=_LOADER)


@dataclass(frozen=True)
class Live:
    """A leaf that the learner may change: a number or a nested list to start from, and what its slider covers."""

    value: float | list
    low: float = -10.0
    high: float = 10.0
    step: float = 0.1


@dataclass(frozen=True)
class Shown:
    """What the learner did in the player.

    values    the live leaves: name -> number or nested list
    event     how many events had happened when the browser last reported
    selected  the id of the chosen node, or None
    failed    the player could not be loaded; show something else in its place
    """

    values: dict[str, float | list]
    event: int
    selected: int | None
    failed: bool


def live_values(key: str, live: Mapping[str, Live]) -> dict[str, float | list]:
    """The present value of each live leaf: the learner's where the browser has sent one that fits, else its start.

    Call it before recording; the player with the same key then shows what was recorded.
    """
    state = _state(key)
    sent = state.get("values") if state.get("live") == _identity(live) else None
    sent = sent if isinstance(sent, dict) else {}
    return {name: _fitting(sent.get(name), leaf.value) for name, leaf in live.items()}


def player(
    trace: Trace,
    *,
    key: str,
    live: Mapping[str, Live] | None = None,
    build: Callable[..., Tensor] | None = None,
    checked: bool = False,
    judged: Callable[..., Tensor] | None = None,
    title: str = "A backward pass, step by step",
    script: Callable[[], str] | None = None,
    event: int | None = None,
    opening: int = 0,
    opened: int | None = None,
    address: str | None = None,
    stage: str | None = None,
    usual_stage: str = "none",
    stopping: bool = False,
    departure: Departure | None = None,
    along: tuple[str, int] | None = None,
    on_turn: Callable[[int], None] | None = None,
    compact: bool = False,
    still: bool = False,
) -> Shown:
    """Show a trace that can be played event by event.

    live     the leaves with controls in the player; the script, or the fragment around the call, runs when one changes
    build    the function that was recorded: the learner can then nudge one leaf and compare with its gradient
    checked  `build` was recorded with the engine as it is: each gradient can be held against a numerical one, and be
             asked for before it is shown
    judged   the function that was recorded with the engine as it is, where the player is to say what the gradients
             mean: without it, or where that would take long, they stand there without a word
    title    of the page to take away
    script   makes the experiment as a Python program, to take away
    event    how many events have happened at first, and again whenever this or `opening` changes; all by default
    opening  another number: to `event` once more, wherever the learner has gone meanwhile
    opened   the same as `event`, asked for by the address: it goes before
    address  the query parameter that holds the event, where it is not `event`, so that a copied link opens there
    stage    the query parameter that holds the pass of the event, "forward" or "backward"; `address` then holds the
             event only where it is not the last of its pass
    usual_stage  the pass that the address need not name
    stopping  the button of the backward pass stops at each message, and says why it has this number
    along    forward mode: in the place of the backward pass, the derivatives of all nodes with respect to one number,
             a leaf's name and the position of a cell in it
    departure  where the pass, of a broken engine, departs from the right one: that event is marked
    on_turn  a callback: the learner wants another prepared state of the page, so many further, or back where it is < 0
    compact  part of a page: the controls, the sentence of the event, the graph, and the inputs beside it, about 430
             pixels high; the panels about a node are seen in Present mode
    still    the graph alone, as it is after the event: nothing plays, no key moves it
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
        "stopping": stopping,
        "along": None if along is None else {"name": along[0], "cell": along[1]},
        "departure": None if departure is None else vars(departure),
        "opening": opening,
        "hasScript": script is not None,
        "compact": compact,
        "still": still,
        "canCheck": checked,
        "sequence": _whole(state.get("sequence")) or 0,
        "canProbe": build is not None,
    }
    if live:
        leaves = [{"name": name, **vars(leaf)} for name, leaf in live.items()]
        data |= {"live": {"id": _identity(live), "leaves": leaves}, "values": values}
    if build is not None:
        data["probe"] = nudged(trace, build, state.get("probe"))
    if checked and build is not None and state.get("check") is True:
        data["check"] = _check(trace, build)
    if checked and state.get("predict") is True:
        data["guesses"] = Mistakes(trace).after_arrivals(LONGEST_PREDICTION)
    wish = _wish(key)
    if wish.get("what") == "html":
        data["taken"] = _taken(wish, standalone(trace, _whole(wish.get("event")), title, _slopes(trace, judged)))
    elif wish.get("what") == "script" and script is not None:
        data["taken"] = _taken(wish, script())

    def turn() -> None:
        by = _wish(key).get("by")
        if on_turn and isinstance(by, int) and abs(by) <= LIMIT:
            on_turn(by)

    def packed() -> tuple[Trace, bytes]:
        """With the trace, so that no other gets its id meanwhile."""
        sent = {"trace": playable(trace), "remarks": _remarks(trace), "slopes": plain(_slopes(trace, judged))}
        return trace, strict_json(data | sent).encode()

    # Bytes are neither parsed nor sorted again on their way, as a dict would be.
    shown = _component(
        key=key,
        data=memoize(f"player {key}", (id(trace), data), packed)[1],
        on_state_change=keep_value,
        on_failed_change=keep_value,
        on_want_change=turn,
    )
    reached = next(at for at in (_whole(state.get("event")), opened, event, len(trace.events)) if at is not None)
    return Shown(
        values=values,
        event=min(reached, len(trace.events)),
        selected=_whole(state.get("selected")),
        failed=bool(shown.get("failed")),
    )


def nudged(trace: Trace, build: Callable[..., Tensor], question: Any) -> dict[str, Any] | None:
    """One element of one leaf moved by h: the change of the result that its gradient predicts, and the actual one.

    question  {"name", "cell" (the position in reading order), "h"} from the browser

    None for a question that does not fit.
    """
    leaves = {node["label"]: np.array(node["value"]) for node in trace.nodes[: len(trace.gradients)]}
    if not isinstance(question, dict) or question.get("name") not in leaves or not _is_number(question.get("h")):
        return None
    name, cell, h = question["name"], _whole(question.get("cell")), float(question["h"])
    if cell is None or cell >= leaves[name].size:
        return None
    leaves[name].flat[cell] += h
    seed = next((event for event in trace.events if event["kind"] == "seed"), None)
    if seed is None:  # the engine refused to start
        return None
    upstream = np.asarray(seed["grad"])
    with no_grad(), np.errstate(all="ignore"):
        result = build(**{label: Tensor(value, label=label) for label, value in leaves.items()}).numpy()
        change = (upstream * (result - np.asarray(trace.nodes[trace.output]["value"]))).sum()
    gradient = trace.gradients[name]
    slope = 0.0 if gradient is None else gradient.flat[cell]
    return {"name": name, "cell": cell, "h": h, "predicted": float(slope * h), "actual": float(change)}


def _remarks(trace: Trace) -> Sequence[dict[str, str]]:
    """Why something is nan or inf, and after which pass that can be told."""
    return [{"after": arose, "text": sentence.replace("`", "")} for arose, sentence in remarks(trace)]


def _slopes(trace: Trace, judged: Callable[..., Tensor] | None) -> list[Slope]:
    return [] if judged is None else slopes_of_numbers(trace, judged)


def _check(trace: Trace, build: Callable[..., Tensor]) -> dict[str, Any]:
    rows, note = check(trace, build)
    return {"rows": [_row(row) for row in rows], "note": note}


def _row(row: NumericalCheck) -> dict[str, Any]:
    numbers = {"gradient": row.analytic, "numerical": row.numerical}
    return {
        "name": row.name,
        "value": row.value,
        **{name: None if array is None else array.tolist() for name, array in numbers.items()},
        "agrees": row.agrees,
        "slopes": plain(row.remarks),
    }


def _taken(wish: dict[str, Any], text: str) -> dict[str, Any]:
    return {"what": wish["what"], "number": _whole(wish.get("number")), "text": text}


def _wish(key: str) -> dict[str, Any]:
    """What the learner has just asked for, besides what is computed anyway."""
    wish = st.session_state.get(key, {}).get("want")
    return wish if isinstance(wish, dict) else {}


def _state(key: str) -> dict[str, Any]:
    """What the browser sent last. It is a visitor's input: nothing in it is relied on."""
    state = st.session_state.get(key, {}).get("state")
    return state if isinstance(state, dict) else {}


def _identity(live: Mapping[str, Live]) -> str:
    """Values sent for other leaves, or for another start of the same ones, do not count."""
    text = json.dumps([[name, *vars(leaf).values()] for name, leaf in live.items()])
    return hashlib.blake2s(text.encode(), digest_size=8).hexdigest()


def _fitting(sent: Any, start: float | list) -> float | list:
    """What was sent, if it is a number, or an array of the right shape, that a leaf may have; else the start."""
    try:
        array = np.asarray(sent, dtype=float)
    except (ValueError, TypeError, OverflowError):
        return start
    if array.shape != np.shape(start) or not np.all(np.abs(array) <= LIMIT):
        return start
    return array.tolist()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LIMIT  # nor nan


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
