"""What a gradient costs: finite differences, forward mode and reverse mode, counted and timed."""

import inspect
import math
from collections.abc import Mapping

import streamlit as st

from lab import charts
from lab.autodiff import gradient_cost
from lab.autodiff.gradient_cost import FAMILIES, MAX_COUNTED, METHODS, STEP, CostPoint, Timing, counted_differences
from lab.charts import Axis, Line
from lab.gradcheck.finite_differences import difference, differences
from lab.text import numeral
from lab.ui import binding, page, progress
from lab.ui.chart_host import show_chart
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, ask, button, pick

TICK, SLICE = 0.3, 0.2  # seconds between two slices of a timing, and of work in each
SLOWER = {"10": 10, "100": 100, "1000": 1000, "10000": 10_000}  # guesses: name in the session -> factor
COUNTS = (*(digit * 10**power for power in range(12) for digit in (1, 2, 5)), MAX_COUNTED)  # values of the slider
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))  # in milliseconds


def draw() -> None:
    """Draw the tab."""
    _cost()
    timings = st.session_state.get("why timings", {})
    progress.done("what-it-costs", any(timing.done for timing in timings.values()))
    page.closing(
        "From how many parameters on is reverse mode the fastest? Is the number the same for the chain?",
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
    session = st.session_state
    guessed = guess_times(
        "With 1,000 parameters, how many times as long as reverse mode do finite differences take?",
        SLOWER,
        "why-slower",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Measured on this machine**", width="content")
        titles = {key: one.title for key, one in FAMILIES.items()}
        family = pick(
            "Function",
            titles,
            "why-function",
            index=[*titles].index("network"),
            bind="query-params",
            width=250,
            bare=True,
        )
    ticking = session.get("why timing") == family
    st.fragment(_timed, run_every=TICK if ticking else None)(family, ticking)
    if guessed:
        _counted()
    with st.expander("The brute-force function, run for three parameters"):
        gradient, calls = counted_differences((1.0, 2.0, 3.0))
        st.code("\n\n".join(inspect.getsource(part) for part in (differences, difference)), wrap_lines=True)
        st.markdown(
            f"The gradient of x² + y² + z² at (1, 2, 3): {', '.join(map(numeral, gradient))}. It called the "
            f"function **{calls} times**: twice for each parameter."
        )


def _counted() -> None:
    """Show the passes of one gradient for any number of parameters, counted without running them."""
    n = st.select_slider(
        "Passes for this number of parameters", COUNTS, 1000, "{:,}".format, key="why-n", bind="query-params"
    )
    rows = [
        (title, *(f"{number:,}" for number in passed), _duration(sum(passed)))
        for title, passed in ((title, gradient_cost.passes(method, n)) for method, title in METHODS.items())
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
            button("Stop", "why stop", binding.put, "why timing", None, icon="stop")
        else:
            title = "Measure" if timing is None else "Measure again" if timing.done else "Go on"
            button(title, "why measure", start, icon="timer", disabled=not session["why-slower"], type="primary")
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
                        numeral(point.max_abs_diff["finite"]),
                    )
                    for point in timing.points
                ],
            )
            st.markdown(
                "Forward + backward passes, counted as they ran. The error is the largest difference of an element "
                f"from reverse mode; the step was {numeral(STEP)}. Forward mode differs by "
                f"{numeral(max(point.max_abs_diff['forward'] for point in timing.points))} at most."
            )


def _summary(timing: Timing | None, running: bool) -> str:
    if timing is None:
        return "" if st.session_state["why-slower"] else FIRST
    if not timing.done:
        return f"{'Measuring' if running else 'Stopped'}: {len(timing.points)} of {len(timing.sizes)} sizes."
    last = timing.points[-1]
    if last.contradictory:
        return "The times contradict the passes: the machine was busy with something else. **Measure again.**"
    finite, guessed = last.ratio("finite"), st.session_state["why-slower"]
    return (
        f"At {last.parameters:,} parameters finite differences took **{finite:,.0f}×** as long as reverse mode, "
        f"forward mode {last.ratio('forward'):,.0f}×. {nearest_verdict(SLOWER, finite, guessed) if guessed else ''}"
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
