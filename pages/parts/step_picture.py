"""The step h of a difference quotient: the curve near x with its secant and tangent, and the error at every step."""

from __future__ import annotations

import math
import re
from typing import Any

import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.gradcheck.finite_differences import Difference, ElementName
from lab.gradcheck.slopes import Slope
from lab.gradcheck.step_size import PRECISIONS, REACH, CheckPoint, Sweep
from lab.text import MINUS, numeral, short, with_minus
from lab.ui import page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown

DIGITS = {"float64": 16, "float32": 7}  # approximate number of decimal digits
HEIGHT = 250  # pixels of a picture


def show(point: CheckPoint, place: ElementName, sweep: Sweep, at: int, slope: Slope | None) -> None:
    """Draw one step of an element. at: index of the step; slope: the check's verdict on the element, if it has one."""
    found = sweep.differences[at]
    said = sentence(found, sweep, DIGITS[sweep.precision], str(place), slope)
    st.markdown(f"**{escape_markdown(said)}**")
    charted = memoize(
        "step pictures",
        (point, place, sweep, at, slope, page.theme()),
        lambda: {"curve": _curve(point, place, found, slope), "errors": _errors(sweep, found.h, smooth(slope))},
    )
    *pictures, numbers = st.columns(3, gap="small")
    for column, (name, chart) in zip(pictures, charted.items(), strict=True):
        with column:
            show_chart(chart, name)
    with numbers:
        rows = arithmetic(found, sweep.precision, str(place), slope)
        st.markdown("\n".join([f"| arithmetic | {sweep.precision} |", "|---|---|", *rows]))


def smooth(slope: Slope | None) -> bool:
    """Return whether the derivative exists."""
    return slope is None or slope.has_derivative


def _curve(point: CheckPoint, place: ElementName, found: Difference, slope: Slope | None) -> charts.Chart:
    """Draw f near x in steps h, with the secant and the tangent, or with the slopes on both sides of a kink."""
    here = float(point.value(place, point.values[place.name][place.index]))
    drawn = [Line("f", point.around(place, found.h))]
    if found.left < found.right and all(map(math.isfinite, (found.below, here, found.above))):
        start, rise = (found.left - found.x) / found.h, found.quotient * found.h
        name = f"secant {short(found.quotient)}"
        drawn.append(Line(name, [(u, found.below - here + (u - start) * rise) for u in (-REACH, REACH)]))
    sides: list[tuple[str, float, tuple[float, float]]] = [("tangent", found.exact, (-REACH, REACH))]
    if slope is not None and not slope.has_derivative:
        sides = [("left", slope.left, (-REACH, 0.0)), ("right", slope.right, (0.0, REACH))]
    drawn += [
        Line(f"{name} {short(rate)}", [(u, rate * found.h * u) for u in ends])
        for name, rate, ends in sides
        if math.isfinite(rate)
    ]
    title = "f under the microscope"
    x = f"({short(found.x)})" if found.x < 0 else short(found.x)
    across, up = Axis(f"({place} − {x}) / h"), Axis("change of f")
    return charts.lines(title, drawn, across, up, height=HEIGHT, theme=page.theme())


def _errors(sweep: Sweep, h: float, straight: bool) -> charts.Chart:
    """Draw the error at every step; straight: with the lines of truncation and cancellation."""
    drawn = [Line("error", [(one.h, one.error) for one in reversed(sweep.differences)], dots=True)]
    if straight:
        drawn += branches(sweep)
    marks = [Mark("x", h, "h")]
    powers = [math.floor(math.log10(one.error)) for one in sweep.differences if 0 < one.error < math.inf]
    x = Axis("step h", log=True)
    y = Axis("", log=True, ends=(10.0 ** min(powers), 10.0 ** (max(powers) + 1)) if powers else (None, None))
    return charts.lines("The error at every step h", drawn, x, y, marks=marks, height=HEIGHT, theme=page.theme())


def branches(sweep: Sweep) -> list[Line]:
    """Return the two straight lines of the error, as far as it follows them."""
    named = [("bends", sweep.truncation), ("cancels", sweep.cancellation)]
    return [
        Line(f"{why}: slope {short(round(branch.slope, 1))}", sorted(branch.points()))
        for why, branch in named
        if branch is not None and abs(branch.slope) > 0.3
    ]


def arithmetic(found: Difference, precision: str, name: str, slope: Slope | None) -> list[str]:
    """Return the arithmetic as rows of a table; the leading digits that the subtraction cancels are struck out."""
    dtype = PRECISIONS[precision]
    above, below, difference, width, quotient = (
        _digits(dtype(number)) for number in (found.above, found.below, found.difference, found.width, found.quotient)
    )
    central = found.method == "central"
    shared = 0
    if found.digits_lost >= 1:
        both = zip(f"{above} ", f"{below}_", strict=False)  # which differ at the latest where one ends
        shared = next(at for at, (one, other) in enumerate(both) if one != other)
    rows = {
        f"f({name} + h)": _struck(above, shared),
        f"f({name} − h)" if central else f"f({name})": _struck(below, shared),
        "their difference": difference,
        f"divided by {'2h' if central else 'h'} = {width}": quotient,
        "backward()": numeral(found.exact) if math.isnan(found.exact) else _digits(found.exact),
        "error": f"**{numeral(found.error) if smooth(slope) else 'no derivative'}**",
    }
    return [f"| :small[{escape_markdown(words)}] | :small[{number}] |" for words, number in rows.items()]


def _struck(digits: str, shared: int) -> str:
    cut = len(digits[:shared].rstrip(".e" + MINUS))  # Markdown closes no strike between such a sign and a digit
    return f"~~{digits[:cut]}~~{digits[cut:]}" if cut else digits


def sentence(found: Difference, sweep: Sweep, digits: int, name: str, slope: Slope | None) -> str:
    """Describe in plain text what happens at this step. digits: approximate decimal digits in this precision."""
    if special := _special(found, name, slope):
        return special
    h, error = numeral(found.h), numeral(found.error)
    regime = sweep.regime(found)
    if regime == "truncation":
        return f"h = {h} is too large: the curve bends on the way, and the secant’s slope is off by {error}."
    same = round(found.digits_lost)
    shared = "The two values of f agree to no digit, so the subtraction cancels none"
    if same:
        shared = f"The two values of f agree to about {same} of {digits} digits, which the subtraction cancels"
    if regime == "best":
        return f"h = {h} is a good step: the error is {error}. {shared}."
    return f"h = {h} is too small. {shared}: the error is {error}."


def _special(found: Difference, name: str, slope: Slope | None) -> str:
    """Explain why there is no slope, or no difference to compare it with; "" if there are both."""
    if slope and (not slope.has_derivative or slope.kind in ("differs", "lost")):
        return f"{slope.sentence} No h can help."
    if not math.isfinite(found.exact):
        return f"backward() gives {numeral(found.exact)} at {name}: no h can come near it. Move {name}."
    if not math.isfinite(found.quotient):
        return f"f has no finite value one step from {name}, so there is no secant. Take a smaller h, or move {name}."
    if found.stuck:
        return f"{name} + h is {name} itself: h is smaller than the last digit of {name}, and is lost."
    if not found.difference:
        lost = ": what h changes is smaller than their last digit" if found.error else ", and the slope is 0"
        return f"The two values of f are the same{lost}."
    return ""


def _digits(number: Any) -> str:
    return with_minus(re.sub("e-0?", "e-", str(number)))
