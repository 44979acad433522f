"""Gradient check: what the step h does to a numerical gradient, a claim to check, and why the cotangent is random."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from lab import charts
from lab.autodiff.claims import CLAIMS, Claim
from lab.autodiff.softmax import RULES, by_cotangent, by_sum
from lab.autodiff.steps import (
    EXPONENTS,
    METHODS,
    PRECISIONS,
    Difference,
    Place,
    Point,
    Sweep,
    error_by_step,
    worst_place,
)
from lab.charts import Axis, Line, Mark
from lab.expression import ExpressionError
from lab.expression.builder import Expression
from lab.gradcheck import Element, Report, gradcheck
from lab.gradcheck.slopes import Slope
from lab.practice.checker import Stopped
from lab.practice.learner_engine import EXAMPLES as OWN_EXAMPLES
from lab.practice.learner_engine import Unusable
from lab.text import numeral, short
from lab.ui import address, expression_box, page, progress, state
from lab.ui.address import Field
from lab.ui.chart_host import ChartHost
from lab.ui.memoize import memoize
from lab.ui.practice import choice, own
from lab.ui.practice.own import Engine
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, markdown_table
from lab.ui.terms import prose
from model import Tensor

NAME = "check"
TABS = page.Tabs("check", "check tab")
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "x**2 * sin(x) + exp(x)": {"x": 2.0},
    "sum(tanh(x @ w + b)**2)": {"x": [[1, 2], [3, -4]], "w": [[0.5], [-0.3]], "b": 0.1},
    "relu(x) + 0.1*x": {"x": 0.0},
    "sum(abs(v) * w)": {"v": [1.5, 0, -2], "w": [1, 2, 3]},
    "log(x)": {"x": 0.1},
    "softmax(z)": {"z": [1, 2, 0.5]},
    "a*b": {"a": 2.0, "b": 3.0},
}
MOST = 200  # elements that are checked
EVERY_EXAMPLE = {*EXAMPLES, *(text for examples in OWN_EXAMPLES.values() for text in examples)}
ERRORS = (1e-16, 1e2)  # on the axis, before any are known
NOTHING, GRADIENT, ZERO, BOTH = "Nothing", "The gradient", "The 0", "Both numbers"
WHO = {
    "random": "Only the one with the random cotangent",
    "sum": "Only the one with sum()",
    "both": "Both",
    "none": "Neither",
}
TRY_THIS = {
    "step": "Find a function for which central differences have no truncation at all, and one whose best h is far from "
    "the rule. Then move x to a kink.",
    "claim": "Load the claim into “The step h” and find the h at which its 0 appears, with either method.",
    "cotangent": "Find the only wrong rule that sum() sees. What is special about the others?",
}


def main() -> None:
    with page.run(NAME, FIELDS) as current:
        st.title("Gradient check")
        if current.restored:
            expression_box.begin(NAME)
        TABS.show({"step": partial(_step, current), "claim": _claim, "cotangent": _cotangent})
        page.closing(TRY_THIS[TABS.open], "pages/every_operation.py", "Next: every operation, checked")


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _logits(text: str) -> list[float]:
    read = expression_box.value(text)
    if not isinstance(read, list) or np.ndim(read) != 1 or not 2 <= len(read) <= 6:
        raise ValueError("Write a vector of 2 to 6 numbers, such as [1, 2, 0.5].")
    return read


def _logits_text(text: str) -> str:
    _logits(text)
    return text


H = Field("h", "check h", EXPONENTS[0], int, limits=(EXPONENTS[-1], EXPONENTS[0]))
SEED = Field("seed", "check seed", 0, int, limits=(0, 99))
WHERE = (
    Field("element", "check element", ""),
    Field("numbers", "check numbers", "float64", address.one_of(*PRECISIONS)),
    Field("method", "check method", "central", address.one_of(*METHODS)),
)
FIELDS = (
    TABS.field,
    *expression_box.fields(NAME, next(iter(EXAMPLES))),
    choice.field(NAME),
    H,
    *WHERE,
    Field("claim", "check claim", next(iter(CLAIMS)), address.one_of(*CLAIMS)),
    Field("wrong", "check wrong", None, address.one_of(NOTHING, GRADIENT, ZERO, BOTH), address.optional),
    Field("rule", "check rule", next(iter(RULES)), address.one_of(*RULES)),
    Field("logits", "check logits", "[1, 2, 0.5]", _logits_text),
    Field("finds", "check finds", None, address.one_of(*WHO), address.optional),
    SEED,
    Field("shown", "check shown", False, address.flag, address.flagged),
)


# ---------------------------------------------------------------- the step h


def _step(current: PageState) -> None:
    prose(
        "A numerical [[gradient]] moves x by a small step h and divides. **Which h would you trust?** Move it, read "
        "the error, then show every h."
    )
    engine = choice.chosen(NAME)
    if engine and st.session_state["check expression"] == next(iter(EXAMPLES)):
        _begin_with_engine()  # a link that names an engine alone, or one that has come back
    expression = expression_box.expression_box(NAME, OWN_EXAMPLES[engine.ladder.key] if engine else EXAMPLES)
    choice.come_back(NAME)
    _moving(current, expression, choice.choose(NAME, _change_engine))


def _change_engine() -> None:
    state.step()
    _begin_with_engine()


def _begin_with_engine() -> None:
    """An example of one engine gives way to one that the other can compute; what the visitor wrote stays."""
    session = st.session_state
    engine = session["check engine"]
    own_examples = OWN_EXAMPLES.get(engine, EXAMPLES)
    if session["check expression"] not in own_examples and session["check expression"] in EVERY_EXAMPLE:
        session["check expression"], session["check inputs"] = next(iter(own_examples)), {}
        expression_box.begin(NAME)


@st.fragment
def _moving(current: PageState, expression: Expression | None, engine: Engine | None) -> None:
    """A slider runs only this again. engine: the visitor's own, whose gradient is checked; None: the lab's."""
    with current.fragment(H, *WHERE):
        if expression is not None:
            _one_step(expression, engine)
    session = st.session_state
    progress.done("breaking-step", session["check shown"] and session["check h"] <= -16)
    progress.note("check progress")


def _one_step(expression: Expression, engine: Engine | None) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        values = expression_box.inputs(NAME, expression, columns=3)
    with right:
        h = _step_chosen()
    if values is None:
        return
    size = sum(np.size(value) for value in values.values())
    if size > MOST:
        st.error(f"These are {size} elements: with at most {MOST} each can be checked.", icon=":material/block:")
        return
    at = expression.text, repr(values), engine
    try:
        derived = memoize("check derived", at, lambda: _derived(expression, values, engine))
    except (ExpressionError, RuntimeError) as error:
        expression_box.mistake(error)
        return
    if isinstance(derived, str):
        st.error(escape_markdown(derived), icon=":material/block:")
        return
    points, report = derived
    if engine:
        st.caption("The values of f are the lab’s; `backward()` is that of your engine, run in a process of its own.")
    session = st.session_state
    places = {str(place): place for place in points["float64"].places()}
    if session["check element"] not in places:
        session["check element"] = next(iter(places))
    left, right = st.columns([3, 2], gap="medium")
    with right:
        difference, place = _arithmetic(points, at, places, h, report)
    with left:
        _said(difference, place, report, engine)
        boards = ChartHost("check")
        boards.board("error")
    sweeps: list[Sweep] = []
    if session["check shown"]:
        sweeps = memoize("check sweeps", (*at, place), lambda: error_by_step(points.values(), place))
    slope = _slope(report, place)
    smooth = not slope or slope.has_derivative
    pictures = {"error": _errors(sweeps, difference, smooth)}
    if sweeps and smooth:
        st.markdown(markdown_table(
            ["", "best h", "error there", "rule", "slope above", "slope below"],
            [_row(sweep) for sweep in sweeps],
        ))  # fmt: skip
        st.caption(
            "Best h: of the powers of ten. Rule: √ε for forward, ∛ε for central differences, times |x| where that is "
            "above 1. Slope of the error above the best h (truncation) and below it (cancellation): 2 means that a "
            "tenth of h makes a hundredth of the error."
        )
    _verdict(report)
    if len(places) > 1:
        pictures |= _map(boards, points[session["check numbers"]], at, place, h, report)
    boards.fill(pictures)


def _derived(
    expression: Expression, values: Mapping[str, Any], engine: Engine | None
) -> tuple[dict[str, Point], Report] | str:
    """The expression with its gradients, in each precision, and the report on them; or why the visitor's own engine has
    none, as plain text. Raises what the lab's has to say of the expression."""
    if engine is None:
        return _with(expression, values)
    try:
        with own.differentiated(engine, expression) as f:
            return _with(f, values)
    except (Unusable, Stopped) as error:
        return own.said(engine, str(error), error.line)


def _with(f: Callable[..., Tensor], values: Mapping[str, Any]) -> tuple[dict[str, Point], Report]:
    return {name: Point(f, values, name) for name in PRECISIONS}, gradcheck(f, values)


def _show() -> None:
    st.session_state["check shown"] = True
    state.step()


def _step_chosen() -> float:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        exponent = st.slider("Step h", EXPONENTS[-1], EXPONENTS[0], key="check h", format="1e%d")
        if not st.session_state["check shown"]:
            st.button("Show every h", key="check show", type="primary", on_click=_show, icon=":material/show_chart:")
    return float(f"1e{exponent}")


def _arithmetic(
    points: dict[str, Point], at: object, places: dict[str, Place], h: float, report: Report
) -> tuple[Difference, Place]:
    """The difference at the chosen element, number by number. at: what the points were made of."""
    with st.container(horizontal=True):
        method = st.radio("Differences", METHODS, key="check method", horizontal=True)
        precision = st.radio("Numbers", list(PRECISIONS), key="check numbers", horizontal=True)
        if len(places) > 1:
            st.selectbox("Element", places, key="check element", width=130)
    place = places[st.session_state["check element"]]
    point = points[precision]
    found = memoize("check difference", (at, precision, place, h, method), lambda: point.difference(place, h, method))
    x = str(place)
    dtype = PRECISIONS[precision]
    back = f"f({x})" if method == "forward" else f"f({x} − h)"
    numbers = [
        (f"{x} + h", found.right), (f"f({x} + h)", found.above), (back, found.below),
        ("their difference", found.difference), ("h" if method == "forward" else "2h", found.width),
        ("quotient", found.quotient), ("backward()", found.exact),
    ]  # fmt: skip
    rows = [(name, re.sub("e-0?", "e-", str(dtype(value))).replace("-", "−")) for name, value in numbers]
    slope = _slope(report, place)
    error = numeral(found.error) if not slope or slope.has_derivative else "no derivative"
    st.markdown(markdown_table(["", precision], [*rows, ("error", error)]))
    if points[precision].cotangent.size > 1:
        st.caption("f is the sum of the elements of the result, each with a random weight: the cotangent.")
    return found, place


def _slope(report: Report, place: Place) -> Slope | None:
    """What the report says there; None where the check came to no numbers."""
    result = report.inputs.get(place.name)
    return result.element(place.index).slope if result else None


def _said(found: Difference, place: Place, report: Report, engine: Engine | None) -> None:
    """What has happened at this step, in a sentence."""
    x = escape_markdown(str(place))
    digits = 16 if st.session_state["check numbers"] == "float64" else 7
    slope = _slope(report, place)
    if slope and not slope.has_derivative:
        st.warning(f"{escape_markdown(slope.sentence)} No h can help.")
    elif engine and not math.isfinite(found.exact):
        st.warning(f"Your engine’s backward() gives {numeral(found.exact)} at {x}.")
    elif not math.isfinite(found.exact):
        st.warning(f"backward() gives {numeral(found.exact)}: f has no finite slope at {x}. Move {x}.")
    elif not math.isfinite(found.quotient):
        st.warning(
            f"f has no finite value one step from {x}, so there is no difference. Take a smaller h, or move {x}."
        )
    elif found.stuck:
        st.markdown(f"**{x} + h is {x} itself**: the step is smaller than the last digit of {x}, and is lost.")
    elif not found.difference:
        st.markdown("**The two values of f are the same**: what the step changes is smaller than their last digit.")
    else:
        same = round(found.digits_lost)
        lost = f"their first **{same}** digits" if same > 1 else "one digit" if same else "no digit"
        st.markdown(f"The two values agree in {lost}, of about {digits}. What they agree in, the subtraction loses.")


def _errors(sweeps: list[Sweep], now: Difference, smooth: bool) -> charts.Chart:
    """The errors by step, the lowest and its branches marked where f is smooth; before they are asked for, the one at
    the chosen step."""
    chosen = st.session_state["check method"], st.session_state["check numbers"]
    marks = [Mark("x", now.h, "your h")]
    drawn, branches = [], []
    for sweep in sweeps:
        drawn.append(Line(_name(sweep), [(one.h, one.error) for one in reversed(sweep.differences)]))
        if (sweep.method, sweep.precision) == chosen:
            marks.append(Mark("x", sweep.rule, "∛ε" if sweep.method == "central" else "√ε"))
            below, above = (branch.points() if branch else [] for branch in (sweep.cancellation, sweep.truncation))
            branches = [*below, (sweep.best.h if sweep.best else now.h, math.nan), *above]  # two lines and a gap
    if sweeps and smooth:
        least = [(sweep.best.h, sweep.best.error) for sweep in sweeps if sweep.best]
        drawn += [Line("least error", sorted(least), dots=True), Line("its two branches", branches)]
    if not sweeps:
        drawn = [Line("your h", [(now.h, now.error)], dots=True)]
    placed = [error for line in drawn for _, error in line.points if math.isfinite(error) and error > 0]
    ends = ERRORS
    if sweeps and placed:
        ends = 10.0 ** max(math.floor(math.log10(min(placed))), -300), 10.0 ** (math.floor(math.log10(max(placed))) + 1)
    what = "error" if smooth else "distance from what backward() gives"
    return charts.lines(
        f"The {what} at every step h" if sweeps else f"The {what} at your step h",
        drawn,
        Axis("h", log=True, ends=(1e-17, 1e-1)),
        Axis("error" if smooth else "distance", log=True, ends=ends),
        marks=marks,
        height=310,
        theme=page.theme(),
    )


def _row(sweep: Sweep) -> tuple[str, ...]:
    slopes = [f"{branch.slope:.1f}".replace("-", "−") if branch else "none"
              for branch in (sweep.truncation, sweep.cancellation)]  # fmt: skip
    best = (short(sweep.best.h), short(sweep.best.error)) if sweep.best else ("none", "none")
    return (_name(sweep), *best, short(sweep.rule), *slopes)


def _name(sweep: Sweep) -> str:
    return f"{sweep.method} {sweep.precision.removeprefix('float')}"


def _verdict(report: Report) -> None:
    (st.success if report.passed else st.error)(
        f"**gradcheck**, which takes ∛ε: {escape_markdown(report.verdict)}",
        icon=":material/check:" if report.passed else ":material/close:",
    )


def _map(
    boards: ChartHost, point: Point, at: object, place: Place, h: float, report: Report
) -> dict[str, charts.Chart]:
    method = st.session_state["check method"]
    errors = memoize("check errors", (at, point.precision, h, method), lambda: point.errors(h, method))
    kinked = {name: result.kink for name, result in report.inputs.items()}
    compared = {
        name: np.where(kinked[name], -1.0, array) if name in kinked else array for name, array in errors.items()
    }
    count = sum(int(np.sum(array != -1)) for array in compared.values())
    if count:
        worst, error = worst_place(compared)
        st.markdown(
            f"With h = {numeral(h)}, the worst of the {count} with a derivative is **{escape_markdown(str(worst))}**, "
            f"with an error of {numeral(error)}."
        )
    if not place.index:
        return {}
    boards.board("map")
    kinks = [one.index for one in report.kinks if one.input == place.name]
    return {"map": charts.error_map(place.name, errors[place.name], kinks, place.index, page.theme())}


# ---------------------------------------------------------------- a claim


def _claim() -> None:
    session = st.session_state

    def forget() -> None:
        session["check wrong"] = None

    prose("A tutorial prints these numbers. Choose a claim, say what is wrong with it, and have it measured.")
    key = st.radio("Claim", CLAIMS, format_func=lambda key: CLAIMS[key].words, key="check claim", on_change=forget)
    claim = CLAIMS[key]
    about = [NOTHING, GRADIENT, ZERO, BOTH] if claim.h else [NOTHING, BOTH]
    if session["check wrong"] not in about:
        session["check wrong"] = None
    guess = st.radio("What is wrong?", about, key="check wrong", horizontal=True)
    st.button("Load it into “The step h”", key="check load", on_click=_load, args=(claim,), icon=":material/input:")
    if guess is None:
        return
    _measured(claim, guess)


def _load(claim: Claim) -> None:
    session = st.session_state
    state.step()
    session["check tab"], session["check expression"] = TABS.titles["step"], claim.expression
    session["check inputs"], session["check element"] = dict(claim.values), ""
    session["check h"] = -15
    expression_box.begin(NAME)


def _measured(claim: Claim, guess: str) -> None:
    steps = (1e-5, 1e-15, 1e-16) if claim.h else (1e-5,)
    measured = {h: claim.measure(h) for h in steps}
    exact = {place: found[0].exact for place, found in measured[steps[0]].items()}
    wrong = [not claim.holds(place, exact[place]) for place in exact]
    rows = [
        ("printed", *(f"{printed:.4f}".replace("-", "−") for printed in claim.gradients.values())),
        ("backward()", *(f"{one:.4f}".replace("-", "−") for one in exact.values())),
    ]
    for h in steps:
        for method, name in enumerate(METHODS):
            rows.append(
                (f"{name}, h = {numeral(h)}", *(numeral(found[method].quotient) for found in measured[h].values()))
            )
    zero = bool(claim.h) and any(one.quotient != 0 for found in measured[1e-15].values() for one in found)
    both = zero if claim.h else all(wrong)
    truth = (BOTH if both else GRADIENT) if any(wrong) else (ZERO if zero else NOTHING)
    said = {
        NOTHING: "Nothing is wrong: what is printed is what was measured.",
        GRADIENT: "The gradient is wrong; the 0 is right." if claim.h else "One of the numbers is wrong.",
        ZERO: "The 0 is wrong; the gradient is right.",
        BOTH: "Both numbers are wrong.",
    }[truth]
    (st.success if guess == truth else st.warning)(
        f"**{'Right' if guess == truth else 'Measured just now'}.** {said}",
        icon=":material/check:" if guess == truth else ":material/straighten:",
    )
    st.markdown(markdown_table(["", *map(str, exact)], rows))
    if zero and all(one.stuck for found in measured[1e-16].values() for one in found):
        st.markdown("At h = 1e-15 a digit or two are left, no 0. Only from 1e-16 on the step no longer changes x.")


# ---------------------------------------------------------------- why the cotangent is random


def _cotangent() -> None:
    prose(
        "The elements of a softmax add up to 1, always. Choose a rule for its [[backward pass]]. Which check will find "
        "that it is wrong: one of `softmax(x).sum()`, or one that starts from a random [[cotangent]]?"
    )

    def forget() -> None:
        st.session_state["check finds"] = None

    left, right = st.columns(2, gap="medium")
    with left:
        name = st.radio("Rule", RULES, format_func=lambda key: RULES[key].title, key="check rule", on_change=forget)
        rule = RULES[name]
        st.code(rule.source, wrap_lines=True)
    with right:
        text = st.text_input("x", key="check logits")
        seed = st.slider("Which random cotangent", *SEED.limits, key="check seed")
        guess = st.radio("Which check finds a mistake?", WHO, format_func=WHO.get, key="check finds")
    try:
        logits = _logits(text)
    except ValueError as error:
        st.error(f"x: {error}")
        return
    if guess is None:
        return
    checks = {"sum()": by_sum(rule, logits), "random cotangent": by_cotangent(rule, logits, seed)}
    by_the_sum, by_the_other = (not report.passed for report in checks.values())
    truth = ("both" if by_the_other else "sum") if by_the_sum else ("random" if by_the_other else "none")
    (st.success if guess == truth else st.warning)(
        f"**{'Right' if guess == truth else 'Run just now'}: {WHO[truth][0].lower()}{WHO[truth][1:]}.**",
        icon=":material/check:" if guess == truth else ":material/play_arrow:",
    )
    for column, (title, report) in zip(st.columns(2, gap="medium"), checks.items(), strict=True):
        result = report.inputs["x"]
        with column:
            st.markdown(f"**{title}** {'✓ passes' if report.passed else '✗ fails'}: {escape_markdown(report.verdict)}")
            st.markdown(markdown_table(["element", "backward()", "difference", "agree"], [
                (element.name, numeral(element.analytic), numeral(element.numerical),
                 _mark(element))
                for element in (result.element(index) for index in np.ndindex(result.shape))
            ]))  # fmt: skip
    st.caption(
        "The derivative of a sum that is always 1 is 0. A rule that sends 0 for an upstream gradient of ones passes "
        "that check, whatever else it does."
    )


def _mark(element: Element) -> str:
    unjudged = {"small": "too small", "rounded": "hidden"}.get(element.slope.kind)
    return unjudged or "✓" if element.error <= element.tolerance else "✗"


main()
