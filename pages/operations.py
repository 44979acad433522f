"""Operations: every operation of the engine with its rule, its code, its curves, and its gradient check, run now."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.gradcheck import MARKS, gradcheck
from lab.operation_table import OPS, Op
from lab.text import numeral, short
from lab.trace.operation_example import (
    Example,
    OperationCurve,
    curve,
    element_curve,
    elements,
    example,
    moved,
    parts,
    sources,
    weighted,
)
from lab.ui import binding, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, markdown_table, show_table, with_code
from lab.ui.terms import prose
from lab.ui.widgets import button, pick, result

EVERY = "every kind"
KINDS = (EVERY, *dict.fromkeys(op.kind for op in OPS.values()))
REACH = 3.0  # curves go from -REACH to REACH
HIGHEST = 6.0  # largest value on a curve's axis, unless the point is higher
FIRST = "tanh"
DRAW = binding.whole("operations-draw", 0, 0, 999)  # number of a draw of random inputs
HEIGHT = 280  # pixels of a chart


def main() -> None:
    with page.frame("operations", DRAW):
        st.title("Operations")
        prose(
            "Choose an operation and move the point: the [[local derivative]] is the slope of the tangent. "
            "Where is it zero? Where is it undefined?"
        )
        op, found = _choose()
        draw = st.session_state[DRAW.key]
        try:
            shown = memoize("operations example", (op.name, draw), lambda: example(op, draw))
        except LookupError as error:
            st.error(with_code(str(error)), icon=":material/block:")
        else:
            _one(shown, draw)
        _all(found, draw)
        page.closing(
            "Search for “kink”: at these points the derivative is a convention. What else could it be on each curve?",
            "pages/gradient_check.py",
            "Next: how far a gradient check itself can be trusted",
        )


def _find(kind: str, text: str) -> list[str]:
    """Return the operations of this kind whose name or description contains all words."""
    found, words = [], text.casefold().split()
    for op in OPS.values():
        description = [
            op.name,
            *op.aliases,
            op.kind,
            op.at_kinks,
            op.convention,
            op.not_finite,
            *(derivative.text for derivative in op.derivatives),
        ]
        if kind in (EVERY, op.kind) and all(word in " ".join(description).casefold() for word in words):
            found.append(op.name)
    return found


def _choose() -> tuple[Op, list[str]]:
    """Draw the search and the choice of an operation, and return the chosen one and the names of all that are found."""
    session = st.session_state

    def narrow() -> None:
        names = _find(session["operations-kind"], session["operations-find"])
        if names and session["operations-op"] not in names:
            session["operations-op"] = names[0]

    look, middle, right = st.columns([2, 2, 3], vertical_alignment="bottom")
    words = look.text_input(
        "Find",
        key="operations-find",
        max_chars=60,
        placeholder="find a word: tanh, kink, axis",
        on_change=narrow,
        label_visibility="collapsed",
        bind="query-params",
    )
    with middle:
        kind = pick("Kind", KINDS, "operations-kind", on_change=narrow, bare=True, bind="query-params")
    found = _find(kind, words)
    known = session.get("operations-op", st.query_params.get("operations-op", FIRST))
    names = found if known in found or known not in OPS else [known, *found]  # a link may name one outside the search
    names = names or [FIRST]
    with right:
        label = f"Operation ({len(found)} of {len(OPS)})"
        start = names.index(FIRST) if FIRST in names else 0
        name = pick(label, names, "operations-op", bare=True, index=start, on_change=binding.step, bind="query-params")
    if not found:
        st.info("Nothing found. Try another word.")
    return OPS[name], found


# ---------------------------------------------------------------- one operation


def _one(shown: Example, draw: int) -> None:
    op = shown.op
    left, right = st.columns([3, 2], gap="medium")
    trace, upstream = memoize("operations trace", (op.name, draw), shown.record)
    with left:
        _rules(shown)
        if op.kind == "elementwise":
            _curves(shown)
        else:
            _element_curve(shown, draw, upstream)
    with right:
        _check(shown, draw)
        made_of = parts(trace)
        if made_of != [op.name]:
            st.markdown(f"Made of: {escape_markdown(', '.join(made_of))}. Their rules are the ones that run.")
        for code in sources(shown, trace):
            st.caption(f"{code['file']}, from line {code['first']}")
            st.code("\n".join(code["lines"]), wrap_lines=True)


def _rules(shown: Example) -> None:
    op = shown.op
    sentences = [f"**{escape_markdown(op.name)}**, {op.kind}", f"`{shown.text}`"]
    for rule in shown.rules():
        before = (
            rf"\text{{to }}{rule.operand_latex}:\;" if rule.message else rf"\partial y/\partial {rule.operand_latex} = "
        )
        sentences.append(f"${before}{rule.latex}$")
    st.markdown(" &emsp; ".join(sentences))


def _conventions(op: Op) -> None:
    notes = [op.at_kinks, op.convention, op.not_finite and f"**inf or nan:** {op.not_finite}"]
    if any(notes):
        st.caption(" ".join(filter(None, notes)))


def _check(shown: Example, draw: int) -> None:
    def again() -> None:
        st.session_state[DRAW.key] = (draw + 1) % 1000

    report = memoize("operations check", (shown.op.name, draw), shown.check)
    result(report.answer, f"**Gradient check**, run now on random numbers. {escape_markdown(report.verdict)}")
    button("Check on other numbers", "operations again", again, icon="casino")
    with st.expander("Every element of this check"):
        rows = []
        for name, checked in report.inputs.items():
            for slope in checked.slopes:
                value = shown.values[str(name)][slope.element.index]
                columns = (value, slope.used, slope.numerical, slope.error)
                rows.append((str(slope.element), *(numeral(float(column)) for column in columns)))
        show_table(["element", "value", "backward()", "difference", "error"], rows)


# ---------------------------------------------------------------- curves, or numbers


@st.fragment
def _curves(shown: Example) -> None:
    """Draw the curves of an elementwise operation, as a fragment that a slider reruns."""
    names = list(shown.values)
    several = len(names) > 1
    columns = st.columns([1, 3, 3] if several else 1, vertical_alignment="bottom")
    first = names[0]
    if several:
        _keep_in(names, "operations-along")
        first = columns[0].radio("Along", names, key="operations-along", horizontal=True, bind="query-params")
    along, *rest = sorted(names, key=lambda name: name != first)
    x = _slider(columns[several], along, "operations-x", 1.0)
    others = dict.fromkeys(rest, 1.0)
    if rest:
        others[rest[0]] = _slider(columns[2], rest[0], "operations-other", 2.0)
    about = shown.op.name, along, x, others, page.theme()
    _picture(shown.op, *memoize("operations curve", about, lambda: _at_the_point(shown, along, x, others)))


@st.fragment
def _element_curve(shown: Example, draw: int, upstream: np.ndarray) -> None:
    """Draw the curve of any other operation along one element of an operand.

    The curve shows one number: the sum of the result, weighted by the upstream gradient.
    """
    names = list(elements(shown))
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    _keep_in(names, "operations-element")
    at = left.selectbox("Element", names, key="operations-element", bind="query-params")
    x = _slider(right, at, "operations-x", 1.0)
    about = shown.op.name, draw, at, x, page.theme()
    at_x = moved(shown, at, x)
    _picture(shown.op, *memoize("operations curve", about, lambda: _at_the_element(at_x, upstream, at, x)))
    trace, _ = memoize("operations numbers", about, at_x.record)
    with st.expander("All numbers"):
        _numbers(at_x, np.asarray(trace.nodes[trace.output]["value"]), upstream, trace.gradients)


def _keep_in(names: list[str], key: str) -> None:
    """Go back to the first name if the chosen one belongs to another operation."""
    if st.session_state.get(key, names[0]) not in names:
        st.session_state[key] = names[0]


def _slider(column: DeltaGenerator, label: str, key: str, start: float) -> float:
    return column.slider(label, -REACH, REACH, start, 0.05, key=key, bind="query-params")


def _picture(op: Op, sentence: str, chart: charts.Chart) -> None:
    """Show the sentence about the point, the curves around it, and what the engine does at kinks."""
    st.markdown(sentence)
    show_chart(chart, "curve")
    _conventions(op)


def _at_the_element(shown: Example, upstream: np.ndarray, element: str, x: float) -> tuple[str, charts.Chart]:
    line = element_curve(shown, upstream, element, np.linspace(-REACH, REACH, 61))
    here = element_curve(shown, upstream, element, np.array([x]))
    name, index = elements(shown)[element]
    slope = gradcheck(weighted(shown, upstream), shown.values).inputs[name].element(index)
    many = np.size(upstream) > 1
    what = "Σ g·y" if many else "y"
    judged = f"By finite differences: {numeral(slope.slope)}." if slope.kind == "smooth" else slope.sentence
    sentence = (
        f"At {escape_markdown(element)} = {numeral(x)}: {what} = **{numeral(here.y[0])}**, "
        f"slope in {escape_markdown(element)} **{numeral(here.slopes[element][0])}**."
    )
    title = f"{shown.text}, {element} moved" + (f"; g = {_array(upstream)}" if many else "")
    return f"{sentence} {with_code(judged)}", _chart(title, line, here, element, what)


def _at_the_point(shown: Example, along: str, x: float, others: dict[str, float]) -> tuple[str, charts.Chart]:
    """Return the sentence about a point, from the engine and from differences, and a chart of the curves around it."""
    grid = np.linspace(-REACH, REACH, 121)
    line, here = curve(shown, along, grid, others), curve(shown, along, np.array([x]), others)
    title = shown.text + "".join(f", {name} = {numeral(value)}" for name, value in others.items())
    return _sentence(shown, here, along, others), _chart(title, line, here, along)


def _chart(title: str, line: OperationCurve, here: OperationCurve, along: str, what: str = "y") -> charts.Chart:
    x, y, slope = here.x[0], here.y[0], here.slopes[along][0]
    highest = max(HIGHEST, 1.5 * abs(y)) if np.isfinite(y) else HIGHEST
    finite = np.concatenate([values[np.isfinite(values)] for values in (line.y, *line.slopes.values())])
    low, high = (float(np.clip(end, -highest, highest)) for end in (min(finite, default=-1), max(finite, default=1)))
    low, high = max(-highest, np.floor(2 * low - 0.1) / 2), min(highest, np.ceil(2 * high + 0.1) / 2)
    drawn = [Line(what, list(zip(line.x, line.y, strict=True)))]
    drawn += [Line(f"slope in {name}", list(zip(line.x, slopes, strict=True))) for name, slopes in line.slopes.items()]
    drawn.append(Line("the point", [(x, y)], dots=True))
    if np.isfinite(y) and np.isfinite(slope):
        drawn.append(Line("tangent", [(end, y + (end - x) * slope) for end in (x - 0.6, x + 0.6)]))
    return charts.lines(
        title,
        drawn,
        Axis(along, ends=(-REACH, REACH)),
        Axis(what, ends=(float(low), float(high))),
        height=HEIGHT,
        marks=[Mark("x", x, f"{along} = {numeral(x)}")],
        theme=page.theme(),
    )


def _sentence(shown: Example, here: OperationCurve, along: str, others: dict[str, float]) -> str:
    """State the value and the slopes at the point, from the engine and from differences."""
    at = {along: float(here.x[0])} | others
    report = Example(shown.op, shown.text, shown.build, {name: np.array(at[name]) for name in shown.values}).check()
    slopes = "; ".join(f"slope in {name} **{numeral(values[0])}**" for name, values in here.slopes.items())
    where = ", ".join(f"{name} = {numeral(value)}" for name, value in at.items())
    remarks = dict.fromkeys(slope.sentence for slope in report.slopes if slope.kind != "smooth")
    differences = ", ".join(numeral(slope.slope) for slope in report.slopes)
    judged = " ".join(remarks) or f"By finite differences: {differences}."
    return f"At {where}: y = **{numeral(here.y[0])}**, {slopes}. {with_code(judged)}"


def _numbers(shown: Example, y: np.ndarray, upstream: np.ndarray, gradients: Mapping[str, np.ndarray | None]) -> None:
    prose("The operands, the result y, an [[upstream gradient]] g, and what each operand receives from it.")
    rows = [(name, value.shape, _array(value)) for name, value in shown.values.items()]
    rows += [("y", y.shape, _array(y)), ("g", upstream.shape, _array(upstream))]
    rows += [
        (f"gradient of {name}", found.shape, _array(found)) for name, found in gradients.items() if found is not None
    ]
    show_table(["", "shape", "numbers"], rows)


def _array(array: np.ndarray) -> str:
    if array.ndim == 0:
        return numeral(float(array))
    return f"[{', '.join(_array(part) for part in array)}]"


# ---------------------------------------------------------------- all of them


def _all(found: list[str], draw: int) -> None:
    st.header("All of them, checked now")
    count, table = memoize("operations table", (draw, found), lambda: _table([OPS[name] for name in found], draw))
    st.markdown(count)
    st.markdown(table)


def _table(found: list[Op], draw: int) -> tuple[str, str]:
    rows = [_row(op, draw) for op in found]
    passed = sum(row[1].startswith("✓") for row in rows)
    count = f"{passed} of {len(rows)} pass the gradient check on random numbers."
    return count, markdown_table(["name", "check", "kind", "derivative, for each operand"], rows)


def _row(op: Op, draw: int) -> tuple[str, ...]:
    name = op.name.replace("_", "_\u200b")  # lets a long name wrap
    try:
        shown = example(op, draw)
    except LookupError:
        return (name, "no example", op.kind, "")
    report = shown.check()
    worst = f" {short(report.worst.error)}" if report.worst else ""
    rules = "; ".join(rule.text for rule in shown.rules())
    if conventions := " ".join(filter(None, [op.at_kinks, op.convention])):
        rules += f". {conventions}"
    return (name, MARKS[report.outcome][0] + worst, op.kind, rules)


main()
