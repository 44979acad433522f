"""Checkpointing: memory against time, by running segments of a chain of layers again."""

import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.designs import checkpoint
from lab.text import numeral
from lab.ui import binding, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.widgets import FIRST, ask, verdict

SEGMENT_GUESSES = {"two": "two segments", "between": "a number between", "all": "a segment for each layer"}
TRY_THIS = "Double the layers. Does the best number of segments double, or grow by a factor of about √2?"
HELD = (binding.whole("why-segments", 2, 2, 32),)  # its slider has another range for another number of layers


def draw() -> None:
    """Draw the topic."""
    st.markdown(
        "Cut a chain of layers into segments: only the last segment records its graph, the others keep their input and "
        "run again in the backward pass. **How many segments need the least memory?**"
    )
    columns = st.columns(4)
    layers = columns[0].slider("Layers", 4, 32, 24, key="why-layers", bind="query-params")
    width = columns[1].slider("Width of a layer", 4, 32, 16, key="why-units", bind="query-params")
    rows = columns[2].slider("Rows in the batch", 1, 128, 32, key="why-rows", bind="query-params")
    session = st.session_state
    if session.get("memory most") != layers:  # another range would begin the slider again
        session["memory most"], session["why-segments"] = layers, min(session["why-segments"], layers)
    segments = columns[3].slider("Segments", 2, layers, key="why-segments", persist_state="session")
    chain = layers, width, rows
    full, *costs = memoize("checkpointing", chain, lambda: checkpoint.costs(*chain))
    guessed = ask("Guess: the fewest bytes are kept with", SEGMENT_GUESSES, "why-fewest", FIRST)
    if guessed is not None:
        _judge_segments(guessed, layers, min(costs, key=lambda cost: cost.kept))
    figures, picture = st.columns([1, 3])
    with figures, st.container(gap="xsmall"):
        _counted(full, costs[segments - 2])
    if guessed is not None:
        with picture:
            drawn = chain, page.theme()
            show_chart(memoize("checkpointing drawn", drawn, lambda: _curve(full, costs, layers)), "kept")


def _counted(full: checkpoint.Cost, chosen: checkpoint.Cost) -> None:
    for name, count, of_plain in (
        ("Bytes kept", f"{chosen.kept:,}", f"{chosen.kept / full.kept:.0%} of all"),
        ("Layers run forward", f"{chosen.runs}", f"{chosen.runs / full.runs:.2f} times the {full.runs}"),
        ("Gradients differ by", numeral(chosen.difference), None),
    ):
        st.metric(name, count, of_plain, delta_color="off", delta_arrow="off")


def _judge_segments(guessed: str, layers: int, best: checkpoint.Cost) -> None:
    """Say whether the guess was right, and why."""
    right = {2: "two", layers: "all"}.get(best.segments, "between")
    st.markdown(
        f"{verdict(guessed == right)} Least with **{best.segments} segments**, {best.kept:,} bytes. "
        "Memory holds the input of every segment and the graph of one, so it grows with segments + layers / segments. "
        f"Here the least is at {best.segments / layers**0.5:.1f} · √{layers}. Parameters and gradients are not counted."
    )


def _curve(full: checkpoint.Cost, costs: list[checkpoint.Cost], layers: int) -> charts.Chart:
    """Draw the memory for each number of segments next to that of a plain pass."""
    best = min(costs, key=lambda cost: cost.kept)
    return charts.lines(
        "Bytes kept at the worst moment",
        [Line("bytes kept", [(cost.segments, cost.kept) for cost in costs])],
        Axis("segments", ends=(0, layers)),
        Axis("bytes", ends=(0, full.kept)),
        marks=[Mark("y", full.kept, "everything kept"), Mark("x", best.segments, f"least: {best.segments}")],
        height=200,
        theme=page.theme(),
    )
