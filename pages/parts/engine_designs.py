"""Engine designs: ways to build an engine, and what each costs."""

import streamlit as st

from lab import charts
from lab.designs.compare import DESIGNS, DesignRun, UnsuitableError, largest_difference, measure, program
from lab.designs.excerpt import PARTS, excerpt
from lab.expression import ExpressionError
from lab.text import elements
from lab.text import numeral as number
from lab.ui import expression_box, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import forget, memoize
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import button, pick

NAME = "engines"  # what the keys of this page begin with
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "(a*b + c) * (a + d)": {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0},
    "sum(tanh(x @ w + b)**2)": {"x": [[1, 2], [3, -4]], "w": [[0.5], [-0.3]], "b": 0.1},
    "h = a*a; k = h + h; k*k": {"a": 2.0},
    "sum((m - v)**2) / 6": {"m": [[1, 2, 3], [4, 5, 6]], "v": [1, 0, 2]},
    "log(1 + exp(-a*b))": {"a": 1.5, "b": -0.5},
}
HELD = expression_box.held(NAME, next(iter(EXAMPLES)))
PICTURE = 420  # pixels of the chart's width; it is next to the table if there is room
WHOLE_FILE = "the whole file"
SECOND = {"error": "error", "same": "unchanged", "doubles": "doubled", "more": "wrong"}


def draw() -> None:
    """Draw the tab."""
    _designs()
    page.closing(
        "Find an expression for which a second backward() of scalar Values doubles the gradients, and one for which "
        "they come out wrong. What lies between the result and the leaves?",
        "pages/what_went_wrong.py",
        "Next: break one rule of the engine, and see it",
        {"fault": "overwrite"},
    )


# ---------------------------------------------------------------- one expression through all


def _designs() -> None:
    st.markdown(
        f"One expression, {len(DESIGNS)} engines: this lab’s and {len(DESIGNS) - 1} small ones. Move an input: the "
        "gradients agree, so what differs?"
    )
    expression = expression_box.box(NAME, EXAMPLES)
    values = None if expression is None else expression_box.entries(NAME, expression)
    if expression is None or values is None:
        return

    def all_measured() -> tuple[list[DesignRun], str]:
        run = program(expression, values)
        results = [measure(design, run) for design in DESIGNS.values()]
        return results, _gradients(results)

    try:
        results, gradients = memoize("designs", (expression.text, values), all_measured)
    except (ExpressionError, UnsuitableError) as error:
        expression_box.mistake(error)
        return
    st.markdown(gradients)
    headers = ["design", "nodes", "calls", "runs", "bytes kept", "time", "2nd backward()"]
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="picture-designs", width="content"):
            show_table(headers, [_row(result, results[0]) for result in results])
            button("Measure again", "designs again", forget, "designs", icon="timer")
        with st.container(width=PICTURE):
            show_chart(_price(results), "price")
    with st.expander("How this was counted, and how the second pass ended"):
        ends = [
            f"*{result.design.title}:* {with_code(result.second_error)}" for result in results if result.second_error
        ]
        counted = (
            "**Nodes**: objects made for values. **Calls**: how often backward() calls the rule of an operation. "
            "Python reports both as they happen. **Runs**: forward passes needed for all gradients. **Bytes kept** "
            "between the passes: first the numbers reachable from the result, then, in brackets, all objects. "
            "**Time**: forward and backward together, the best of up to five runs, with its multiple of this lab’s. "
            "**2nd backward()**: the gradients after running backward() once more."
        )
        st.markdown("\n\n".join([counted, *ends]))
    _side_by_side()


def _gradients(results: list[DesignRun]) -> str:
    engine, arrived = results[0], [result for result in results if not result.failure]
    listed = ", ".join(f"{name} {elements(gradient)}" for name, gradient in engine.gradients.items())
    furthest = largest_difference(results)
    apart = "no difference" if furthest == 0 else f"{number(furthest)} at most between them"
    shown = escape_markdown(listed)
    return f"Result **{number(engine.value)}**. Gradients of {len(arrived)} engines ({apart}): **{shown}**"


def _price(results: list[DesignRun]) -> charts.Chart:
    """Draw the time and memory that each design takes for the same gradients."""
    engine, through = results[0], [result for result in results if not result.failure]
    return charts.bars(
        "Time and memory, as multiples of this lab’s engine",
        [result.design.title for result in through],
        {
            "time": [result.seconds / engine.seconds for result in through],
            "memory, all objects": [result.kept.memory / engine.kept.memory for result in through],
        },
        page.theme(),
    )


def _row(result: DesignRun, engine: DesignRun) -> tuple[str, ...]:
    title = result.design.title
    if result.failure:
        return (title, *["–"] * 5, result.failure)
    factor = result.seconds / engine.seconds
    return (
        title,
        f"{result.nodes:,}",
        f"{result.calls:,}",
        f"{result.passes}",
        f"{result.kept.numbers:,} ({result.kept.memory:,})",
        f"{1e6 * result.seconds:,.0f} µs ({factor:.1f}×)",
        SECOND[result.second],
    )


def _side_by_side() -> None:
    st.header("The code, side by side")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts = [*PARTS, WHOLE_FILE]
        part = st.selectbox("Part", parts, parts.index("*"), key="engines-part", bind="query-params", width=190)
        titles = {key: design.title for key, design in DESIGNS.items()}
        names = [
            pick(label, titles, key, index=[*titles].index(first), bind="query-params", width=220)
            for label, key, first in (("Left", "engines-left", "closures"), ("Right", "engines-right", "functions"))
        ]
    for column, name in zip(st.columns(2, gap="medium"), names, strict=True):
        design = DESIGNS[name]
        shown = design.source if part == WHOLE_FILE else excerpt(design, part)
        with column:
            st.markdown(f"**{design.title}**, `{design.file}`. {design.idea}")
            if shown:
                st.code(shown, wrap_lines=True)
            else:
                st.markdown("This design has no such part.")
