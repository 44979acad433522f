"""Shapes: which cell of the upstream gradient goes where, and what a forgotten sum does."""

import operator

import numpy as np
import streamlit as st

from lab.autodiff import array_pictures, one_operation, shapes
from lab.text import brief, counted
from lab.text import numeral as number
from lab.traps.faults import forgotten_sum
from lab.traps.faults.forgotten_sum import BROKEN, UPDATES
from lab.ui import binding, page, progress
from lab.ui.memoize import memoize
from lab.ui.table import show_table, with_code
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, ask, switch, verdict
from model import Tensor
from pages.parts import grids as drawing

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
SIGNS = {"+": "a + b", "-": "a − b", "*": "a × b", "/": "a ÷ b"}
PRESETS = {  # shape of a, shape of b
    "(batch, out) + (out,)": ("3, 3", "3"),
    "column and row": ("3, 1", "1, 4"),
    "a single number": ("2, 3", ""),
    "three axes": ("2, 3, 1", "4"),
    "predictions and targets": ("4, 1", "4"),
    "equal shapes": ("2, 3", "2, 3"),
    "(3, 2) and (3,)": ("3, 2", "3"),
}
REDUCTIONS = ("sum", "mean", "max")
AXES: dict[str, int | None] = {"all": None, "0": 0, "1": 1}
INDICES = {
    "x[0]": 0,
    "x[:, 1]": (slice(None), 1),
    "x[1, 2]": (1, 2),
    "x[1:, ::2]": (slice(1, None), slice(None, None, 2)),
    "x[:, ::-1]": (slice(None), slice(None, None, -1)),
    "x[[0, 0, 2]]": [0, 0, 2],
}
X = np.array([[2.0, 7, 1, 8], [2, 8, 1, 8], [2, 8, 4, 5]])  # has equal maxima
OUTCOMES = {
    "error": "an error at the first step",
    "later": "no error until the batch changes",
    "wrong": "wrong numbers, never an error",
    "same": "the right numbers",
}
TRY_THIS = {
    "broadcast": "Find two shapes for which each cell of both gradients is a sum of four upstream cells. Then choose "
    "× and see why the sum is no longer one of upstream cells alone.",
    "forgotten": "Find the batch sizes at which the wrong axis is not noticed until the batch changes. Which "
    "way of writing the step would have shown it at once?",
    "matmul": "Make A a single row. Which gradient is then a product of a column with a row?",
    "reduce": "Find a cell that receives two upstream cells, one that receives none, and one that gets half.",
}


def main() -> None:
    with page.frame("shapes"):
        st.title("Shapes")
        opened = page.tabs(
            "shapes",
            {"broadcast": _broadcast, "forgotten": _forgotten, "matmul": _matmul, "reduce": _reduce},
        )
        progress.done("forgotten-sum", st.session_state.get("shapes-guess") is not None)
        page.closing(TRY_THIS[opened], "pages/graph_lab.py", "Next: an expression of your own, event by event")


# ---------------------------------------------------------------- two shapes


def _broadcast() -> None:
    prose(
        "The smaller array is [[broadcast]]: its numbers are copied. Point at a cell of its gradient: which cells of "
        "an example [[upstream gradient]] does [[unbroadcast]] sum?"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = st.container(width=220)  # filled last: which example is shown follows from the two texts
        a = st.text_input("Shape of a", "3, 3", key="shapes-a", bind="query-params", max_chars=30, width=110)
        op = switch("Operation", SIGNS, "shapes-op", bind="query-params")
        b = st.text_input("Shape of b", "3", key="shapes-b", bind="query-params", max_chars=30, width=110)
    st.session_state["shapes-example"] = _preset(a, b)
    example.selectbox("Example", PRESETS, key="shapes-example", on_change=_take_preset, placeholder="Your own")
    try:
        left, right = shapes.read_shape(a), shapes.read_shape(b)
    except ValueError as error:
        st.error(str(error))
        return

    def draw() -> bytes:
        found = one_operation.run(OPERATIONS[op], one_operation.count_up(left), one_operation.count_up(right, 10.0))
        return drawing.packed(array_pictures.broadcast(found, op))

    try:
        drawn = memoize("broadcast", (op, left, right), draw)
    except ValueError as error:
        st.error(f"The engine says: {with_code(str(error))}", icon=":material/block:")
        _axis_table(left, right)
        return
    drawing.show(drawn, key="shapes grids")
    with st.expander("Axis by axis, the last one first"):
        _axis_table(left, right)


def _preset(a: str, b: str) -> str | None:
    """Return the name of the example with these shapes, if there is one."""
    pair = tuple(text.replace(" ", "").strip("()") for text in (a, b))
    same = (name for name, texts in PRESETS.items() if tuple(text.replace(" ", "") for text in texts) == pair)
    return next(same, None)


def _take_preset() -> None:
    session = st.session_state
    if session["shapes-example"]:
        binding.step()
        for key, text in zip(("shapes-a", "shapes-b"), PRESETS[session["shapes-example"]], strict=True):
            binding.set_widget(key, text)


def _axis_table(left: shapes.Shape, right: shapes.Shape) -> None:
    """Tabulate how broadcasting compares two shapes, axis by axis."""
    rows = []
    for axis in shapes.fit(left, right):
        copied = [name for name, side in (("a", "left"), ("b", "right")) if axis.copies(side)]  # type: ignore[arg-type]
        what = f"{' and '.join(copied)} is copied {axis.length} times" if copied else "equal: nothing is copied"
        if axis.length is None:
            what = f"✗ does not fit: {axis.left} is not {axis.right}, and neither is 1"
        rows.append((f"{axis.axis}", *("none" if n is None else str(n) for n in (axis.left, axis.right)), what))
    if rows:
        show_table(["axis", "a", "b", "what happens"], rows)
    st.markdown(
        "**The rule.** From the last axis backwards, two lengths must be equal, or one of them must be 1 or missing."
    )


# ---------------------------------------------------------------- the sum forgotten


def _forgotten() -> None:
    st.markdown(
        f"One line of this engine is broken. It trains `x @ w + b`, with b of shape (3,), for "
        f"{forgotten_sum.STEPS_BEFORE} steps on one batch and {forgotten_sum.AFTER} on a batch of another size: "
        "**what will happen?**"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        engine = switch("The engine", [*BROKEN], "shapes-engine", on_change=_forget, bind="query-params")
        rows = switch(
            "Rows in the batch", range(1, 5), "shapes-rows", default=3, on_change=_forget, bind="query-params"
        )
        update = switch("The step", UPDATES, "shapes-update", on_change=_forget, bind="query-params")
    guessed = ask(
        "What will happen?", OUTCOMES, "shapes-guess", f"This gradient arrives at b in the first step. {FIRST}"
    )

    def train() -> tuple[forgotten_sum.Training, forgotten_sum.Training, array_pictures.GridPicture]:
        right, broken = (forgotten_sum.train(kind, rows, update) for kind in (Tensor, BROKEN[engine]))
        return right, broken, array_pictures.bias_gradients(right.upstream, right.gradient, broken.gradient)

    right, broken, picture = memoize("forgotten sum", (engine, rows, update), train)
    if guessed is None:
        drawing.show(drawing.packed(picture.before("→")), key="shapes bias")
        return
    outcome = forgotten_sum.outcome(right, broken)
    until = ""
    if outcome == "later":
        until = f" Until then, {counted(broken.misled, 'step')} ended with a wrong b.grad."
    st.markdown(f"{verdict(guessed == outcome)} **{OUTCOMES[outcome].capitalize()}.** {with_code(broken.error)}{until}")
    drawing.show(drawing.packed(picture), key="shapes bias")
    show_table(
        ["engine", "the loss, step by step", "b at the end", "its shape"],
        [
            (
                name,
                ", ".join([*map(number, run.losses), *["✗"] * bool(run.error)]),
                brief(run.bias),
                str(run.bias.shape),
            )
            for name, run in (("right", right), ("broken", broken))
        ],
    )


def _forget() -> None:
    """Clear the guess, which was for other settings."""
    st.session_state["shapes-guess"] = None


# ---------------------------------------------------------------- a matrix product


def _matmul() -> None:
    st.markdown(
        "**C = A @ B**: A[i, k] meets each cell of row k of B once. G is the upstream gradient of C. Point at a "
        "cell of A.grad: it is row i of G times *row* k of B, which is column k of Bᵀ."
    )
    left, middle, right = st.columns(3)
    longest = shapes.MAX_LENGTH
    n = left.slider("Rows of A", 1, longest, 2, key="shapes-n", bind="query-params")
    k = middle.slider("Columns of A, rows of B", 1, longest, 3, key="shapes-k", bind="query-params")
    m = right.slider("Columns of B", 1, longest, 2, key="shapes-m", bind="query-params")

    def draw() -> bytes:
        found = one_operation.run(operator.matmul, one_operation.count_up((n, k)), one_operation.count_up((k, m), 10.0))
        return drawing.packed(array_pictures.matmul(found))

    drawing.show(memoize("matmul", (n, k, m), draw), key="shapes matmul")


# ---------------------------------------------------------------- reductions and indexing


def _reduce() -> None:
    st.markdown(
        "Point at a cell of x.grad: which upstream cells does it get? A sum passes the gradient to every cell, a mean "
        "passes each cell a share. A maximum passes it to the largest cell (equal ones share it), an index to the "
        "cells that it selects."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = switch("What is done with x", [*REDUCTIONS, "index"], "shapes-reduce", bind="query-params")
        if kind == "index":
            chosen = switch("Index", [*INDICES], "shapes-index", default="x[[0, 0, 2]]", bind="query-params")
        else:
            chosen = switch("Axis", [*AXES], "shapes-axis", default="0", bind="query-params")
    drawing.show(memoize("reduction", (kind, chosen), lambda: _reduced(kind, chosen)), key="shapes reduction")


def _reduced(kind: str, chosen: str) -> bytes:
    """Encode the picture of a reduction or of indexing. chosen: the axis, or the index."""
    if kind == "index":
        title, found = chosen, one_operation.run(lambda x: x[INDICES[chosen]], X)
    else:
        axis = AXES[chosen]
        title = f"x.{kind}({'' if axis is None else axis})"
        found = one_operation.run(lambda x: getattr(x, kind)(axis), X)
    return drawing.packed(array_pictures.of_one(found, title))


main()
