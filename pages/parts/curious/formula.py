"""Formula, differences, autograd: three ways to one derivative, and how their work grows."""

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from lab import charts
from lab.autodiff.symbolic import Formula, Growth, NoFormula, derivative, formula, growth, repeated, text, value
from lab.charts import Axis, Line
from lab.expression import ExpressionError
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
}
LONGER = {"6": 6, "30": 30, "150": 150}
MAX_TIMES = 6  # times that a function is applied to itself
MAX_TEXT = 400  # characters of a formula
TRY_THIS = "Find a function whose derivative formula grows no more than the work of autograd does."
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
    point = {name: float(number) for name, number in values.items() if not isinstance(number, list)}
    if len(point) < len(values):
        st.error("A formula is written for single numbers: choose an expression without arrays.")
        return
    names = [*point]
    if session.get("why-by", names[0]) not in names:
        session["why-by"] = names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = pick("With respect to", names, "why-by", bind="query-params", width=130)
        times = st.slider("Times applied", 1, MAX_TIMES, 3, key="why-times", bind="query-params", width=200)
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
    if guessed is None:
        again = f", each result in place of {escape_markdown(by)} in the next" if times > 1 else ""
        st.markdown(f"The function, applied {counted(times, 'time')}{again}. {FIRST}")
        _show(as_formula)
        return
    grown = memoize("formula growth", (expression.text, by), lambda: growth(expression, point, by, MAX_TIMES))
    at, slope = grown[times - 1], derivative(as_formula, by)
    automatic = float(np.sum(leaves[by].grad or 0.0))
    difference = numerical_gradient(lambda x: function(**{**point, by: x}).item(), point[by]).item()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_table(
            ["way", f"derivative with respect to {by}", "difference", "work"],
            [
                _row("Formula", value(slope, point), automatic, f"{at.derivative:,} operations as written"),
                _row("Central difference", difference, automatic, "2 forward passes, for each input"),
                _row(
                    "Autograd",
                    automatic,
                    automatic,
                    f"{at.forward:,} operations and {at.backward:,} backward rules, for all inputs",
                ),
            ],
        )
        st.markdown(_no_derivative(function, point, by, automatic, difference))
        st.markdown(f"The derivative with respect to {escape_markdown(by)}, as the chain rule writes it:")
        _show(slope)
    with right:
        ratio = grown[-1].derivative / max(grown[0].derivative, 1)
        st.markdown(
            f"Applied {grown[-1].times} times, the formula of the derivative is **{ratio:,.0f}×** as long as for one "
            f"application, and autograd takes {grown[-1].forward / grown[0].forward:.0f}× the operations. "
            + nearest_verdict(LONGER, ratio, guessed)
        )
        _draw_operations(grown)


def _row(way: str, number: float, automatic: float, work: str) -> tuple[str, str, str, str]:
    """Return a row of the table of ways. automatic: the derivative by autograd, from which the number may differ."""
    digits = with_minus(f"{number:.12g}") if math.isfinite(number) else numeral(number)
    same = number == automatic
    return way, digits, "0" if same else "–" if math.isnan(number - automatic) else numeral(number - automatic), work


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


def _show(of: Formula) -> None:
    """Show a formula, or the beginning of a long one."""
    written = text(of) or "too long to be written here"
    st.code(written if len(written) <= MAX_TEXT else f"{written[:MAX_TEXT]} …", language=None, wrap_lines=True)


def _draw_operations(grown: list[Growth]) -> None:
    chart = charts.lines(
        "Operations of the derivative, counted",
        [
            Line("formula as written", [(one.times, one.derivative) for one in grown]),
            Line("autograd, forward and backward", [(one.times, one.forward + one.backward) for one in grown]),
        ],
        Axis("times applied"),
        Axis("operations", log=True),
        height=250,
        theme=page.theme(),
    )
    show_chart(chart, "growth")
