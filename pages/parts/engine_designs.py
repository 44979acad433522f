"""Engine designs: ways to build an engine, what each costs, and how each handles deep graphs."""

import inspect
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import graphviz
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.designs import depth, network
from lab.designs.compare import DESIGNS, DesignRun, Unsuitable, largest_difference, measure, program
from lab.designs.excerpt import PARTS, excerpt
from lab.designs.sorting import depth_first, kahn
from lab.expression import ExpressionError, parse
from lab.text import elements
from lab.text import numeral as number
from lab.trace.dot import blank
from lab.trace.recording import record
from lab.training.descent import four_points
from lab.ui import address, expression_box, page
from lab.ui.address import Field
from lab.ui.chart_host import show_chart
from lab.ui.memoize import forget, memoize
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import FIRST, button, guess, pick, switch, verdict

NAME = "engine designs"
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "(a*b + c) * (a + d)": {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0},
    "sum(tanh(x @ w + b)**2)": {"x": [[1, 2], [3, -4]], "w": [[0.5], [-0.3]], "b": 0.1},
    "h = a*a; k = h + h; k*k": {"a": 2.0},
    "sum((m - v)**2) / 6": {"m": [[1, 2, 3], [4, 5, 6]], "v": [1, 0, 2]},
    "log(1 + exp(-a*b))": {"a": 1.5, "b": -0.5},
}
LENGTHS = (100, 500, 1000, 2000, 5000)
MAX_HIDDEN = 16  # units in a hidden layer
PICTURE = 420  # pixels of the chart's width; it is next to the table if there is room
SORTED = "p = a*b; s = p + c; t = a + d; y = s*t"
GUESS_DOUBLINGS = 12  # few enough to run them
CALLS = {"24": 24, "144": 144, "4095": 4095}  # guesses: name in the address -> calls
WHOLE_FILE = "the whole file"
SECOND = {"error": "error", "same": "unchanged", "doubles": "doubled", "more": "wrong"}
TRY_THIS = {
    "designs": "Find an expression for which a second backward() of scalar Values doubles the gradients, and one "
    "for which they come out wrong. What lies between the result and the leaves?",
    "depth": "Find the longest chain that recursion survives. Then widen the layers: do scalars stay slower by the "
    "same factor?",
}


def _tab(name: str, draw: Callable[[], None], current: PageState) -> None:
    if current.restored:
        expression_box.begin(NAME)
    draw()
    page.closing(TRY_THIS[name], "pages/faults.py", "Next: break one rule of the engine, and see it")


# ---------------------------------------------------------------- state: in the session, mirrored in the address


DEPTH = Field("depth", "designs depth", 5, int, limits=(1, depth.MAX_DEPTH))
HIDDEN = Field("hidden", "designs hidden", four_points.HIDDEN, int, limits=(1, MAX_HIDDEN))
FIELDS = (
    *expression_box.fields(NAME, next(iter(EXAMPLES))),
    Field("left", "designs left", "closures", address.one_of(*DESIGNS)),
    Field("right", "designs right", "functions", address.one_of(*DESIGNS)),
    Field("part", "designs part", "*", address.one_of(*PARTS, WHOLE_FILE)),
    DEPTH,
    Field("calls", "designs calls", None, address.one_of(*CALLS), address.optional),
    Field("length", "designs length", LENGTHS[-1], address.number_of(*LENGTHS)),
    HIDDEN,
)


# ---------------------------------------------------------------- one expression through all


def _designs() -> None:
    st.markdown(
        f"One expression, {len(DESIGNS)} engines: this lab’s and {len(DESIGNS) - 1} small ones. Move an input: the "
        "gradients agree, so what differs?"
    )
    expression = expression_box.expression_box(NAME, EXAMPLES)
    values = None if expression is None else expression_box.inputs(NAME, expression)
    if expression is None or values is None:
        return

    def all_measured() -> list[DesignRun]:
        run = program(expression, values)
        return [measure(design, run) for design in DESIGNS.values()]

    try:
        results = memoize("designs", (expression.text, values), all_measured)
    except (ExpressionError, Unsuitable) as error:
        expression_box.mistake(error)
        return
    _show_gradients(results)
    headers = ["design", "nodes", "calls", "runs", "bytes kept", "time", "2nd backward()"]
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            show_table(headers, [_row(result, results[0]) for result in results])
            _measure_again("designs")
        with st.container(width=PICTURE):
            show_chart(_price(results), "price")
    with st.expander("How this was counted, and how the second pass ended"):
        st.markdown(
            "**Nodes**: objects made for values. **Calls**: how often backward() calls the rule of an operation. "
            "Python reports both as they happen. **Runs**: forward passes needed for all gradients. **Bytes kept** "
            "between the passes: first the numbers reachable from the result, then, in brackets, all objects. "
            "**Time**: forward and backward together, the best of up to five runs, with its multiple of this lab’s. "
            "**2nd backward()**: the gradients after running backward() once more."
        )
        for result in results:
            if result.second_error:
                st.markdown(f"*{result.design.title}:* {with_code(result.second_error)}")
    _side_by_side()


def _measure_again(name: str) -> None:
    button("Measure again", f"{name} again", forget, name, icon="timer")


def _show_gradients(results: list[DesignRun]) -> None:
    engine, arrived = results[0], [result for result in results if not result.failure]
    listed = ", ".join(f"{name} {elements(gradient)}" for name, gradient in engine.gradients.items())
    furthest = largest_difference(results)
    apart = "no difference" if furthest == 0 else f"{number(furthest)} at most between them"
    shown = escape_markdown(listed)
    st.markdown(f"Result **{number(engine.value)}**. Gradients of {len(arrived)} engines ({apart}): **{shown}**")


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
        part = st.selectbox("Part", [*PARTS, WHOLE_FILE], key="designs part", width=190)
        titles = {key: design.title for key, design in DESIGNS.items()}
        names = [pick(side.capitalize(), titles, f"designs {side}", width=220) for side in ("left", "right")]
    for column, name in zip(st.columns(2, gap="medium"), names, strict=True):
        design = DESIGNS[name]
        shown = design.source if part == WHOLE_FILE else excerpt(design, part)
        with column:
            st.markdown(f"**{design.title}**, `{design.file}`. {design.idea}")
            if shown:
                st.code(shown, wrap_lines=True)
            else:
                st.markdown("This design has no such part.")


# ---------------------------------------------------------------- depth


def _depth() -> None:
    st.markdown(
        "Repeat x = x + x: the next step uses each result twice. In topological order, each result calls its "
        "backward rule once. How many calls does plain recursion make?"
    )
    figures, picture = st.columns([1, 2], gap="medium")
    with figures:
        guessed = guess(
            f"Guess: calls by recursion for {GUESS_DOUBLINGS} doublings",
            {name: f"{calls:,}" for name, calls in CALLS.items()},
            "designs calls",
        )
        if guessed is None:
            st.markdown(f"{FIRST} Three of the doublings:")
    if guessed is None:
        with picture, st.container(key="wide-doublings"):
            alt = "x + x gives h, h + h gives k, and k + k gives the result."
            st.graphviz_chart(_three_doublings(), width="stretch", alt=alt)
    else:
        _doublings(guessed, figures, picture)
    with st.expander("A long chain: how deep can recursion go?"):
        _long_chain()
    with st.expander("How is the order found? Depth first, or by Kahn’s algorithm"):
        _orders()
    with st.expander("Scalars or tensors: what does an object for each number cost?"):
        _scalars()


def _doublings(guessed: str, figures: DeltaGenerator, picture: DeltaGenerator) -> None:
    asked = memoize("doublings asked", GUESS_DOUBLINGS, lambda: depth.doublings(GUESS_DOUBLINGS))
    with figures:
        st.markdown(
            f"{verdict(CALLS[guessed] == asked.recursive)} **{asked.recursive:,} calls for {asked.depth} doublings**, "
            f"counted in a run; {asked.calls['closures']} in topological order. Move the slider to see both grow."
        )
        doublings = st.slider("Doublings", *DEPTH.limits, key="designs depth")
    found = memoize("doublings", doublings, lambda: depth.doublings(doublings))
    with figures:
        ordered, how = found.calls["closures"], f"computed as 2^{doublings} − 1, not run"
        if found.counted:
            how = "counted in a run just now"
        st.metric("Calls in topological order", f"{ordered:,}", help="Counted in the closures design.")
        st.metric("Calls by recursion", f"{found.recursive:,}")
    with picture:
        show_chart(_calls(doublings), "calls")
    st.markdown(
        f"The calls by recursion were **{how}**. Recursion is run up to {depth.MAX_RUN} doublings. The others "
        f"were counted now: {', '.join(f'{DESIGNS[key].title} {calls}' for key, calls in found.calls.items())}. "
        f"The gradient of x: {' or '.join(f'{gradient:,.0f}' for gradient in found.gradients)}."
    )


def _three_doublings() -> graphviz.Digraph:
    """Draw x, its double and so on, each result with two edges to the next."""
    drawing = blank("doublings", page.theme(), rankdir="LR", ranksep="0.3")
    drawing.attr("node", fontsize="14", margin="0.06,0.04")  # points: readable on a phone, too
    names = ("x", "h = x + x", "k = h + h", "k + k")
    for node, after in pairwise(names):
        drawing.edge(node, after)
        drawing.edge(node, after)
    return drawing


def _calls(doublings: int) -> charts.Chart:
    """Draw both counts up to the number of doublings that can be run, and mark the slider's number."""
    runs = memoize("all doublings", depth.MAX_RUN, lambda: [depth.doublings(n + 1) for n in range(depth.MAX_RUN)])
    return charts.lines(
        "Backward calls, counted",
        [
            Line("recursion", [(run.depth, run.recursive) for run in runs]),
            Line("topological order", [(run.depth, run.calls["closures"]) for run in runs]),
        ],
        Axis("doublings"),
        Axis("calls", log=True),
        marks=[Mark("x", doublings, f"{doublings}")] if doublings <= depth.MAX_RUN else [],
        height=250,
        theme=page.theme(),
    )


def _long_chain() -> None:
    lengths = {length: f"{length:,}" for length in LENGTHS}
    length = switch("x + 1 + 1 + …, so many times", lengths, "designs length")
    chains = memoize("chains", length, lambda: [depth.chain(key, length) for key in DESIGNS])
    rows = [
        (design.title, f"✗ {chain.error}" if chain.error else f"✓ arrives: {chain.gradient:g}")
        for design, chain in zip(DESIGNS.values(), chains, strict=True)
    ]
    show_table(["design", f"gradient of x through {length:,} operations"], rows)
    st.markdown("A function that calls itself for each operation stops at Python’s recursion limit. A loop does not.")


def _orders() -> None:
    """Show both ways to sort, each with its code and a row for each step in which its list grew."""
    st.markdown(
        f"The order of `{SORTED}`, step by step. Depth first lists a node after its operands, and backward() goes "
        "through the list from its end. Kahn’s algorithm counts, and lists the nodes in the order in which they send."
    )
    nodes = record(parse(SORTED), dict.fromkeys("abcd", 1.0)).nodes
    graph = {node["label"]: [nodes[child]["label"] for child in node["children"]] for node in nodes}
    sorts = {"depth first": depth_first, "Kahn’s algorithm": kahn}
    for column, (name, sort) in zip(st.columns(2, gap="medium"), sorts.items(), strict=True):
        with column:
            show_table([name, "the list"], [(what, " ".join(order)) for what, order in sort(graph, "y")])
            st.code(inspect.getsource(sort), wrap_lines=True)


# ---------------------------------------------------------------- scalars or tensors


def _scalars() -> None:
    st.markdown(
        "The same network twice, with 3 inputs, two hidden layers and 1 output, on four points: one object for each "
        "number, then one for each array. Widen the layers: what does it cost?"
    )
    hidden = st.slider("Units in each hidden layer", *HIDDEN.limits, key="designs hidden")
    points, targets = four_points.POINTS, four_points.TARGETS
    found = memoize("scalars", hidden, lambda: network.both(four_points.initial(hidden, 0), points, targets))
    left, middle, right = st.columns(3)
    left.metric("Parameters", f"{found.parameters:,}")
    middle.metric("Largest difference of a gradient", number(found.difference))
    right.metric("Scalars are slower by", f"{found.slower:.1f}×")
    sides = (("Scalar Values", found.scalars), ("Tensors (closures)", found.tensors))
    show_table(
        ["design", "loss", "nodes", "calls", "bytes kept", "time"],
        [
            (
                title,
                f"{side.loss:.12g}",
                f"{side.nodes:,}",
                f"{side.calls:,}",
                f"{side.kept.numbers:,} ({side.kept.memory:,})",
                f"{1e6 * side.seconds:,.0f} µs",
            )
            for title, side in sides
        ],
    )
    st.caption("Bytes kept: the numbers reachable from the loss, then, in brackets, all objects.")
    _measure_again("scalars")
    with st.expander("Every parameter’s gradient, from both"):
        pairs = zip(found.scalars.gradients, found.tensors.gradients, strict=True)
        rows = [(i, f"{a:.12g}", f"{b:.12g}") for i, (a, b) in enumerate(pairs, start=1)]
        show_table(["parameter", "scalars", "tensors"], rows)


PART = page.TabGroup(FIELDS, {"designs": partial(_tab, "designs", _designs), "depth": partial(_tab, "depth", _depth)})
