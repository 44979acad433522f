"""The tab on a weight shared over time: the message of each time step, and what a detach leaves of them."""

import math
from collections.abc import Mapping

import streamlit as st

from lab import charts
from lab.charts import Axis, Chart, Line, Mark
from lab.gradcheck import numerical_gradient
from lab.text import numeral
from lab.training.descent import over_time
from lab.ui import address, page
from lab.ui.address import Field
from lab.ui.chart_host import ChartHost, show_chart
from lab.ui.memoize import memoize
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, guess, switch, verdict

LARGEST = {"first": "the first", "between": "one between", "last": "the last"}
W = Field("w", "descent w", 0.8, float, address.number, limits=(-2.0, 2.0))
X = Field("input", "descent input", 0.5, float, address.number, limits=(-1.0, 1.0))
LENGTH = Field("length", "descent length", 6, int, limits=(2, over_time.MAX_TIME))
ALL_STEPS = over_time.MAX_TIME  # value of the slider for a state that is never detached
KEPT_STEPS = Field("last", "descent last", ALL_STEPS, int, limits=(1, ALL_STEPS))
LARGEST_GUESS = Field("largest", "descent largest", None, address.one_of(*LARGEST), address.optional)
KIND = Field("kind", "descent kind", "tanh", address.one_of(*over_time.KINDS))
FIELDS = (KIND, W, X, LENGTH, KEPT_STEPS, LARGEST_GUESS)


def show() -> None:
    """Draw the tab."""
    prose(
        "The [[gradient]] of w is a sum with one [[message]] from each time step. Guess which step sends the largest, "
        "then move w, the time steps, and the step at which the state is [[detached|detach]]."
    )
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        guessed = guess("Guess: the largest message comes from which time step?", LARGEST, "descent largest")
        kind = switch("State", over_time.KINDS, "descent kind")
        left, right = st.columns(2)
        w = left.slider("Weight w", *W.limits, key="descent w", step=0.05)
        x = right.slider("Input x", *X.limits, key="descent input", step=0.05)
        length = left.slider("Time steps", *LENGTH.limits, key="descent length")
        if KEPT_STEPS.get() >= length:
            KEPT_STEPS.set(ALL_STEPS)
        kept = right.select_slider(
            "Steps after the detach",
            [*range(1, length), ALL_STEPS],
            format_func=lambda steps: "all" if steps == ALL_STEPS else str(steps),
            key="descent last",
        )
    if guessed is None:  # show only the forward pass
        controls.markdown(FIRST)
        states = memoize("descent states", (kind, w, x, length), lambda: over_time.states(kind, w, x, length))
        with picture:
            show_chart(_states(states, length - kept), "states")
        return
    state = (kind, w, x, length, kept)
    run = memoize("descent run", state, lambda: over_time.unroll(*state))
    numerical = memoize("descent numerical", state, lambda: float(numerical_gradient(run.of_weight, w)))
    with controls:
        cut = length - kept
        lost = (
            "The state is never detached."
            if cut <= 0
            else (f"Detached: the first {cut} {'step sends' if cut == 1 else 'steps send'} nothing.")
        )
        st.markdown(
            f"Gradient of w: **{numeral(run.gradient)}**, the sum of {len(run.messages)} messages. By finite "
            f"differences: {numeral(numerical)}. {lost}"
        )
        st.markdown(_largest(run, guessed))
    with picture:
        host = ChartHost("descent-time")
        host.place("messages")
        host.place("length")
    by_length = memoize("descent by length", (kind, w, x, kept), lambda: over_time.by_length(kind, w, x, kept))
    host.fill({"messages": _messages(run), "length": _by_length(by_length)})
    total, rows = 0.0, []
    for message in run.messages:
        total += message.message
        rows.append(
            (message.time, numeral(message.upstream), numeral(message.state), numeral(message.message), numeral(total))
        )
    st.markdown("**The messages to w**, in the order of their arrival: upstream gradient · state before the time step.")
    with st.container(height=320 if len(rows) > 7 else "content", border=len(rows) > 7):
        headers = ["time step", "upstream gradient", "state before", "message", "gradient so far"]
        show_table(headers, rows)


def _largest(run: over_time.Unrolled, guessed: str) -> str:
    """Say which message is the largest, or which ones if several are equal, and whether the guess was right."""
    size = max(abs(message.message) for message in run.messages)
    times = [message.time for message in run.messages if math.isclose(abs(message.message), size, rel_tol=1e-9)]
    length = run.messages[0].time
    places = {"first": 1 in times, "between": any(1 < time < length for time in times), "last": length in times}
    which = f"time step {times[0]}" if len(times) == 1 else f"{len(times)} time steps alike"
    last, first = run.messages[0], run.messages[-1]
    return (
        f"{verdict(places[guessed])} **The largest, {numeral(size)}, comes from {which}.** Step {last.time} sends "
        f"{numeral(last.message)}, step {first.time} {numeral(first.message)}: a message from far back is multiplied "
        "on its way by one factor for each time step."
    )


def _states(states: list[float], cut: int) -> Chart:
    return charts.lines(
        "The forward pass: the state after each time step",
        [Line("state h", [(float(time), state) for time, state in enumerate(states)])],
        Axis("time step"),
        Axis("state"),
        marks=[Mark("x", cut, "detached")] if cut > 0 else [],
        theme=page.theme(),
    )


def _messages(run: over_time.Unrolled) -> Chart:
    points = [(float(message.time), message.message) for message in reversed(run.messages)]
    return charts.lines(
        "The message of each time step",
        [Line("message to w", points)],
        Axis("time step", ends=(0, None)),
        Axis("message"),
        height=220,
        theme=page.theme(),
    )


def _by_length(found: Mapping[str, list[tuple[float, float]]]) -> Chart:
    drawn = [Line(name, points) for name, points in found.items()]
    return charts.lines(
        "Sizes of the gradients, by the number of time steps",
        drawn,
        Axis("time steps", ends=(0, over_time.MAX_TIME)),
        Axis("|gradient|", log=True),
        height=260,
        theme=page.theme(),
    )
