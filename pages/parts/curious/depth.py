"""Depth: why a topological order, how it is found, and how deep recursion goes."""

import inspect
from itertools import pairwise

import graphviz
import streamlit as st

from lab import charts
from lab.charts import Axis, Line
from lab.designs.compare import DESIGNS
from lab.designs.deep_graphs import MAX_DOUBLINGS, chain_gradient, doubling_calls
from lab.designs.topological_sorting import depth_first, kahn
from lab.expression import parse
from lab.trace.dot import blank
from lab.trace.recording import record
from lab.ui import page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import show_table
from lab.ui.widgets import FIRST, ask, switch, verdict

LENGTHS = (100, 500, 1000, 2000, 5000)
SORTED = "p = a*b; s = p + c; t = a + d; y = s*t"
ASKED = 12  # doublings
CALLS = {"24": 24, "144": 144, "4095": 4095}  # guesses: name in the session -> calls
WAYS = {"recursive": "recursion", "closures": "topological order"}
TRY_THIS = "Find the longest chain that recursion survives."


def draw() -> None:
    """Draw the topic."""
    st.markdown(
        "Repeat x = x + x: the next step uses each result twice. In topological order, each result calls its "
        "backward rule once. How many calls does plain recursion make?"
    )
    figures, picture = st.columns([1, 2], gap="medium")
    with figures:
        guessed = ask(
            f"Guess: calls by recursion for {ASKED} doublings",
            {name: f"{calls:,}" for name, calls in CALLS.items()},
            "why-calls",
            f"{FIRST} Three of the doublings:",
        )
    if guessed is None:
        with picture, st.container(key="wide-doublings"):
            alt = "x + x gives h, h + h gives k, and k + k gives the result."
            st.graphviz_chart(_three_doublings(), width="stretch", alt=alt)
    else:
        counts = range(1, MAX_DOUBLINGS + 1)
        calls = memoize("doublings", counts, lambda: {key: [doubling_calls(key, n) for n in counts] for key in WAYS})
        recursive, ordered = (calls[key][ASKED - 1] for key in WAYS)
        with figures:
            st.markdown(
                f"{verdict(CALLS[guessed] == recursive)} **{recursive:,} calls for {ASKED} doublings**, and {ordered} "
                f"in topological order. Both were counted in runs just now, up to {MAX_DOUBLINGS} doublings: each one "
                f"more doubles the calls by recursion. 60 of them would take 2^60 − 1 = {2**60 - 1:,}."
            )
        with picture:
            lines = [Line(title, [*zip(counts, calls[key], strict=True)]) for key, title in WAYS.items()]
            x, y = Axis("doublings"), Axis("calls", log=True)
            show_chart(charts.lines("Backward calls, counted", lines, x, y, height=250, theme=page.theme()), "calls")
    with st.expander("A long chain: how deep can recursion go?"):
        _long_chain()
    with st.expander("How is the order found? Depth first, or by Kahn’s algorithm"):
        _orders()


def _three_doublings() -> graphviz.Digraph:
    """Draw x, its double and so on, each result with two edges to the next."""
    drawing = blank("doublings", page.theme(), rankdir="LR", ranksep="0.3")
    drawing.attr("node", fontsize="14", margin="0.06,0.04")  # points: readable on a phone, too
    names = ("x", "h = x + x", "k = h + h", "k + k")
    for node, after in pairwise(names):
        drawing.edge(node, after)
        drawing.edge(node, after)
    return drawing


def _long_chain() -> None:
    lengths = {length: f"{length:,}" for length in LENGTHS}
    length = switch("x + 1 + 1 + …, so many times", lengths, "why-operations", default=LENGTHS[-1], bind="query-params")
    outcomes = memoize("chains", length, lambda: [_chain(key, length) for key in DESIGNS])
    rows = zip((design.title for design in DESIGNS.values()), outcomes, strict=True)
    show_table(["design", f"gradient of x through {length:,} operations"], [*rows])
    st.markdown("A function that calls itself for each operation stops at Python’s recursion limit. A loop does not.")


def _chain(key: str, length: int) -> str:
    try:
        return f"✓ arrives: {chain_gradient(key, length):g}"
    except RecursionError as error:
        return f"✗ RecursionError: {error}"


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
