"""Formula, differences, autograd: three ways to one derivative, and how their work grows."""

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from lab import charts
from lab.autodiff.symbolic import (
    Formula,
    Growth,
    NoFormula,
    derivative,
    formula,
    growth,
    has_sympy,
    operations,
    passes,
    repeated,
    text,
    value,
)
from lab.charts import Axis, Line
from lab.expression import ExpressionError
from lab.expression.parser import Expression
from lab.gradcheck import gradcheck, numerical_gradient
from lab.text import counted, numeral, with_minus
from lab.ui import binding, expression_box, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, pick
from model import Tensor
from pages.parts.gradient_cost import guess_times, nearest_verdict

NAME = "formula"
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "(a*b + c) * tanh(a)": {"a": 0.5, "b": 3.0, "c": 1.0},
    "4*x*(1 - x)": {"x": 0.3},
    "x**2*sin(x) + exp(x)": {"x": -1.0},
    "tanh(x @ w)": {"x": [1, 2], "w": [[0.1, 0.2, 0.3], [-0.3, 0.2, -0.1]]},
    "tanh(t * [1, 2, 3, 4, 5, 6, 7, 8])": {"t": 0.2},
    "log(sum(exp(v)))": {"v": [0.5, -1, 2, 0, 1, -0.5]},
}
LONGER = {"6": 6, "30": 30, "150": 150}
MAX_TIMES = 6  # times that a function is applied to itself
MAX_TEXT = 400  # characters of a formula
TRY_THIS = "Find a function whose derivative formula grows no more than the work of autograd does."
STEPS = [10.0**-exponent for exponent in range(1, 16)]
HELD = expression_box.held(NAME, next(iter(EXAMPLES)))


def draw() -> None:
    """Draw the topic."""
    prose(
        "Apply a function six times, each time to its last result: a backward pass ([[autograd]]) does six times the "
        "work. What happens to the formula?"
    )
    session = st.session_state
    expression = expression_box.box(NAME, EXAMPLES, lambda: binding.put("why-longer", None))
    values = None if expression is None else expression_box.entries(NAME, expression)
    if expression is None or values is None:
        return
    if any(isinstance(number, list) for number in values.values()):
        st.error("A formula is written for single numbers: choose an expression without arrays.")
        return
    point = {name: float(number) for name, number in values.items() if not isinstance(number, list)}
    names = [*point]
    if session.get("why-by", names[0]) not in names:
        session["why-by"] = names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = pick("With respect to", names, "why-by", bind="query-params", width=130)
        times = st.slider("Times applied", 1, MAX_TIMES, 3, key="why-times", bind="query-params", width=200)
        label = "Step h of the difference"
        h = st.select_slider(label, STEPS, STEPS[4], numeral, key="why-h", bind="query-params", width=200)
        guessed = guess_times(
            f"Guess: the derivative’s formula for {MAX_TIMES} applications is how many times as long as for 1?",
            LONGER,
            "why-longer",
        )
    try:
        leaves = {name: Tensor(number, label=name) for name, number in point.items()}
        function = repeated(expression, by, times)
        result = function(**leaves)
        as_formula = formula(result, leaves)
        result.backward()
    except (ExpressionError, NoFormula, RuntimeError) as error:  # RuntimeError: the result needs no gradient
        expression_box.mistake(error)
        return
    left, right = st.columns([3, 2], gap="medium")
    if guessed is None:
        with left:
            again = f", each result in place of {escape_markdown(by)} in the next" if times > 1 else ""
            st.markdown(f"The function, applied {counted(times, 'time')}{again}. {FIRST}")
            st.code(text(as_formula, MAX_TEXT), language=None, wrap_lines=True)
        with right:
            _draw_operations([_autograd(expression, point, by)])
        return
    grown = _growth(expression, point, by)
    slope = derivative(as_formula, by)
    automatic = float(np.sum(leaves[by].grad or 0.0))
    difference = numerical_gradient(lambda x: function(**{**point, by: x}).item(), point[by], h).item()
    at = grown[times - 1]
    rows = [
        (
            "Formula",
            value(slope, point),
            f"{operations(slope):,} operations as written"
            + (f", {at.simplified.operations:,} simplified" if at.simplified is not None else ""),
        ),
        (f"Difference, h = {numeral(h)}", difference, "2 forward passes, for each input"),
        ("Autograd", automatic, f"{at.forward:,} operations and {at.backward:,} backward rules, for all inputs"),
    ]
    with left:
        show_table(
            ["way", f"derivative with respect to {by}", "difference", "work"],
            [
                (way, _digits(number), "–" if way == "Autograd" else _difference(number, automatic), work)
                for way, number, work in rows
            ],
        )
        st.markdown(_no_derivative(function, point, by, automatic, difference))
        _show_formula(slope, at, by)
    with right:
        ratio = grown[-1].derivative / max(grown[0].derivative, 1)
        st.markdown(
            f"Applied {grown[-1].times} times, the formula of the derivative is **{ratio:,.0f}×** as long as for one "
            f"application, and autograd takes {grown[-1].forward / grown[0].forward:.0f}× the operations. "
            + nearest_verdict(LONGER, ratio, guessed)
        )
        short = [(one.times, one.simplified.operations) for one in grown if one.simplified is not None]
        _draw_operations(
            [
                Line("formula as written", [(one.times, one.derivative) for one in grown]),
                Line("simplified", short),
                _autograd(expression, point, by),
            ]
        )


def _no_derivative(function: Callable[..., Tensor], point: dict[str, float], by: str, *found: float) -> str:
    """Say why the three ways are meaningless at this point; "" if they are not."""
    if not np.isfinite(found).all():
        return (
            "**Here the function has no finite value or slope**, and none of the three is a derivative. "
            "Move the inputs to a point where it has both."
        )
    if gradcheck(lambda **at: function(**{**point, **at}), {by: point[by]}).kinks:
        return (
            f"**Here the function has a kink, and no derivative with respect to {escape_markdown(by)}.** "
            "The difference takes the mean of both slopes; formula and autograd keep to a convention."
        )
    return ""


def _growth(expression: Expression, point: dict[str, float], by: str) -> list[Growth]:
    """Count the operations of the formulas, once for each expression as they do not depend on the values."""

    def count() -> list[Growth]:
        with st.spinner("Writing the formulas down"):
            return list(growth(expression, point, by, MAX_TIMES))

    return memoize("formula growth", (expression.text, by), count)


def _digits(number: float) -> str:
    return with_minus(f"{number:.12g}") if math.isfinite(number) else numeral(number)


def _difference(number: float, automatic: float) -> str:
    if math.isnan(number) or math.isnan(automatic):
        return "–"
    if number == automatic:
        return "0"
    return numeral(number - automatic)


def _show_formula(slope: Formula, at: Growth, by: str) -> None:
    st.markdown(f"The derivative with respect to {escape_markdown(by)}, as the chain rule writes it:")
    st.code(text(slope, MAX_TEXT), language=None, wrap_lines=True)
    if not has_sympy():
        st.info("SymPy, which simplifies formulas, is not installed. Install it with `pip install sympy`.")
    elif at.simplified is None:
        st.markdown("It is too long to be simplified while you wait.")
    else:
        st.markdown("Simplified by SymPy:")
        short = at.simplified.text
        st.code(short if len(short) <= MAX_TEXT else f"{short[:MAX_TEXT]} …", language=None, wrap_lines=True)


def _autograd(expression: Expression, point: dict[str, float], by: str) -> Line:
    """Return the operations of autograd's two passes, for each number of times that the function is applied."""

    def count() -> list[tuple[float, float]]:
        results = (
            repeated(expression, by, times)(**{name: Tensor(number) for name, number in point.items()})
            for times in range(1, MAX_TIMES + 1)
        )
        return [(times, sum(passes(result))) for times, result in enumerate(results, start=1)]

    return Line("autograd, forward and backward", memoize("autograd passes", (expression.text, by), count))


def _draw_operations(lines: list[Line]) -> None:
    chart = charts.lines(
        "Operations of the derivative, counted",
        [line for line in lines if line.points],
        Axis("times applied"),
        Axis("operations", log=True),
        height=250,
        theme=page.theme(),
    )
    show_chart(chart, "growth")
