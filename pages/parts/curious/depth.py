"""Depth and scalars: why a topological order, how deep recursion goes, and an object for each number."""

import inspect
from itertools import pairwise

import graphviz
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.designs import deep_graphs, scalars_or_tensors
from lab.designs.compare import DESIGNS
from lab.designs.topological_sorting import depth_first, kahn
from lab.expression import parse
from lab.text import numeral as number
from lab.trace.dot import blank
from lab.trace.recording import record
from lab.training.descent import four_points
from lab.ui import page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import forget, memoize
from lab.ui.table import show_table
from lab.ui.widgets import FIRST, ask, button, switch, verdict

LENGTHS = (100, 500, 1000, 2000, 5000)
MAX_HIDDEN = 16  # units in a hidden layer
SORTED = "p = a*b; s = p + c; t = a + d; y = s*t"
GUESS_DOUBLINGS = 12  # few enough to run them
CALLS = {"24": 24, "144": 144, "4095": 4095}  # guesses: name in the session -> calls
TRY_THIS = (
    "Find the longest chain that recursion survives. Then widen the layers: do scalars stay slower by the same factor?"
)


def draw() -> None:
    """Draw the topic."""
    st.markdown(
        "Repeat x = x + x: the next step uses each result twice. In topological order, each result calls its "
        "backward rule once. How many calls does plain recursion make?"
    )
    figures, picture = st.columns([1, 2], gap="medium")
    with figures:
        guessed = ask(
            f"Guess: calls by recursion for {GUESS_DOUBLINGS} doublings",
            {name: f"{calls:,}" for name, calls in CALLS.items()},
            "why-calls",
            f"{FIRST} Three of the doublings:",
        )
    if guessed is None:
        with picture, st.container(key="wide-doublings"):
            alt = "x + x gives h, h + h gives k, and k + k gives the result."
            st.graphviz_chart(_three_doublings(), width="stretch", alt=alt)
    else:
        _doublings(guessed, figures, picture)
    with st.expander("A long chain: how deep can recursion go?"):
        _long_chain()
    with st.expander("How is the order found? Depth first, or by Kahn’s algorithm"):
        _orders()
    with st.expander("Scalars or tensors: what does an object for each number cost?"):
        _scalars()


def _doublings(guessed: str, figures: DeltaGenerator, picture: DeltaGenerator) -> None:
    asked = memoize("doublings asked", GUESS_DOUBLINGS, lambda: deep_graphs.doublings(GUESS_DOUBLINGS))
    with figures:
        st.markdown(
            f"{verdict(CALLS[guessed] == asked.recursive)} **{asked.recursive:,} calls for {asked.depth} doublings**, "
            f"counted in a run; {asked.calls['closures']} in topological order. Move the slider to see both grow."
        )
        doublings = st.slider("Doublings", 1, deep_graphs.MAX_DEPTH, 5, key="why-depth", bind="query-params")
    found = memoize("doublings", doublings, lambda: deep_graphs.doublings(doublings))
    with figures:
        ordered, how = found.calls["closures"], f"computed as 2^{doublings} − 1, not run"
        if found.counted:
            how = "counted in a run just now"
        st.metric("Calls in topological order", f"{ordered:,}", help="Counted in the closures design.")
        st.metric("Calls by recursion", f"{found.recursive:,}")
    with picture:
        show_chart(_calls(doublings), "calls")
    st.markdown(
        f"The calls by recursion were **{how}**. Recursion is run up to {deep_graphs.MAX_RUN} doublings. The others "
        f"were counted now: {', '.join(f'{DESIGNS[key].title} {calls}' for key, calls in found.calls.items())}. "
        f"The gradient of x: {' or '.join(f'{gradient:,.0f}' for gradient in found.gradients)}."
    )


def _three_doublings() -> graphviz.Digraph:
    """Draw x, its double and so on, each result with two edges to the next."""
    drawing = blank("doublings", page.theme(), rankdir="LR", ranksep="0.3")
    drawing.attr("node", fontsize="14", margin="0.06,0.04")  # points: readable on a phone, too
    names = ("x", "h = x + x", "k = h + h", "k + k")
    for node, after in pairwise(names):
        drawing.edge(node, after)
        drawing.edge(node, after)
    return drawing


def _calls(doublings: int) -> charts.Chart:
    """Draw both counts up to the number of doublings that can be run, and mark the slider's number."""
    runs = memoize(
        "all doublings", deep_graphs.MAX_RUN, lambda: [deep_graphs.doublings(n + 1) for n in range(deep_graphs.MAX_RUN)]
    )
    return charts.lines(
        "Backward calls, counted",
        [
            Line("recursion", [(run.depth, run.recursive) for run in runs]),
            Line("topological order", [(run.depth, run.calls["closures"]) for run in runs]),
        ],
        Axis("doublings"),
        Axis("calls", log=True),
        marks=[Mark("x", doublings, f"{doublings}")] if doublings <= deep_graphs.MAX_RUN else [],
        height=250,
        theme=page.theme(),
    )


def _long_chain() -> None:
    lengths = {length: f"{length:,}" for length in LENGTHS}
    length = switch("x + 1 + 1 + …, so many times", lengths, "why-operations", default=LENGTHS[-1], bind="query-params")
    chains = memoize("chains", length, lambda: [deep_graphs.chain(key, length) for key in DESIGNS])
    rows = [
        (design.title, f"✗ {chain.error}" if chain.error else f"✓ arrives: {chain.gradient:g}")
        for design, chain in zip(DESIGNS.values(), chains, strict=True)
    ]
    show_table(["design", f"gradient of x through {length:,} operations"], rows)
    st.markdown("A function that calls itself for each operation stops at Python’s recursion limit. A loop does not.")


def _orders() -> None:
    """Show both ways to sort, each with its code and a row for each step in which its list grew."""
    st.markdown(
        f"The order of `{SORTED}`, step by step. Depth first lists a node after its operands, and backward() goes "
        "through the list from its end. Kahn’s algorithm counts, and lists the nodes in the order in which they send."
    )
    nodes = record(parse(SORTED), dict.fromkeys("abcd", 1.0)).nodes
    graph = {node["label"]: [nodes[child]["label"] for child in node["children"]] for node in nodes}
    sorts = {"depth first": depth_first, "Kahn’s algorithm": kahn}
    for column, (name, sort) in zip(st.columns(2, gap="medium"), sorts.items(), strict=True):
        with column:
            show_table([name, "the list"], [(what, " ".join(order)) for what, order in sort(graph, "y")])
            st.code(inspect.getsource(sort), wrap_lines=True)


# ---------------------------------------------------------------- scalars or tensors


def _scalars() -> None:
    st.markdown(
        "The same network twice, with 3 inputs, two hidden layers and 1 output, on four points: one object for each "
        "number, then one for each array. Widen the layers: what does it cost?"
    )
    hidden = st.slider(
        "Units in each hidden layer", 1, MAX_HIDDEN, four_points.HIDDEN, key="why-hidden", bind="query-params"
    )
    points, targets = four_points.POINTS, four_points.TARGETS
    found = memoize("scalars", hidden, lambda: scalars_or_tensors.both(four_points.initial(hidden, 0), points, targets))
    left, middle, right = st.columns(3)
    left.metric("Parameters", f"{len(found.gradients):,}")
    middle.metric("Largest difference of a gradient", number(found.difference))
    right.metric("Scalars are slower by", f"{found.slower:.1f}×")
    sides = (("Scalar Values", found.scalars), ("Tensors (closures)", found.tensors))
    show_table(
        ["design", "loss", "nodes", "calls", "bytes kept", "time"],
        [
            (
                title,
                f"{side.value:.12g}",
                f"{side.nodes:,}",
                f"{side.calls:,}",
                f"{side.kept.numbers:,} ({side.kept.memory:,})",
                f"{1e6 * side.seconds:,.0f} µs",
            )
            for title, side in sides
        ],
    )
    st.caption("Bytes kept: the numbers reachable from the loss, then, in brackets, all objects.")
    button("Measure again", "scalars again", forget, "scalars", icon="timer")
    with st.expander("Every parameter’s gradient, from both"):
        rows = [(i, f"{a:.12g}", f"{b:.12g}") for i, (a, b) in enumerate(found.gradients, start=1)]
        show_table(["parameter", "scalars", "tensors"], rows)
