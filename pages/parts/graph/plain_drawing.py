"""The Graph lab without its player: a static drawing, Streamlit's own controls, a table and downloads."""

import shutil

import numpy as np
import streamlit as st

from lab.expression.parser import Expression
from lab.text import brief
from lab.trace.derive import table
from lab.trace.dot import draw
from lab.trace.nonfinite import explain
from lab.trace.numerical import NumericalCheck, check
from lab.trace.recording import Trace
from lab.ui import page
from lab.ui.table import show_table, with_code
from lab.ui.widgets import button
from pages.parts.graph import inputs, passes

MAX_REMARKS = 4  # sentences about slopes below the table of gradients


def show(expression: Expression | None) -> None:
    """Show the plain drawing with Streamlit's own controls."""
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        values = inputs.entries(expression) if expression else None
        _buttons(ready=values is not None)
    with picture:
        if expression and values is not None:
            _picture(expression, values)


def _buttons(ready: bool) -> None:
    stage = st.session_state["graph stage"]
    look = {"type": "primary", "width": "stretch"}  # for all stages: a button that changes its type loses the focus
    left, right = st.columns(2)
    with left:
        icon = "play_arrow" if stage == "none" else "check"
        button("Run forward pass", "graph forward", inputs.go, "forward", icon=icon, disabled=not ready, **look)
    with right:
        icon = "check" if stage == "backward" else "play_arrow"
        order = "Runs after the forward pass." if stage == "none" else None
        off = not ready or stage == "none"
        button("Run backward pass", "graph back", inputs.go, "backward", icon=icon, disabled=off, help=order, **look)


def _picture(expression: Expression, values: dict[str, float | list]) -> None:
    trace = passes.recorded_pass(expression, values)
    if trace is None:
        return
    stage = st.session_state["graph stage"]
    count = passes.event_count(trace, stage)
    drawing = draw(trace, count, page.theme())
    st.graphviz_chart(drawing, alt=f"The computation graph. As text:\n{trace.to_text(count)}")
    if stage == "none":
        st.caption("Boxes are inputs, ellipses operations, the double frame is the result. Press **Run forward pass**.")
        return
    _notes(expression, trace, stage)
    _text_versions(trace, count)
    _downloads(expression, values, trace, drawing.source)


def _notes(expression: Expression, trace: Trace, stage: str) -> None:
    for sentence in explain(trace) if stage != "none" else []:
        st.warning(sentence, icon=":material/warning:")
    if stage == "backward":
        _gradients(expression, trace)


def _gradients(expression: Expression, trace: Trace) -> None:
    """Tabulate each leaf's gradient next to a numerical one."""
    checked, left_out = check(trace, expression)
    if not checked:
        return
    constants = {node["label"] for node in trace.nodes if not node["requires_grad"]}
    rows = [
        (
            row.name,
            brief(row.value),
            "none" if row.analytic is None else brief(row.analytic),
            _differences(row),
            "constant" if row.name in constants else _agreement(row),
        )
        for row in checked
    ]
    st.markdown("**Gradients of the inputs, checked numerically**")
    show_table(["input", "value", "gradient", "numeric", "agree"], rows)
    for slope in [slope for row in checked for slope in row.remarks][:MAX_REMARKS]:
        st.caption(with_code(slope.sentence))
    if left_out:
        st.caption(left_out)


def _differences(row: NumericalCheck) -> str:
    if row.numerical is None:
        return "–"
    if np.ndim(row.value) == 0 and row.slopes and not row.slopes[0].has_derivative:
        return ", ".join(row.slopes[0].side_texts) if row.slopes[0].has_value else "–"
    return brief(row.numerical)


def _agreement(row: NumericalCheck) -> str:
    if row.analytic is None:
        return "no path"
    kinds = {slope.kind for slope in row.remarks if not slope.has_derivative}
    if kinds:
        return "no derivative" if row.agrees is None else f"{'✓' if row.agrees else '✗'}, not everywhere"
    return {True: "✓", False: "✗", None: "–"}[row.agrees]


def _text_versions(trace: Trace, count: int | None) -> None:
    with st.expander("The graph as a table and as text"):
        rows = table(trace, count)
        show_table(list(rows[0]), [list(row.values()) for row in rows])
        st.code(trace.to_text(count), language=None)


def _downloads(expression: Expression, values: dict[str, float | list], trace: Trace, dot_source: str) -> None:
    with st.popover("Download", icon=":material/download:"):
        st.download_button("Drawing (DOT)", dot_source, "graph.dot", "text/vnd.graphviz", width="stretch")
        if shutil.which("dot"):
            svg = lambda: draw(trace, theme="light").pipe("svg")  # noqa: E731 (drawn only when asked for)
            st.download_button("Drawing (SVG)", svg, "graph.svg", "image/svg+xml", width="stretch")
        st.download_button("Trace (JSON)", trace.to_json, "trace.json", "application/json", width="stretch")
        st.download_button(
            "Python script",
            passes.script(expression, values, trace),
            "experiment.py",
            "text/x-python",
            width="stretch",
            help="Save it next to model.py to run it.",
        )
