"""Engine designs: one engine built in six ways, what each costs, why there is an order, and what depth does to it."""

from collections.abc import Callable

import streamlit as st

from lab.designs import depth, network
from lab.designs.compare import DESIGNS, DesignRun, Unsuitable, largest_difference, measure, program
from lab.designs.drawing import STATES, draw_sort, state_of
from lab.designs.excerpt import PARTS, excerpt
from lab.designs.order import OrderEvent, Sort, sort, source_of_sort
from lab.expression import ExpressionError
from lab.text import elements
from lab.text import numeral as number
from lab.ui import address, expression_box, page, progress
from lab.ui.address import Field
from lab.ui.guess import FIRST, guess, verdict
from lab.ui.memoize import forget, memoize
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, markdown_table
from lab.ui.terms import prose

NAME = "engine designs"
EXAMPLES: dict[str, dict[str, float | list]] = {  # expression -> its inputs
    "(a*b + c) * (a + d)": {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0},
    "sum(tanh(x @ w + b)**2)": {"x": [[1, 2], [3, -4]], "w": [[0.5], [-0.3]], "b": 0.1},
    "h = a*a; k = h + h; k*k": {"a": 2.0},
    "sum((m - v)**2) / 6": {"m": [[1, 2, 3], [4, 5, 6]], "v": [1, 0, 2]},
    "log(1 + exp(-a*b))": {"a": 1.5, "b": -0.5},
}
LENGTHS = (100, 500, 1000, 2000, 5000)
WIDEST = 16
GUESSED = 12  # doublings: few enough to be run
CALLS = {"24": 24, "144": 144, "4095": 4095}  # guesses
WHOLE = "the whole file"
SECOND = {
    "error": "an error",
    "same": "the same",
    "doubles": "twice as much",
    "more": "too much",
}
TRY_THIS = {
    "designs": "Find an expression for which a second backward pass of scalar Values doubles the gradients, and one "
    "for which it gives more. What lies between the result and the leaves?",
    "order": "Type an expression in which no tensor is ever skipped, then one with three skips.",
    "depth": "Find the longest chain that recursion still survives. Then move the last slider: will the scalars be "
    "slower by the same factor for wider layers?",
}


def _tab(name: str, draw: Callable[[], None]) -> page.Draw:
    def draw_tab(current: PageState) -> None:
        if current.restored:
            expression_box.begin(NAME)
        draw()
        session = st.session_state
        progress.done("topological-order", session["designs step"] == session.get("designs events"))
        page.closing(TRY_THIS[name], "pages/faults.py", "Next: break one rule of the engine, and see it")

    return draw_tab


# ---------------------------------------------------------------- state: in the session, mirrored in the address


DEPTH = Field("depth", "designs depth", 5, int, limits=(1, depth.MOST))
HIDDEN = Field("hidden", "designs hidden", network.HIDDEN, int, limits=(1, WIDEST))
STEP = Field("step", "designs step", 0, int, limits=(0, 10_000))
FIELDS = (
    *expression_box.fields(NAME, next(iter(EXAMPLES))),
    Field("left", "designs left", "closures", address.one_of(*DESIGNS)),
    Field("right", "designs right", "functions", address.one_of(*DESIGNS)),
    Field("part", "designs part", "*", address.one_of(*PARTS, WHOLE)),
    STEP,
    DEPTH,
    Field("calls", "designs calls", None, address.one_of(*CALLS), address.optional),
    Field("length", "designs length", LENGTHS[-1], lambda text: LENGTHS[LENGTHS.index(int(text))]),
    HIDDEN,
)


# ---------------------------------------------------------------- one expression through all


def _designs() -> None:
    st.markdown(
        "One expression through six engines: this lab’s, and five small ones of at most 150 lines. All run once for "
        "these inputs. Look for what differs although the gradients do not."
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
    _gradients(results)
    headers = ["design", "nodes", "calls", "runs", "bytes kept", "time", "again"]
    st.markdown(markdown_table(headers, [_row(result, results[0]) for result in results]))
    _again("designs")
    with st.expander("How this was counted, and what the second pass said"):
        st.markdown(
            "**Nodes**: objects made for values. **Calls**, backward: of the rule of one operation. Python itself "
            "reports both as they happen. **Runs**, forward, that the gradients take. **Bytes kept** between the "
            "passes: the numbers that can be reached from the result, and in brackets all objects that can. **Time**: "
            "forward and backward together, the best of up to five runs, and how many times that of this lab’s engine. "
            "**Again**: what the leaves hold after a second backward pass, which was really run."
        )
        for result in results:
            if result.said:
                st.markdown(f"*{result.design.title}:* {escape_markdown(result.said)}")
    _side_by_side()


def _again(name: str) -> None:
    st.button("Measure again", icon=":material/timer:", on_click=forget, args=(name,), key=f"{name} again")


def _gradients(results: list[DesignRun]) -> None:
    engine, arrived = results[0], [result for result in results if not result.failure]
    said = ", ".join(f"{name} {elements(gradient)}" for name, gradient in engine.gradients.items())
    furthest = largest_difference(results)
    apart = "no difference" if furthest == 0 else f"{number(furthest)} at most between them"
    st.markdown(
        f"Result **{number(engine.value)}**. Gradients of {len(arrived)} engines ({apart}): **{escape_markdown(said)}**"
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
        part = st.selectbox("Part", [*PARTS, WHOLE], key="designs part", width=190)
        names = [
            st.selectbox(
                side.capitalize(), DESIGNS, format_func=lambda key: DESIGNS[key].title, key=f"designs {side}", width=220
            )
            for side in ("left", "right")
        ]
    for column, name in zip(st.columns(2, gap="medium"), names, strict=True):
        design = DESIGNS[name]
        shown = design.source if part == WHOLE else excerpt(design, part)
        with column:
            st.markdown(f"**{design.title}**, `{design.file}`. {design.idea}")
            if shown:
                st.code(shown, wrap_lines=True)
            else:
                st.markdown("This design has no such part.")


# ---------------------------------------------------------------- the order


def _order() -> None:
    prose(
        "Do not pass a gradient on until every message has arrived. Move the slider and watch `topological_order` of "
        "`model.py` find such an order: the backward pass plays this [[tape]] in reverse. Which tensors does it skip, "
        "and why?"
    )
    expression = expression_box.expression_box(NAME, EXAMPLES)
    if expression is None:
        return
    try:
        values = st.session_state[f"{NAME} inputs"]
        sorted_ = memoize("designs sort", (expression.text, repr(values)), lambda: sort(expression(**values)))
    except (ExpressionError, ValueError) as error:
        expression_box.mistake(error)
        return
    last = st.session_state["designs events"] = len(sorted_.events)
    if st.session_state["designs step"] > last:
        st.session_state["designs step"] = last
    count = st.slider("Event", 0, last, key="designs step")
    event = sorted_.events[count - 1] if count else None
    st.markdown(_told(sorted_, event))
    left, right = st.columns(2, gap="medium")
    with left:
        states = [f"{name}: {state_of(sorted_, tensor, count)}" for tensor, name in enumerate(sorted_.names)]
        st.graphviz_chart(draw_sort(sorted_, count, page.theme()), alt=f"The graph. {'; '.join(states)}.")
        st.markdown(markdown_table(["", "oldest first"], _lists(sorted_, event)))
    with right:
        st.code(_source(event), wrap_lines=True)
    with st.expander("The graph as a table"):
        headers = ["number", "tensor", "computed from", "state", "turn in the backward pass"]
        st.markdown(markdown_table(headers, [
            (tensor + 1, name, ", ".join(str(one + 1) for one in sorted_.operands[tensor]) or "–",
             state_of(sorted_, tensor, count), sorted_.backward.get(tensor, "none: a leaf"))
            for tensor, name in enumerate(sorted_.names)
        ]))  # fmt: skip


def _name(sorted_: Sort, tensor: int | None) -> str:
    return "marker" if tensor is None else f"{sorted_.names[tensor]} ({tensor + 1})"


def _told(sorted_: Sort, event: OrderEvent | None) -> str:
    if event is None:
        return f"Nothing has happened yet: {len(sorted_.names)} tensors, {STATES[0]}."
    name = escape_markdown(_name(sorted_, event.tensor))
    if event.kind == "pop" and event.tensor is None:
        return "**pop**: a marker. All operands of the tensor under it are placed."
    return {
        "push": f"**push**: {name} goes onto the stack"
        + (", above it a marker and its operands." if event.seen else ": the result, where the search begins."),
        "pop": f"**pop**: {name} is taken off the stack.",
        "visit": f"**visit**: {name} is new; from now on it counts as seen.",
        "skip": f"**skip**: {name} was seen before: it is not placed a second time.",
        "append": f"**append**: {name} takes place {len(event.order)} in the list.",
    }[event.kind]


def _lists(sorted_: Sort, event: OrderEvent | None) -> list[tuple[str, str]]:
    rows = (("stack", event.stack), ("seen", event.seen), ("list", event.order)) if event else ()
    return [(title, ", ".join(_name(sorted_, one) for one in tensors) or "empty") for title, tensors in rows]


def _source(event: OrderEvent | None) -> str:
    """The body of the function, with an arrow before the line that ran."""
    lines, first = source_of_sort()
    start = next(i for i, line in enumerate(lines) if "order:" in line)
    return "\n".join(
        f"{'→' if event and event.line == first + i else ' '} {line.removeprefix('    ').rstrip()}"
        for i, line in enumerate(lines)
        if i >= start
    )


# ---------------------------------------------------------------- depth


def _depth() -> None:
    st.markdown(
        "x = x + x, again and again: each result is used twice by the next. With an order, each of them calls its "
        "backward rule once. Guess how many calls it takes without, then move the slider."
    )
    guessed = guess(
        f"Guess: backward calls of recursion for {GUESSED} doublings",
        {name: f"{calls:,}" for name, calls in CALLS.items()},
        "designs calls",
    )
    if guessed is None:
        st.markdown(FIRST)
    else:
        _doublings(guessed)
    _long_chain()
    st.header("Scalars or tensors")
    _scalars()


def _doublings(guessed: str) -> None:
    asked = memoize("doublings asked", GUESSED, lambda: depth.doublings(GUESSED))
    st.markdown(
        f"{verdict(CALLS[guessed] == asked.recursive)} **{asked.recursive:,} calls for {GUESSED} doublings**, counted "
        f"in a run; {asked.calls['closures']} with an order. How does it go on?"
    )
    doublings = st.slider("Doublings", *DEPTH.limits, key="designs depth")
    found = memoize("doublings", doublings, lambda: depth.doublings(doublings))
    left, right = st.columns(2)
    left.metric("Backward calls with an order", f"{found.calls['closures']:,}", help="Counted in the closures design.")
    how = "counted in a run just now" if found.counted else f"computed as 2^{doublings} − 1, not run"
    right.metric("Backward calls of recursion", f"{found.recursive:,}")
    st.markdown(
        f"The calls of recursion were **{how}**; up to {depth.MOST_RUN} doublings they are run and counted. The others "
        f"were counted now: {', '.join(f'{DESIGNS[key].title} {calls}' for key, calls in found.calls.items())}. "
        f"The gradient of x: {' or '.join(f'{gradient:,.0f}' for gradient in found.gradients)}."
    )


def _long_chain() -> None:
    st.header("A long chain")
    length = st.segmented_control(
        "x + 1 + 1 + …, so many times", LENGTHS, required=True, key="designs length", format_func="{:,}".format
    )
    assert length
    chains = memoize("chains", length, lambda: [depth.chain(key, length) for key in DESIGNS])
    rows = [
        (design.title, f"✗ {chain.error}" if chain.error else f"✓ arrives: {chain.gradient:g}")
        for design, chain in zip(DESIGNS.values(), chains, strict=True)
    ]
    st.markdown(markdown_table(["design", f"gradient of x through {length:,} operations"], rows))
    st.markdown(
        "A function that calls itself for each operation goes no deeper than Python’s recursion limit. A list used as "
        "a stack has no such limit."
    )


# ---------------------------------------------------------------- scalars or tensors


def _scalars() -> None:
    st.markdown(
        "One network, 3 inputs, two hidden layers, 1 output, on four points: once with an object for each number, once "
        "with arrays. The numbers agree. What does it take?"
    )
    hidden = st.slider("Units in each hidden layer", *HIDDEN.limits, key="designs hidden")
    found = memoize("scalars", hidden, lambda: network.both(hidden))
    left, middle, right = st.columns(3)
    left.metric("Parameters", f"{found.parameters:,}")
    middle.metric("Largest difference of a gradient", number(found.difference))
    right.metric("Scalars are slower by", f"{found.slower:.1f}×")
    sides = (("Scalar Values", found.scalars), ("Tensors (closures)", found.tensors))
    st.markdown(markdown_table(
        ["design", "loss", "nodes", "calls", "bytes kept", "time"],
        [(title, f"{side.loss:.12g}", f"{side.nodes:,}", f"{side.calls:,}",
          f"{side.kept.numbers:,} ({side.kept.memory:,})", f"{1e6 * side.seconds:,.0f} µs") for title, side in sides],
    ))  # fmt: skip
    st.caption("Bytes kept: the numbers that can be reached from the loss, and in brackets all objects that can.")
    _again("scalars")
    with st.expander("Every parameter’s gradient, from both"):
        pairs = zip(found.scalars.gradients, found.tensors.gradients, strict=True)
        rows = [(i, f"{a:.12g}", f"{b:.12g}") for i, (a, b) in enumerate(pairs, start=1)]
        st.markdown(markdown_table(["parameter", "scalars", "tensors"], rows))


PART = page.TabGroup(
    FIELDS,
    {
        "designs": _tab("designs", _designs),
        "order": _tab("order", _order),
        "depth": _tab("depth", _depth),
    },
)
