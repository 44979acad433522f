"""Operations: every operation of the engine with its rule, its code, its curves, and its gradient check, run now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.gradcheck import MARKS, gradcheck
from lab.operation_table import OPS, Op
from lab.text import numeral, short
from lab.trace.operation_example import (
    Example,
    OperationCurve,
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
from lab.ui.widgets import button, pick, result, row

EVERY = "every kind"
KINDS = (EVERY, *dict.fromkeys(op.kind for op in OPS.values()))
REACH = 3.0  # curves go from -REACH to REACH
HIGHEST = 6.0  # largest value on a curve's axis, unless the point is higher
FIRST = "tanh"
DRAW = binding.whole("operations-draw", 0, 0, 999)  # number of a draw of random inputs
HEIGHT = 280  # pixels of a chart


def main() -> None:
    with page.frame("operations", DRAW):
        with st.container(key="operations-head"):
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
        st.header("All of them, checked now")
        st.markdown(memoize("operations table", (draw, found), lambda: _table([OPS[name] for name in found], draw)))
        page.closing(
            "Find the kinks in the table: there the derivative is a convention. What else could it be on each curve?",
            "pages/gradient_check.py",
            "Next: how far a gradient check itself can be trusted",
        )


def _of_kind(kind: str) -> list[str]:
    return [op.name for op in OPS.values() if kind in (EVERY, op.kind)]


def _choose() -> tuple[Op, list[str]]:
    """Let the learner choose an operation of a kind; return it and the names of all of that kind."""
    session = st.session_state

    def narrow() -> None:
        names = _of_kind(session["operations-kind"])
        if session["operations-op"] not in names:
            binding.step()
            binding.set_widget("operations-op", names[0])

    with row():
        kind = pick("Kind", KINDS, "operations-kind", on_change=narrow, bare=True, width=220, bind="query-params")
        found = _of_kind(kind)
        known = session.get("operations-op", st.query_params.get("operations-op", FIRST))
        names = found if known in found or known not in OPS else [known, *found]  # a link may name one of another kind
        start = names.index(FIRST) if FIRST in names else 0
        name = pick(
            "Operation",
            names,
            "operations-op",
            bare=True,
            index=start,
            on_change=binding.step,
            width=320,
            bind="query-params",
        )
    return OPS[name], found


# ---------------------------------------------------------------- one operation


def _one(shown: Example, draw: int) -> None:
    op = shown.op
    left, right = st.columns([3, 2], gap="medium")
    trace, upstream = memoize("operations trace", (op.name, draw), shown.record)
    with left:
        _rules(shown)
        if op.kind == "elementwise":  # one point says it all
            _curve(replace(shown, values=dict.fromkeys(shown.values, np.array(2.0))), draw, np.array(1.0))
        else:
            _curve(shown, draw, upstream)
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


def _check(shown: Example, draw: int) -> None:
    def again() -> None:
        st.session_state[DRAW.key] = (draw + 1) % 1000

    report = memoize("operations check", (shown.op.name, draw), shown.check)
    result(report.answer, f"**Gradient check**, run now on random numbers. {escape_markdown(report.verdict)}")
    button("Check on other numbers", "operations again", again, icon="casino")


# ---------------------------------------------------------------- curves, or numbers


@st.fragment
def _curve(shown: Example, draw: int, upstream: np.ndarray) -> None:
    """Draw the curve of an operation along one element of an operand, as a fragment that a slider reruns.

    The curve shows one number: the sum of the result, weighted by the upstream gradient.
    """
    names, session = list(elements(shown)), st.session_state
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    if session.get("operations-element", names[0]) not in names:  # it belongs to another operation
        session["operations-element"] = names[0]
    at = left.selectbox("Element", names, key="operations-element", bind="query-params")
    x = right.slider(at, -REACH, REACH, 1.0, 0.05, key="operations-x", bind="query-params")
    about = shown.op.name, draw, at
    places = np.linspace(-REACH, REACH, 121)
    line = memoize("operations curve", about, lambda: element_curve(shown, upstream, at, places))
    at_x = moved(shown, at, x)
    now = about, x, page.theme()
    sentence, chart = memoize("operations point", now, lambda: _at_the_point(at_x, upstream, at, x, line))
    st.markdown(sentence)
    show_chart(chart, "curve")
    kinks, convention, not_finite = map(with_code, (shown.op.at_kinks, shown.op.convention, shown.op.not_finite))
    notes = [kinks, convention, not_finite and f"**inf or nan:** {not_finite}"]
    if any(notes):
        st.caption(" ".join(filter(None, notes)))
    if upstream.ndim:
        trace, _ = memoize("operations numbers", now, at_x.record)
        with st.expander("All numbers"):
            _numbers(at_x, np.asarray(trace.nodes[trace.output]["value"]), upstream, trace.gradients)


def _at_the_point(
    shown: Example, upstream: np.ndarray, at: str, x: float, line: OperationCurve
) -> tuple[str, charts.Chart]:
    """Return the sentence about a point, from the engine and from differences, and a chart of the curve around it."""
    here = element_curve(shown, upstream, at, np.array([x]))
    what = "Σ g·y" if upstream.ndim else "y"
    name, index = elements(shown)[at]
    slope = gradcheck(weighted(shown, upstream), shown.values).inputs[name].element(index)
    judged = f"By finite differences: {numeral(slope.slope)}." if slope.kind == "smooth" else slope.sentence
    gives = "slope in" if slope.has_value else "backward() gives"
    numbers = {one: float(value) for one, value in shown.values.items() if not value.ndim} | {at: x}
    where = ", ".join(f"{escape_markdown(one)} = {numeral(value)}" for one, value in numbers.items())
    sentence = (
        f"At {where}: {what} = **{numeral(here.y[0])}**, "
        f"{gives} {escape_markdown(at)} **{numeral(here.slopes[at][0])}**."
    )
    title = f"{shown.text}, {at} moved" + (f"; g = {_array(upstream)}" if upstream.ndim else "")
    return f"{sentence} {with_code(judged)}", _chart(title, line, here, at, what)


def _chart(title: str, line: OperationCurve, here: OperationCurve, along: str, what: str) -> charts.Chart:
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


def _table(found: list[Op], draw: int) -> str:
    rows = [_row(op, draw) for op in found]
    passed = sum(row[1].startswith("✓") for row in rows)
    count = f"{passed} of {len(rows)} pass the gradient check on random numbers."
    return f"{count}\n\n{markdown_table(['name', 'check', 'kind', 'derivative, for each operand'], rows)}"


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
