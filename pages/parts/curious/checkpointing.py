"""Checkpointing: memory against time, by running segments of a chain of layers again."""

import math

import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.designs import checkpoint
from lab.text import numeral as number
from lab.ui import binding, page
from lab.ui.chart_host import ChartHost
from lab.ui.memoize import memoize
from lab.ui.widgets import FIRST, ask, verdict

KEPT_TITLE = "Bytes kept at the worst moment"
SEGMENT_GUESSES = {"two": "two segments", "root": "about √layers segments", "all": "a segment for each layer"}
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
    full, costs = memoize("checkpointing", chain, lambda: checkpoint.costs(*chain))
    best, chosen = min(costs, key=lambda cost: cost.kept), costs[segments - 2]
    until = f"{FIRST} Until then, the charts show only the number of segments that the slider is at."
    guessed = ask("Guess: the fewest bytes are kept with", SEGMENT_GUESSES, "why-fewest", until)
    if guessed is not None:
        _judge_segments(guessed, layers, best)
    left, middle, right = st.columns([2, 2, 1])
    with right, st.container(gap="xsmall"):
        _counted(full, chosen)
    host = ChartHost("field")
    for column, key in ((left, "kept"), (middle, "runs")):
        with column:
            host.place(key)
    theme = page.theme()
    shown, least = ([chosen], None) if guessed is None else (costs, best)
    of = chain, shown, theme
    host.fill(memoize("checkpointing drawn", of, lambda: _curves(full, shown, least, layers, theme)))


def _counted(full: checkpoint.Cost, chosen: checkpoint.Cost) -> None:
    for name, count, of_plain in (
        ("Bytes kept", f"{chosen.kept:,}", f"{chosen.kept / full.kept:.0%} of all"),
        ("Layers run forward", f"{chosen.runs}", f"{chosen.runs / full.runs:.2f} times the {full.runs}"),
        ("Gradients differ by", number(chosen.difference), None),
    ):
        st.metric(name, count, of_plain, delta_color="off", delta_arrow="off")


def _judge_segments(guessed: str, layers: int, best: checkpoint.Cost) -> None:
    """Say whether the guess was right, and why."""
    away = {
        name: abs(math.log(best.segments / count))
        for name, count in (("two", 2), ("root", layers**0.5), ("all", layers))
    }
    st.markdown(
        f"{verdict(away[guessed] == min(away.values()))} Least with **{best.segments} segments**, {best.kept:,} bytes. "
        "Memory holds the input of every segment and the graph of one, so it grows with segments + layers / segments. "
        f"That is least near √{layers} = {layers**0.5:.1f}, times a constant. Parameters and gradients are not counted."
    )


def _curves(
    full: checkpoint.Cost, costs: list[checkpoint.Cost], best: checkpoint.Cost | None, layers: int, theme: str
) -> dict[str, charts.Chart]:
    """Draw the measured costs next to those of a plain pass. best: the cheapest, or None before the guess."""
    segments = Axis("segments", ends=(0, layers))
    marks = [Mark("y", full.kept, "everything kept")]
    if best:
        marks.append(Mark("x", best.segments, f"least: {best.segments}"))
    kept, ran = ([(cost.segments, getattr(cost, name)) for cost in costs] for name in ("kept", "runs"))
    return {
        "kept": charts.lines(
            KEPT_TITLE,
            [Line("bytes kept", kept)],
            segments,
            Axis("bytes", ends=(0, full.kept)),
            marks=marks,
            height=230,
            theme=theme,
        ),
        "runs": charts.lines(
            "Layers run forward",
            [Line("runs", ran)],
            segments,
            Axis("runs", ends=(0, 2 * full.runs)),
            marks=[Mark("y", full.runs, "a plain pass")],
            height=230,
            theme=theme,
        ),
    }
