"""A picture of the step h: the curve near x with its secant and tangent, and next to it the error at every step.

All steps are sent at once: the slider redraws in the browser (static/steps/), and the script runs only when it rests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from lab.gradcheck.finite_differences import Difference, ElementName, Method
from lab.gradcheck.slopes import Slope
from lab.gradcheck.step_size import EXPONENTS, METHODS, PRECISIONS, STEPS, Branch, CheckPoint, Sweep
from lab.text import numeral, short, strict_json, with_minus
from lab.ui.assets import component

DIGITS = {"float64": 16, "float32": 7}  # approximate number of decimal digits
_component = component("steps", "steps/steps.js", lost="The picture")


def packed(point: CheckPoint, place: ElementName, sweeps: Sequence[Sweep], slope: Slope | None) -> bytes:
    """Encode the picture of one element for `show`. slope: the check's verdict on it; None if it has none."""
    here = float(point.value(place, point.values[place.name][place.index]))
    own = {sweep.method: sweep for sweep in sweeps}
    exact = float(point.gradients[place.name][place.index])
    smooth = slope is None or slope.has_derivative
    return strict_json(
        {
            "name": str(place),
            "smooth": smooth,
            "exact": _finite(exact),
            "sides": None if slope is None or smooth else [_finite(slope.left), _finite(slope.right)],
            "steps": [
                {
                    "curve": point.around(place, h),
                    "methods": {
                        method: _step(own[method].differences[at], here, own[method], str(place), slope)
                        for method in METHODS
                    },
                }
                for at, h in enumerate(STEPS)
            ],
            "lines": {method: _lines(sweep) if smooth else [] for method, sweep in own.items()},
        }
    ).encode()


def show(
    packed: bytes, key: str, chosen: tuple[int, Method, str], on_choice: Callable[[int, Method, str], None]
) -> None:
    """Draw the picture. on_choice: callback for the exponent of h, method and precision, once the slider rests."""

    def choose() -> None:
        match st.session_state[key].get("choice"):
            case {"h": int(h), "method": str(method), "numbers": str(numbers)}:
                if h in EXPONENTS and method in METHODS and numbers in PRECISIONS:
                    on_choice(h, method, numbers)

    h, method, numbers = chosen
    choice = strict_json({"h": h, "method": method, "numbers": numbers}).encode()
    _component(key=key, data=b'{"choice": %b, "picture": %b}' % (choice, packed), on_choice_change=choose)


def _step(found: Difference, here: float, sweep: Sweep, name: str, slope: Slope | None) -> dict[str, Any]:
    """Return the data of the picture for one step. here: f(x)."""
    dtype = PRECISIONS[sweep.precision]
    above, below, difference, width, quotient = (
        _digits(dtype(number)) for number in (found.above, found.below, found.difference, found.width, found.quotient)
    )
    central = found.method == "central"
    right, left = f"f({name} + h)", f"f({name} − h)" if central else f"f({name})"
    shared = next((at for at, (one, other) in enumerate(zip(above, below, strict=False)) if one != other), len(above))
    error = numeral(found.error) if slope is None or slope.has_derivative else "no derivative"
    ends = [
        ((found.left - found.x) / found.h, found.below - here),
        ((found.right - found.x) / found.h, found.above - here),
    ]
    known = found.left < found.right and all(map(math.isfinite, (found.below, here, found.above)))
    return {
        "slope": _finite(found.quotient),
        "ends": ends if known else None,
        "error": _finite(found.error),
        "sentence": sentence(found, sweep, DIGITS[sweep.precision], name, slope),
        "shared": shared,
        "rows": [
            [right, above],
            [left, below],
            ["their difference", difference],
            [f"divided by {'2h' if central else 'h'} = {width}", quotient],
            ["backward()", numeral(found.exact) if math.isnan(found.exact) else _digits(found.exact)],
            ["error", error],
        ],
    }


def sentence(found: Difference, sweep: Sweep, digits: int, name: str, slope: Slope | None) -> str:
    """Describe in plain text what happens at this step. digits: approximate decimal digits in this precision."""
    if special := _special(found, name, slope):
        return special
    h, error = numeral(found.h), numeral(found.error)
    regime = sweep.regime(found)
    if regime == "truncation":
        return f"h = {h} is too large: the curve bends on the way, and the secant’s slope is off by {error}."
    same = round(found.digits_lost)
    shared = "The two values of f share no digit, so the subtraction cancels none"
    if same:
        shared = f"The two values of f share {same} of about {digits} digits, which the subtraction cancels"
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


def _lines(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the two straight lines of the log-log error, truncation and cancellation, over all steps."""
    named: list[tuple[Branch | None, str]] = [(sweep.truncation, "bends"), (sweep.cancellation, "digits cancel")]
    return [
        {"slope": branch.slope, "scale": branch.scale, "label": f"{why}: slope {short(round(branch.slope, 1))}"}
        for branch, why in named
        if branch is not None and abs(branch.slope) > 0.3
    ]


def _digits(number: Any) -> str:
    return with_minus(re.sub("e-0?", "e-", str(number)))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
