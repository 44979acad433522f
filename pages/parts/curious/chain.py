"""A chain of functions: the product of its Jacobians, multiplied from either end."""

import graphviz
import numpy as np
import streamlit as st

from lab import charts
from lab.autodiff.jacobian_chain import End, min_multiplications, multiplications, sizes
from lab.charts import Axis, Line, Mark
from lab.text import counted
from lab.trace.dot import blank
from lab.ui import page
from lab.ui.chart_host import show_chart
from lab.ui.table import escape_markdown, show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, ask, verdict

MAX_DRAWN = 6  # factors of a chain that are drawn
FACTOR_INCHES = 0.9  # longest side of a factor's drawing
FONT_SIZE = "14"  # points: can be read on a phone, where the drawing is smaller
SIDES = {"left": "from the left", "right": "from the right"}
ENDS: dict[str, End] = {"from the left, reverse": "left", "from the right, forward": "right"}
TRY_THIS = "Find sizes for which neither end is the best place to begin."


def draw() -> None:
    """Draw the topic."""
    prose(
        "The [[Jacobian]] of a chain is a product of Jacobians, and (a × b) times (b × c) takes a·b·c multiplications. "
        "From which end do you begin?"
    )
    columns = st.columns(4)
    length = columns[0].number_input("Functions in the chain", 2, 30, 4, key="why-length", bind="query-params")
    width = columns[1].number_input("Numbers between them", 1, 1000, 100, key="why-width", bind="query-params")
    n = columns[2].number_input("Inputs, n", 1, 1000, 100, key="why-inputs", bind="query-params")
    m = columns[3].number_input("Results, m", 1, 1000, 1, key="why-results", bind="query-params")
    chain = sizes(n, width, m, length)
    left, right = multiplications(chain, "left"), multiplications(chain, "right")
    shapes = " ".join(f"({rows} × {columns})" for rows, columns in zip(chain[:0:-1], chain[-2::-1], strict=True))
    drawn = length <= MAX_DRAWN
    st.markdown(f"J = {escape_markdown(shapes)}" if drawn else f"J: {m} × {n}, a product of {length} matrices.")
    by_table, by_chart = st.columns(2, gap="medium")
    with by_table:
        guessed = ask("Guess: cheaper for these sizes", SIDES, "why-end", FIRST)
    if guessed is None:
        if drawn:
            with by_chart, st.container(key="wide-factors"):
                alt = f"The Jacobians of the chain, side by side: {shapes}."
                st.graphviz_chart(_factors(chain), width="stretch", alt=alt)
        return
    with by_table:
        show_table(
            ["begin", "multiplications, counted"],
            [
                ("left, at the result: reverse mode", f"{left:,}"),
                ("right, at the inputs: forward mode", f"{right:,}"),
                ("the best order of all", f"{min_multiplications(chain):,}"),
            ],
        )
        st.markdown(_cheaper(left, right, n, m, guessed))
    places = sorted({*(round(x) for x in np.geomspace(1, 1000, 25)), m})
    with by_chart:
        chart = charts.lines(
            "Multiplications, by the number of results",
            [
                Line(title, [(one, multiplications(sizes(n, width, one, length), end)) for one in places])
                for title, end in ENDS.items()
            ],
            Axis("results, m", log=True),
            Axis("multiplications", log=True),
            marks=[Mark("x", m, f"m = {m}"), Mark("x", n, f"n = {n}")] if m != n else [Mark("x", m, f"m = n = {m}")],
            height=280,
            theme=page.theme(),
        )
        show_chart(chart, "chain")


def _factors(chain: list[int]) -> graphviz.Digraph:
    """Draw the Jacobians of a chain of functions, the last one's first, each as wide and as high as its shape says."""
    drawing = blank("factors", page.theme(), rankdir="LR", ranksep="0.1")
    drawing.attr("node", fontsize=FONT_SIZE)
    longest = max(chain)
    rows_and_columns = list(zip(chain[:0:-1], chain[-2::-1], strict=True))
    for at, (rows, columns) in enumerate(rows_and_columns):
        width = max(0.9, FACTOR_INCHES * columns / longest)  # at least as large as its label
        height = max(0.3, FACTOR_INCHES * rows / longest)
        drawing.node(f"{at}", f"{rows} × {columns}", fixedsize="true", width=f"{width:.2f}", height=f"{height:.2f}")
    for at in range(len(rows_and_columns) - 1):
        drawing.edge(f"{at}", f"{at + 1}", style="invis")
    return drawing


def _cheaper(left: int, right: int, n: int, m: int, guessed: str) -> str:
    if left == right:
        return "Both ends cost the same here."
    end, ratio = ("left", right / left) if left < right else ("right", left / right)
    sizes = f"{counted(m, 'result')} and {counted(n, 'input')}"
    return f"**From the {end} it is {ratio:,.1f}× cheaper here**, with {sizes}. {verdict(end == guessed)}"
