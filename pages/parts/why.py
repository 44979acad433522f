"""Why autograd: what one gradient costs, and how formulas and finite differences compare."""

import inspect
import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import streamlit as st

from lab import charts
from lab.autodiff import cost
from lab.autodiff.cost import FAMILIES, MAX_COUNTED, METHODS, STEP, CostPoint, Timing, brute_force, counted_brute_force
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
from lab.ui import address, expression_box, page, progress, state
from lab.ui.address import Field
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, button, guess, pick
from model import Tensor

NAME = "why"
PAGE = "pages/why_reverse_mode.py"
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "(a*b + c) * tanh(a)": {"a": 0.5, "b": 3.0, "c": 1.0},
    "4*x*(1 - x)": {"x": 0.3},
    "x**2*sin(x) + exp(x)": {"x": -1.0},
    "tanh(x @ w)": {"x": [1, 2], "w": [[0.1, 0.2, 0.3], [-0.3, 0.2, -0.1]]},
    "tanh(t * [1, 2, 3, 4, 5, 6, 7, 8])": {"t": 0.2},
    "log(sum(exp(v)))": {"v": [0.5, -1, 2, 0, 1, -0.5]},
}
TRY_THIS = {
    "cost": "From how many parameters on is reverse mode the fastest? Is the number the same for the chain?",
    "formula": "Find a function whose derivative formula grows no more than the work of autograd does.",
}
TICK, SLICE = 0.3, 0.2  # seconds between two slices of a timing, and of work in each
SLOWER = {"10": 10, "100": 100, "1000": 1000, "10000": 10_000}  # guesses: name in the address -> factor
LONGER = {"6": 6, "30": 30, "150": 150}
COUNTS = (*(digit * 10**power for power in range(12) for digit in (1, 2, 5)), MAX_COUNTED)  # values of the slider
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))  # in milliseconds
MAX_TIMES = 6  # times that a function is applied to itself
MAX_TEXT = 400  # characters of a formula


def _tab(name: str, draw: Callable[[], None], current: PageState) -> None:
    if current.restored:
        expression_box.begin(NAME)
    draw()
    timings = st.session_state.get("why timings", {})
    progress.done("what-it-costs", any(timing.done for timing in timings.values()))
    page.closing(TRY_THIS[name], PAGE, "Next: all derivatives of a function, as one picture", {"tab": "one"})


# ---------------------------------------------------------------- state: in the session, mirrored in the address


PARAMETERS = Field("n", "why parameters", 1000, int, limits=(1, MAX_COUNTED))
TIMES = Field("times", "why times", 3, int, limits=(1, MAX_TIMES))
STEPS = [10.0**-exponent for exponent in range(1, 16)]
H = Field("h", "why h", STEPS[4], address.number_of(*STEPS), address.number)
OF_FORMULA = (  # fields that are reset for another expression
    Field("longer", "why longer", None, address.one_of(*LONGER), address.optional),
    Field("by", "why by", 0, int, limits=(0, 64)),
)
FIELDS = (
    *expression_box.fields(NAME, next(iter(EXAMPLES))),
    Field("function", "why family", "network", address.one_of(*FAMILIES)),
    PARAMETERS,
    Field("slower", "why slower", None, address.one_of(*SLOWER), address.optional),
    TIMES,
    H,
    *OF_FORMULA,
)


def _guess_times(question: str, options: Mapping[str, int], key: str) -> str | None:
    return guess(question, {name: f"{times:,}×" for name, times in options.items()}, key)


def _nearest_verdict(options: Mapping[str, int], ratio: float, guessed: str) -> str:
    """Say whether the guess is the nearest choice on a logarithmic scale, or which one is."""
    nearest = min(options, key=lambda option: abs(math.log(options[option] / max(ratio, 1e-9))))
    if nearest == guessed:
        return "✓ Your guess was the nearest."
    return f"✗ Your guess was {options[guessed]:,}×; the nearest choice is {options[nearest]:,}×."


# ---------------------------------------------------------------- what a gradient costs


def _cost() -> None:
    prose(
        "[[Finite differences|finite difference]] take two forward passes for each parameter, at +h and −h. "
        "[[Reverse mode|reverse mode]] takes two passes in all. Guess, then press **Measure**."
    )
    session = st.session_state
    guessed = _guess_times(
        "With 1,000 parameters, how many times as long as reverse mode do finite differences take?",
        SLOWER,
        "why slower",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Measured on this machine**", width="content")
        titles = {key: one.title for key, one in FAMILIES.items()}
        family = pick("Function", titles, "why family", width=250, bare=True)
    ticking = session.get("why timing") == family
    st.fragment(_timed, run_every=TICK if ticking else None)(family, ticking)
    if guessed:
        _counted()
    with st.expander("The brute-force function, run for three parameters"):
        gradient, calls = counted_brute_force((1.0, 2.0, 3.0))
        st.code(inspect.getsource(brute_force), wrap_lines=True)
        st.markdown(
            f"The gradient of x² + y² + z² at (1, 2, 3): {', '.join(map(numeral, gradient))}. It called the "
            f"function **{calls} times**: twice for each parameter."
        )


def _counted() -> None:
    """Show the passes of one gradient for any number of parameters, counted without running them."""
    counts = sorted({*COUNTS, st.session_state["why parameters"]})
    n = st.select_slider(
        "Passes for this number of parameters", counts, format_func="{:,}".format, key="why parameters"
    )
    rows = [
        (title, *(f"{number:,}" for number in passed), _duration(sum(passed)))
        for title, passed in ((title, cost.passes(method, n)) for method, title in METHODS.items())
    ]
    show_table(["one gradient", "forward passes", "backward passes", "at 1 ms a pass"], rows)


def _duration(milliseconds: int) -> str:
    """Write a duration in its two largest units, rounded down."""
    parts = []
    for name, size in UNITS:
        if milliseconds >= size:
            parts.append(f"{milliseconds // size} {name}")
            milliseconds %= size
    return " ".join(parts[:2])


def _timed(family: str, ticking: bool) -> None:
    """Run a timing for one slice, as a fragment, and show the results so far.

    ticking  True if the fragment reruns by itself
    """
    session = st.session_state
    timings: dict[str, Timing] = session.setdefault("why timings", {})
    timing = timings.get(family)
    if ticking and timing:
        timing.advance(SLICE)
    if timing and timing.done:
        session["why timing"] = None
    if ticking != (session.get("why timing") == family):
        st.rerun()

    def start() -> None:
        if timing is None or timing.done:
            session["why timings"][family] = Timing(FAMILIES[family])
        session["why timing"] = family

    with st.container(horizontal=True, vertical_alignment="center"):
        if ticking:
            button("Stop", "why stop", state.put, "why timing", None, icon="stop")
        else:
            title = "Measure" if timing is None else "Measure again" if timing.done else "Go on"
            button(title, "why measure", start, icon="timer", disabled=not session["why slower"], type="primary")
        st.markdown(_summary(timing, ticking))
    if timing and not timing.done:
        st.progress(timing.share, "of all passes")
    if timing and timing.points:
        chart = charts.lines(
            f"Seconds for one gradient, measured: {FAMILIES[family].title}",
            [
                Line(title, [(point.parameters, point.seconds[method]) for point in timing.points])
                for method, title in METHODS.items()
            ],
            Axis("parameters", log=True),
            Axis("seconds", log=True),
            height=250,
            theme=page.theme(),
        )
        show_chart(chart, "measured")
        if timing.done and not timing.points[-1].contradictory:
            st.markdown(_times_and_passes(timing.points[-1]))
        headers = ["parameters", "finite differences", "forward mode", "reverse mode", "error of differences"]
        with st.expander("Passes made, and how exact the gradients are"):
            show_table(
                headers,
                [
                    (
                        point.parameters,
                        *(" + ".join(f"{n:,}" for n in point.passes[method]) for method in METHODS),
                        numeral(point.apart["finite"]),
                    )
                    for point in timing.points
                ],
            )
            st.markdown(
                "Forward + backward passes, counted as they ran. The error is the largest difference of an element "
                f"from reverse mode; the step was {numeral(STEP)}. Forward mode differs by "
                f"{numeral(max(point.apart['forward'] for point in timing.points))} at most."
            )


def _summary(timing: Timing | None, running: bool) -> str:
    if timing is None:
        return "" if st.session_state["why slower"] else FIRST
    if not timing.done:
        return f"{'Measuring' if running else 'Stopped'}: {len(timing.points)} of {len(timing.sizes)} sizes."
    last = timing.points[-1]
    if last.contradictory:
        return "The times contradict the passes: the machine was busy with something else. **Measure again.**"
    finite, guessed = last.ratio("finite"), st.session_state["why slower"]
    return (
        f"At {last.parameters:,} parameters finite differences took **{finite:,.0f}×** as long as reverse mode, "
        f"forward mode {last.ratio('forward'):,.0f}×. {_nearest_verdict(SLOWER, finite, guessed) if guessed else ''}"
    )


def _times_and_passes(point: CostPoint) -> str:
    """Say why the ratio of the times is not the ratio of the passes."""
    finite, reverse = (sum(point.passes[method]) for method in ("finite", "reverse"))
    more = point.more_passes("finite")
    return (
        f"{finite:,} passes against {reverse} are {more:,.0f} times as many, but passes differ: here one of finite "
        f"differences took {point.ratio('finite') / more:.1f}× as long as one of reverse mode. The first copies the "
        "parameters to move one of them. The other records the graph, or goes back through it."
    )


# ---------------------------------------------------------------- formula, differences, autograd


def _formula() -> None:
    prose(
        "Three ways to a derivative: a formula, a difference, or a backward pass ([[autograd]]). Apply the "
        "function six times, each time to its last result: autograd does six times the work. What happens to the "
        "formula?"
    )
    session = st.session_state
    expression = expression_box.expression_box(NAME, EXAMPLES, OF_FORMULA)
    values = None if expression is None else expression_box.inputs(NAME, expression)
    if expression is None or values is None:
        return
    if any(isinstance(number, list) for number in values.values()):
        st.error("A formula is written for single numbers: choose an expression without arrays.")
        return
    point = {name: float(number) for name, number in values.items() if not isinstance(number, list)}
    names = [*point]
    session["why by"] = state.position("why by", len(names))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = names[pick("With respect to", dict(enumerate(names)), "why by", width=130)]
        times = st.slider("Times applied", *TIMES.limits, key="why times", width=200)
        h = st.select_slider("Step h of the difference", STEPS, format_func=numeral, key="why h", width=200)
        guessed = _guess_times(
            f"Guess: the derivative’s formula for {MAX_TIMES} applications is how many times as long as for 1?",
            LONGER,
            "why longer",
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
            + _nearest_verdict(LONGER, ratio, guessed)
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

    return memoize("why growth", (expression.text, by), count)


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


PART = page.TabGroup(FIELDS, {"cost": partial(_tab, "cost", _cost), "formula": partial(_tab, "formula", _formula)})
