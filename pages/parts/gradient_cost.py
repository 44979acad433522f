"""What a gradient costs: finite differences, forward mode and reverse mode, counted and timed."""

import inspect
import math
from collections.abc import Mapping

import streamlit as st

from lab import charts
from lab.autodiff.gradient_cost import MAX_COUNTED, METHODS, STEP, CostPoint, counted_differences, measure, passes
from lab.charts import Axis, Line
from lab.gradcheck.finite_differences import difference, differences
from lab.text import numeral
from lab.ui import binding, page, progress
from lab.ui.chart_host import show_chart
from lab.ui.memoize import forget, memoize
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, ask, button

MEASURED = binding.flag("why-measured")  # a reload measures again: times are those of a machine and a moment
SLOWER = {"10": 10, "100": 100, "1000": 1000, "10000": 10_000}  # guesses: name in the session -> factor
COUNTS = (*(digit * 10**power for power in range(12) for digit in (1, 2, 5)), MAX_COUNTED)  # values of the slider
BRUTE_FORCE = "\n\n".join(inspect.getsource(part) for part in (differences, difference))
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))  # in milliseconds


def draw() -> None:
    """Draw the tab."""
    _cost()
    page.closing(
        "From how many parameters on is reverse mode the fastest?",
        "pages/why_reverse_mode.py",
        "Next: all derivatives of a function, as one picture",
        {"tab": "one"},
    )


def guess_times(question: str, options: Mapping[str, int], key: str) -> str | None:
    """Ask how many times as long or as much something is. options: name in the session -> factor."""
    return ask(question, {name: f"{times:,}×" for name, times in options.items()}, key)


def nearest_verdict(options: Mapping[str, int], ratio: float, guessed: str) -> str:
    """Say whether the guess is the nearest choice on a logarithmic scale, or which one is."""
    nearest = min(options, key=lambda option: abs(math.log(options[option] / max(ratio, 1e-9))))
    if nearest == guessed:
        return "✓ Your guess was the nearest."
    return f"✗ Your guess was {options[guessed]:,}×; the nearest choice is {options[nearest]:,}×."


def _cost() -> None:
    prose(
        "[[Finite differences|finite difference]] take two forward passes for each parameter, at +h and −h. "
        "[[Reverse mode|reverse mode]] takes two passes in all. Guess, then press **Measure**."
    )
    guessed = guess_times(
        "With 1,000 parameters, how many times as long as reverse mode do finite differences take?",
        SLOWER,
        "why-slower",
    )
    points = memoize("why measured", 1, measure) if guessed and st.session_state[MEASURED.key] else None
    progress.done("what-it-costs", points is not None)
    with st.container(horizontal=True, vertical_alignment="center"):
        title = "Measure again" if points else "Measure"
        button(title, "why measure", _measure, icon="timer", disabled=not guessed, type="primary")
        st.markdown(_summary(points, guessed))
    if points:
        _measured(points)
    if guessed:
        _counted()
    with st.expander("The brute-force function, run for three parameters"):
        gradient, calls = counted_differences((1.0, 2.0, 3.0))
        st.code(BRUTE_FORCE, wrap_lines=True)
        st.markdown(
            f"The gradient of x² + y² + z² at (1, 2, 3): {', '.join(map(numeral, gradient))}. It called the "
            f"function **{calls} times**: twice for each parameter."
        )


def _measure() -> None:
    forget("why measured")
    binding.put(MEASURED.key, True)


def _counted() -> None:
    """Show the passes of one gradient for any number of parameters, counted without running them."""
    n = st.select_slider(
        "Passes for this number of parameters", COUNTS, 1000, "{:,}".format, key="why-n", bind="query-params"
    )
    rows = [
        (title, *(f"{number:,}" for number in passed), _duration(sum(passed)))
        for title, passed in ((title, passes(method, n)) for method, title in METHODS.items())
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


def _summary(points: list[CostPoint] | None, guessed: str | None) -> str:
    if not (points and guessed):
        return "Measures the gradient of a network with one hidden layer, on this machine." if guessed else FIRST
    last = points[-1]
    if last.contradictory:
        return "The times contradict the passes: the machine was busy with something else. **Measure again.**"
    finite = last.ratio("finite")
    return (
        f"At {last.parameters:,} parameters finite differences took **{finite:,.0f}×** as long as reverse mode, "
        f"forward mode {last.ratio('forward'):,.0f}×. {nearest_verdict(SLOWER, finite, guessed)}"
    )


def _measured(points: list[CostPoint]) -> None:
    """Draw the times, and show the passes that were made and the error of differences."""
    chart = charts.lines(
        "Seconds for one gradient of a network with one hidden layer, measured",
        [
            Line(title, [(point.parameters, point.seconds[method]) for point in points])
            for method, title in METHODS.items()
        ],
        Axis("parameters", log=True),
        Axis("seconds", log=True),
        height=250,
        theme=page.theme(),
    )
    show_chart(chart, "measured")
    if not points[-1].contradictory:
        st.markdown(_times_and_passes(points[-1]))
    with st.expander("Passes made, and how exact the gradients are"):
        show_table(
            ["parameters", "finite differences", "forward mode", "reverse mode", "error of differences"],
            [
                (
                    point.parameters,
                    *(" + ".join(f"{n:,}" for n in point.passes[method]) for method in METHODS),
                    numeral(point.max_abs_diff["finite"]),
                )
                for point in points
            ],
        )
        st.markdown(
            "Forward + backward passes, counted as they ran. The error is the largest difference of an element "
            f"from reverse mode; the step was {numeral(STEP)}. Forward mode differs by "
            f"{numeral(max(point.max_abs_diff['forward'] for point in points))} at most."
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
