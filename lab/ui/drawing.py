"""A static Graphviz drawing of a computational graph, with a text and a table that say the same."""

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st

from lab.trace.derive import table
from lab.trace.dot import PALETTES, draw
from lab.trace.recording import Trace, describe
from lab.ui import page
from lab.ui.table import show_table


def graph(graph: Trace, count: int | None = None, cuts_in_it: Sequence[tuple[int, int, str]] = ()) -> None:
    """Draw a graph with its table below, as it is after `count` events; None for all events.

    cuts_in_it  paths that carry no gradient: the ids of the first and last node of each, and what cuts it
    """
    drawing, colours = draw(graph, count, page.theme()), PALETTES[page.theme()]
    drawing.attr(rankdir="LR")  # low, so that it is in the window together with what is said about it
    leaves = [f"n{node['id']}" for node in graph.nodes if node["requires_grad"] and not node["op"]]
    with drawing.subgraph() as row:  # keeps the leaves in one row and in this order, whatever is cut
        row.attr(rank="same")
        for first, second in pairwise(leaves):
            row.edge(first, second, style="invis")
    for start, end, why in cuts_in_it:
        drawing.edge(f"n{start}", f"n{end}", label=f" ✂ {why}", style="dashed", fontcolor=colours["faint"])
    missing = {
        end: [describe(graph.nodes[start]) for start, other, _ in cuts_in_it if other == end]
        for _, end, _ in cuts_in_it
    }
    cuts = "".join(f"\nCut on the way to {graph.nodes[end]['label']}: {', '.join(missing[end])}." for end in missing)
    st.graphviz_chart(drawing, alt=f"The computation graph. As text:\n{graph.to_text(count)}{cuts}")
    with st.expander("The graph as a table"):
        rows = table(graph, count)
        for end, names in missing.items():
            cut = "".join(f", ✂ {name}" for name in names)
            rows[end]["computed from"] = f"{rows[end]['computed from']}{cut}".removeprefix("–, ")
        show_table(list(rows[0]), [list(row.values()) for row in rows])
