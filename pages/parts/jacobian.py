"""Jacobian: all derivatives of a function in one picture, filled pass by pass."""

import json
from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.autodiff.jacobian import FunctionGraph, UnfitError
from lab.expression import ExpressionError
from lab.expression.parser import Expression
from lab.gradcheck import gradcheck
from lab.text import counted, numeral
from lab.ui import binding, expression_box, page, progress
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, ask, button, switch, verdict

NAME = "why"  # what the keys of this tab begin with
MAX_SIDE = 8  # inputs of the picture, and outputs
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "softmax(x)": {"x": [1, 2, 0, -1]},
    "tanh(x)": {"x": [-2, -0.5, 0, 1]},
    "x @ w": {"x": [1, 2], "w": [[1, 0, -1], [2, 1, 0]]},
    "sum(x**2)": {"x": [1, -2, 3, 0.5]},
    "[cos(t), sin(t), t]": {"t": 1.0},
    "x / sum(x)": {"x": [1, 2, 3, 4, 5, 6, 7, 8]},
    "relu(x) + x[0]*x": {"x": [1, -2, 3]},
}
WAYS = {"columns": "columns (forward)", "rows": "rows (reverse)"}
ZEROS = {"nowhere": "nowhere", "off": "all off the diagonal", "other": "elsewhere"}
PASSES = binding.whole("why-passes", 0, 0, MAX_SIDE)  # its slider has another range for another function
HELD = (*expression_box.held(NAME, next(iter(EXAMPLES))), PASSES)


def draw() -> None:
    """Draw the tab."""
    _one()
    page.closing(
        "Write a function of three inputs and three results whose Jacobian is 0 above the diagonal and not below. "
        "Then find one whose picture forward mode fills in a single pass.",
        "pages/other_engines.py",
        "Next: one engine, built in several ways",
    )


# ---------------------------------------------------------------- one function


def _one() -> None:
    prose(
        "Row i, column j of a [[Jacobian]] says how fast result i changes with input j. Guess where the zeros are, "
        "then fill it pass by pass, by [[forward mode]] or [[reverse mode]]."
    )
    expression = expression_box.box(NAME, EXAMPLES, _start_over)
    if expression is None:
        return
    controls, picture = st.columns([2, 3], gap="medium")
    with controls:
        values = expression_box.entries(NAME, expression)
        graph = None if values is None else _graph(expression, values)
    if graph is None or values is None:
        return
    n, m = len(graph.inputs), len(graph.outputs)
    if max(n, m) > MAX_SIDE:
        st.error(
            f"This function computes {m} numbers from {n}; the picture has room for {MAX_SIDE} inputs and {MAX_SIDE} "
            "results. Use smaller arrays.",
            icon=":material/block:",
        )
    else:
        _matrix(graph, controls, picture)
    _directions(n, m, expression, values)


def _start_over() -> None:
    """Forget the guesses and passes, which were for another expression."""
    st.session_state.update({"why-zeros": None, "why-passes": 0, "jacobian v for": None})


def _matrix(graph: FunctionGraph, controls: DeltaGenerator, picture: DeltaGenerator) -> None:
    """Draw the picture with the passes made so far, and compare backward(v) with the product of v and the picture."""
    session = st.session_state
    n, m = len(graph.inputs), len(graph.outputs)
    by_columns = session.get("why-way", "columns") == "columns"
    most = n if by_columns else m
    if session.get("jacobian most") != most:  # another range would begin the slider again
        session["jacobian most"], session["why-passes"] = most, min(session["why-passes"], most)
    with controls:
        done = _fill(graph, most)
    inputs, outputs = ({str(at): graph.number(at) for at in places} for places in (graph.inputs, graph.outputs))
    matrix, known = np.zeros((m, n)), np.zeros((m, n), dtype=bool)
    for number in range(done):
        if by_columns:
            matrix[:, number], known[:, number] = graph.column(graph.inputs[number]), True
        else:
            matrix[number], known[number] = graph.row(graph.outputs[number]), True
    with picture:
        theme = page.theme()
        chart = memoize(
            "jacobian picture",
            (matrix.tobytes(), known.tobytes(), outputs, inputs, theme),
            lambda: charts.jacobian(matrix, known, outputs, inputs, theme),
        )
        show_chart(chart, "jacobian")
        found = matrix[known]
        largest = np.abs(found[np.isfinite(found)]).max(initial=0.0)
        st.caption(
            "Blue: above 0. Pink, with −: below 0. Dashed, without colour: exactly 0. A dot: not computed."
            + (f" The strongest colour is {numeral(largest)}." if largest else "")
        )
        _product(graph, matrix if done == most else None)
    progress.done("forward-wins", done == most and by_columns and n < m)
    progress.done("whole-jacobian", done == most and session["why-expression"] == "softmax(x)")
    if done == most:
        with controls:
            _zeros(matrix)


def _graph(expression: Expression, values: Mapping[str, float | list]) -> FunctionGraph | None:
    """Return the function with its inputs, or None after an error.

    Warns of results that are not finite and of kinks, where the rules give derivatives all the same.
    """
    at = expression.text, repr(values)
    try:
        with np.errstate(all="ignore"):
            graph = memoize("jacobian graph", at, lambda: FunctionGraph(expression, values))
    except (ExpressionError, UnfitError) as error:
        expression_box.mistake(error)
        return None
    results = {str(place): graph.number(place) for place in graph.outputs}
    if not_finite := [f"{name} is {numeral(result)}" for name, result in results.items() if not np.isfinite(result)]:
        st.warning(
            f"{escape_markdown(', '.join(not_finite))}: without a finite value there is no derivative, whatever the "
            "rules compute.",
            icon=":material/warning:",
        )
        return graph
    if kinks := memoize("jacobian kinks", at, lambda: gradcheck(expression, values).kinks):
        names = ", ".join(str(slope.element) for slope in kinks)
        st.warning(
            f"The function has a kink where {escape_markdown(names)} is, and no derivative: what fills the picture "
            "there is a convention of the rules.",
            icon=":material/warning:",
        )
    return graph


def _fill(graph: FunctionGraph, most: int) -> int:
    """Draw the guess, the direction and the next pass, explain the last pass, and return the number of passes."""
    session = st.session_state

    def another() -> None:  # from the session: a second press may come before the page has run
        session["why-passes"] += 1

    guessed = ask("Guess: zeros are", ZEROS, "why-zeros")
    way = switch("Fill it by", WAYS, "why-way", on_change=binding.put, args=("why-passes", 0), bind="query-params")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        button(
            "Next pass",
            "jacobian next",
            another,
            icon="skip_next",
            type="primary",
            disabled=guessed is None or session["why-passes"] >= most,
        )
        done = st.slider("Passes", 0, most, key="why-passes", persist_state="session", disabled=guessed is None)
    if guessed is None:
        st.markdown(FIRST)
        return 0
    if not done:
        st.markdown("No passes yet. A dot means: not computed.")
    elif way == "columns":
        name = escape_markdown(str(graph.inputs[done - 1]))
        st.markdown(f"Pass {done} of {most}, forward: {name} changes by 1, all other inputs by 0. That is a column.")
    else:
        name = escape_markdown(str(graph.outputs[done - 1]))
        st.markdown(f"Pass {done} of {most}, backward: the upstream gradient is 1 at {name}, else 0. That is a row.")
    return done


def _zeros(matrix: np.ndarray) -> None:
    zero = matrix == 0
    off = np.eye(*matrix.shape) == 0
    if not zero.any():
        where = "nowhere"
    elif zero.shape[0] == zero.shape[1] and np.array_equal(zero, off):
        where = "off"
    else:
        where = "other"
    count = int(zero.sum())
    right = where == st.session_state["why-zeros"]
    st.markdown(f"**{count} of {matrix.size} cells are 0**: {ZEROS[where]}. {verdict(right)}")


def _product(graph: FunctionGraph, matrix: np.ndarray | None) -> None:
    """Compare the engine's backward(v) with vᵀJ; matrix: the whole picture, or None while it has unknown cells."""
    m = len(graph.outputs)
    session = st.session_state
    begun = json.dumps([*range(1, m + 1)])
    numbers = counted(m, "number")
    before = session.get("jacobian v for", m)
    if before != m:  # another expression, or the result's shape has changed with an input's
        session["why-v"] = begun
        if before is not None:
            st.caption(f"The result has {numbers} now, so v starts again.")
    session["jacobian v for"] = m
    text = st.text_input(
        f"v, an upstream gradient of {numbers}", begun, key="why-v", bind="query-params", max_chars=500
    )
    try:
        v = np.ravel(expression_box.value(text))
    except ValueError as error:
        st.error(str(error))
        return
    if v.size != m:
        st.error(f"v has {v.size} {'number' if v.size == 1 else 'numbers'}; the result has {m}.")
        return
    gradient = graph.backward(v)
    with np.errstate(all="ignore"):
        product = None if matrix is None else v @ matrix
    rows = [
        (str(place), numeral(gradient[j]), "–" if product is None else numeral(product[j]))
        for j, place in enumerate(graph.inputs)
    ]
    show_table(["input", "backward(v)", "vᵀJ, from the picture"], rows)
    if product is None:
        st.markdown("The product needs the whole picture; backward(v) needed one pass.")
    else:
        apart = numeral(float(np.max(np.abs(gradient - product))))
        st.markdown(f"Largest difference: {apart}. backward(v) is vᵀJ, and never makes J.")


# ---------------------------------------------------------------- both directions


def _directions(n: int, m: int, expression: Expression, values: Mapping[str, float | list]) -> None:
    """Count the passes of both directions, and link to the Graph lab, which shows them."""
    fewer = "Both need as many" if n == m else f"{'Forward' if n < m else 'Reverse'} mode needs fewer"
    st.markdown(
        f"**{fewer} passes for this picture.** {counted(n, 'input')} and {counted(m, 'result')}: {n} "
        f"{'pass' if n == 1 else 'passes'} of forward mode, or {m} of reverse mode after one forward pass."
    )
    point = {f"in_{name}": expression_box.written(value) for name, value in values.items()}
    ways = (("Forward mode", "See the tangents travel"), ("Reverse", "See the gradients come back"))
    for mode, label in ways:
        query = {"expression": expression.text, **point, "stage": "forward", "mode": mode}
        page.link_to("pages/graph_lab.py", label, "account_tree", query)
