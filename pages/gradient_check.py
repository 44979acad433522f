"""Gradient check: what the step h does to a numerical gradient, and why the cotangent is random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.expression import ExpressionError
from lab.expression.parser import Expression
from lab.gradcheck import MARKS, Report, gradcheck, random_cotangent
from lab.gradcheck.slopes import Slope
from lab.gradcheck.step_size import EXPONENTS, METHODS, PRECISIONS, CheckPoint, Sweep
from lab.text import numeral, short
from lab.traps.faults.softmax_rules import RULES, SoftmaxRule, by_cotangent, by_sum
from lab.ui import binding, expression_box, page, progress
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, show_table
from lab.ui.terms import prose
from lab.ui.widgets import ask, result, switch, verdict
from model import Tensor
from pages.parts import step_picture

NAME = "check"
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "x**2 * sin(x) + exp(x)": {"x": 2.0},
    "sum(tanh(x @ w + b)**2)": {"x": [[1, 2], [3, -4]], "w": [[0.5], [-0.3]], "b": 0.1},
    "relu(x) + 0.1*x": {"x": 0.0},
    "sum(abs(v) * w)": {"v": [1.5, 0, -2], "w": [1, 2, 3]},
    "log(x)": {"x": 0.1},
    "softmax(z)": {"z": [1, 2, 0.5]},
    "a*b": {"a": 2.0, "b": 3.0},
}
HELD = expression_box.held(NAME, next(iter(EXAMPLES)))
MAX_ELEMENTS = 200  # of all inputs that are checked
WHO = {"random": "Only the random cotangent", "sum": "Only sum()", "both": "Each", "none": "Neither"}
TRY_THIS = {
    "step": "Find a function whose central differences have no truncation error at all, and one whose best h is far "
    "from the rule of thumb. Then move x to a kink.",
    "cotangent": "Find the only wrong rule that sum() sees. What is special about the others?",
}


def main() -> None:
    with page.frame("gradient-check", *HELD) as arrived:
        st.title("Gradient check")
        if arrived:
            expression_box.restart(NAME)
        opened = page.tabs("gradient-check", {"step": _step, "cotangent": _cotangent})
        page.closing(TRY_THIS[opened], "pages/operations.py", "Next: every operation, checked")


# ---------------------------------------------------------------- the step h


def _step() -> None:
    prose("Is a [[numerical gradient|finite difference]] always better with a smaller step h? Pull h down and see.")
    _moving(expression_box.box(NAME, EXAMPLES))


@st.fragment
def _moving(expression: Expression | None) -> None:
    """Draw the part of the page that an input reruns."""
    if expression is not None:
        _one_element(expression)
    binding.write(*HELD)  # the page's frame does not run again with the fragment
    progress.done("breaking-step", st.session_state.get("check-h", EXPONENTS[0]) <= -16)
    progress.note("check progress")


def _one_element(expression: Expression) -> None:
    left, right = st.columns([5, 1], gap="medium")
    with left:
        values = expression_box.entries(NAME, expression)
    if values is None:
        return
    size = sum(np.size(value) for value in values.values())
    if size > MAX_ELEMENTS:
        st.error(f"These are {size} elements. At most {MAX_ELEMENTS} can be checked.", icon=":material/block:")
        return
    at = expression.text, repr(values)
    try:
        points = memoize("check points", at, lambda: {n: CheckPoint(expression, values, n) for n in PRECISIONS})
        report = memoize("check report", at, lambda: gradcheck(expression, values))
    except (ExpressionError, RuntimeError) as error:
        expression_box.mistake(error)
        return
    session = st.session_state
    places = {str(place): place for place in points["float64"].places()}
    element = next(iter(places))
    if session.get("check-element", element) not in places:
        session["check-element"] = element
    if len(places) > 1:
        element = right.selectbox("Element", places, key="check-element", bind="query-params")
    step, differences, numbers = st.columns([5, 3, 3], gap="medium", vertical_alignment="bottom")
    with step:
        exponent = st.slider(
            "Step h", EXPONENTS[-1], EXPONENTS[0], EXPONENTS[0], 1, "1e%d", "check-h", bind="query-params"
        )
    with differences:
        method = switch("Differences", METHODS, "check-method", default="central", bind="query-params")
    with numbers:
        precision = switch("Numbers", tuple(PRECISIONS), "check-numbers", bind="query-params")
    place, point = places[element], points[precision]
    checked = report.inputs.get(place.name)
    slope = checked.element(place.index) if checked else None
    sweeps = memoize("check sweeps", (at, place, precision), lambda: [point.sweep(place, one) for one in METHODS])
    sweep = next(one for one in sweeps if one.method == method)
    step_picture.show(point, place, sweep, EXPONENTS.index(exponent), slope)
    _remarks(report, points, sweeps)


def _remarks(report: Report, points: Mapping[str, CheckPoint], sweeps: list[Sweep]) -> None:
    """Show the verdict of gradcheck, and what the picture does not say."""
    result(report.answer, f"**gradcheck**, with h = ∛ε max(1, |x|): {escape_markdown(report.verdict)}")
    rules = {sweep.method: short(sweep.rule) for sweep in sweeps}
    sentences = [
        f"Rule of thumb: h = √ε max(1, |x|) = {rules['forward']} for forward, ∛ε max(1, |x|) = {rules['central']} "
        "for central differences."
    ]
    if next(iter(points.values())).cotangent.size > 1:
        sentences.append("f is a weighted sum of the result’s elements. The random weights are the cotangent.")
    st.caption(" ".join(sentences))


# ---------------------------------------------------------------- why the cotangent is random


def _cotangent() -> None:
    prose(
        "The elements of a softmax always add up to 1. Choose a rule for its [[backward pass]]: which check finds "
        "that it is wrong, the one with `softmax(x).sum()` or the one with a random [[cotangent]]?"
    )

    left, right = st.columns(2, gap="medium")
    with left:
        name = st.radio(
            "Rule",
            RULES,
            format_func=lambda key: RULES[key].title,
            key="check-rule",
            bind="query-params",
            on_change=binding.put,
            args=("check-finds", None),
        )
        rule = RULES[name]
        st.code(rule.source, wrap_lines=True)
    with right:
        inputs, seeds = st.columns(2)
        text = inputs.text_input("x", "[1, 2, 0.5]", key="check-logits", bind="query-params")
        seed = seeds.slider("Which random cotangent", 0, 99, 0, key="check-seed", bind="query-params")
        guess = ask("Which check finds a mistake?", WHO, "check-finds")
        try:
            logits = _logits(text)
        except ValueError as error:
            st.error(f"x: {error}")
            return
        softmax = Tensor(logits).softmax().numpy()
        cotangent, _ = random_cotangent(softmax, seed)
        show_table(
            ["element", "softmax(x)", "sum() sends back", "the cotangent sends back"],
            [(f"[{i}]", numeral(y), "1", numeral(v)) for i, (y, v) in enumerate(zip(softmax, cotangent, strict=True))],
        )
    if guess is not None:
        _checked(rule, logits, seed, guess, right)


def _logits(text: str) -> list[float]:
    read = expression_box.value(text)
    if not isinstance(read, list) or np.ndim(read) != 1 or not 2 <= len(read) <= 6:
        raise ValueError("Write a vector of 2 to 6 numbers, such as [1, 2, 0.5].")
    return read


def _checked(rule: SoftmaxRule, logits: Any, seed: int, guess: str, beside: DeltaGenerator) -> None:
    """Run both checks of a rule, and judge the guess which of them finds a mistake. beside: where the guess stands."""
    checks = {"sum()": by_sum(rule, logits), "random cotangent": by_cotangent(rule, logits, seed)}
    by_the_sum, by_the_other = (report.outcome == "failed" for report in checks.values())
    truth = ("both" if by_the_other else "sum") if by_the_sum else ("random" if by_the_other else "none")
    beside.markdown(f"{verdict(guess == truth)} **{WHO[truth]}** finds a mistake.")
    for column, (title, report) in zip(st.columns(2, gap="medium"), checks.items(), strict=True):
        checked = report.inputs["x"]
        with column:
            st.markdown(f"**{title}** {MARKS[report.outcome]}: {escape_markdown(report.verdict)}")
            show_table(
                ["element", "backward()", "difference", "agree"],
                [
                    (str(slope.element), numeral(slope.used), numeral(slope.numerical), _mark(slope))
                    for slope in checked.slopes
                ],
            )
    st.caption(
        "The derivative of a sum that is always 1 is 0. A rule that sends 0 for an upstream gradient of ones never "
        "fails that check, whatever else it does."
    )


def _mark(slope: Slope) -> str:
    unjudged = {"small": "too small", "rounded": "hidden", "lost": "hidden"}.get(slope.kind)
    return unjudged or ("✓" if slope.error <= slope.tolerance else "✗")


main()
