"""Your engine: the learner's own engine in the player, and in a training next to the lab's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from lab.config import ROOT
from lab.expression import ExpressionError
from lab.expression.parser import Expression, parse
from lab.practice import isolation
from lab.practice.learner_engine import EXAMPLES
from lab.text import brief
from lab.trace.numerical import NumericalCheck
from lab.trace.recording import Trace, record
from lab.ui import binding, expression_box, page, progress
from lab.ui.memoize import memoize
from lab.ui.player import LIMIT, Live, live_values, player
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import row, switch
from pages.parts.compared_with_pytorch import show_comparison
from pages.parts.practice import choice, contest, finished
from pages.parts.practice.finished import Engine, Passes

NAME = "build"  # what the keys of the expression begin with
PLAYER_KEY = "own player"
DRAWING = ROOT / "practice" / "drawing.py"
INVITATION = "a*b + a"  # drawn before there is an engine: small enough for a phone, and a receives two messages
TRY_THIS = (
    "Write an expression in which one input is used three times: how many messages does your engine send to it? Then "
    "change one `+=` in your file to `=`, and see which check finds it."
)


ENGINE = binding.choice("build-engine", None, *EXAMPLES)
EXPRESSION, INPUTS = expression_box.held(NAME, next(iter(EXAMPLES["scalars"])))
EVENT = binding.HeldValue("build-event", None, binding.natural, written=False)
HELD = (ENGINE, EXPRESSION, INPUTS, EVENT)


def arrive() -> None:
    """Let the inputs begin from the values in the address."""
    expression_box.restart(NAME)


def show() -> None:
    """Draw the tab."""
    top = row(gap="small")
    choice.restore()
    choice.show_missing()
    engine = _chosen()
    if engine:
        with top:
            _choose(engine)
        _passes(engine)
        st.header("Train it next to the lab’s", anchor="train")
        contest.show(engine)
    else:
        _nothing_yet()
    progress.done("own-engine", bool(st.session_state.get("own agreed")))
    page.closing(TRY_THIS if engine else "How many messages does a get?", "pages/graph_lab.py", "Next: the Graph lab")


def _chosen() -> Engine | None:
    """Return the chosen engine, or else the one that passed last; None if the learner has none."""
    session, engines = st.session_state, finished.engines()
    if not engines:
        return None
    if session[ENGINE.key] not in engines:
        session[ENGINE.key] = [*engines][-1]
    if session[EXPRESSION.key] == EXPRESSION.default and EXPRESSION.default not in EXAMPLES[session[ENGINE.key]]:
        _begin()  # the link names only the engine
    return engines[session[ENGINE.key]]


def _begin() -> None:
    """Start with an expression that the chosen engine can compute."""
    session = st.session_state
    session[EXPRESSION.key], session[INPUTS.key] = next(iter(EXAMPLES[session[ENGINE.key]])), {}
    expression_box.restart(NAME)


def _choose(engine: Engine) -> None:
    engines = finished.engines()

    if len(engines) > 1:
        titles = {key: one.course.title for key, one in engines.items()}
        switch("Engine", titles, ENGINE.key, on_change=_begin, bare=True, persist_state="session")
    st.badge(engine.name, icon=":material/verified:", color="green")


def _nothing_yet() -> None:
    """Say what an engine of one's own would do here, with the lab's in its place."""
    if choice.is_restoring():
        return
    st.markdown(
        "You have no finished engine yet: this is **the lab’s**. Pass every task of a course, and yours draws this "
        "picture, and trains here next to the lab’s with the same numbers."
    )
    if reason := isolation.unavailable():
        st.info(reason)
    page.link_to("pages/build_it_yourself.py", "Build an engine", "code", {"tab": "courses", "course": "scalars"})
    trace = memoize("lab passes", INVITATION, lambda: record(parse(INVITATION), {"a": 2.0, "b": -3.0}))
    player(trace, key="lab player", title=INVITATION, event=0, compact=True)


# ---------------------------------------------------------------- passes


def _passes(engine: Engine) -> None:
    session = st.session_state
    session["own agreed"] = ""
    expression = expression_box.box(NAME, EXAMPLES[engine.course.key])
    if expression is None:
        return
    live = {
        name: Live(value, -reach, reach)
        for name, value in expression_box.values_of(NAME, expression).items()
        for reach in [min(max(expression_box.REACH, float(np.max(np.abs(value)))), LIMIT)]
    }
    _moving(engine, expression, live)


@st.fragment
def _moving(engine: Engine, expression: Expression, live: Mapping[str, Live]) -> None:
    """Draw the part of the page that a dragged input reruns. live: the inputs with their initial values."""
    session = st.session_state
    above = st.container()  # always there, so that the player keeps its place on the page
    values = live_values(PLAYER_KEY, live)
    session[INPUTS.key] = {} if values == session[f"{NAME} start"] else values
    binding.write(*HELD)  # before the player, which adds its event to the new address
    with above:
        labs = _labs_pass(expression, values)
        yours = _passes_of(engine, expression, values, labs) if labs else Passes()
        trace, (of, last) = yours.trace, session.get("own played", (None, None))
        if trace is None and of == (engine, expression.text):
            trace = last
            st.caption("The player still shows the previous pass.")
    if trace is None:
        return
    session["own played"] = (engine, expression.text), trace
    player(
        trace,
        key=PLAYER_KEY,
        live=live,
        title=expression.text,
        opened=session[EVENT.key],
        event=len(trace.events),
        address=EVENT.key,
    )
    if labs and yours.gradients:
        names = ["gradient of", "your engine", "the lab’s", "finite differences", "agree"]
        show_table(names, [_cells(row, labs) for row in yours.gradients])
        value = trace.nodes[trace.output]["value"]
        show_comparison("own pytorch", expression, values, value, trace.gradients, whose="your engine")
    if engine.course.key != "functions":  # whose results have no _children
        with st.expander("Draw the graph yourself, with Graphviz"):
            st.markdown("Save this next to your file. It draws any result of your engine, without the lab.")
            st.code(DRAWING.read_text("utf-8"), language="python")


def _labs_pass(expression: Expression, values: Mapping[str, float | list]) -> Trace | None:
    """Run the passes on the lab's engine, or say why they cannot be run on any."""
    try:
        return record(expression, values)
    except ExpressionError as error:
        expression_box.mistake(error)
    except (RuntimeError, ValueError) as error:  # for example because no input takes part in the result
        st.warning(with_code(str(error)))
    return None


def _passes_of(engine: Engine, expression: Expression, values: Mapping[str, float | list], labs: Trace) -> Passes:
    """Run the passes on the learner's engine, and say whether its gradients are right."""
    shape = np.shape(labs.nodes[labs.output]["value"])
    yours = finished.passes(engine, expression, values, np.ones(shape) if shape else None)
    of = " of its sum, as the result has many numbers," if shape else ""
    wrong = [row for row in yours.gradients if not row.agrees_with(labs.gradients[row.name])]
    if yours.complaint:
        st.error(with_code(yours.complaint), icon=":material/block:")
    elif wrong:
        name, mine, theirs, slope, _ = map(escape_markdown, _cells(wrong[0], labs))
        others = ", ".join(escape_markdown(row.name) for row in wrong[1:])
        st.error(
            f"✗ The gradient{of} of {name} differs: {mine} by your engine, {theirs} by the lab’s, {slope} by finite "
            f"differences.{f' So are those of {others}.' if others else ''}"
        )
    else:
        st.markdown(f":green[**✓**] Each gradient{of} agrees with the lab’s engine and with finite differences.")
        for remark in [one for row in yours.gradients for one in row.slopes if one.kind != "smooth"][:3]:
            st.caption(with_code(remark.sentence))
        if expression.text not in EXAMPLES[engine.course.key]:
            st.session_state["own agreed"] = expression.text
    return yours


def _cells(row: NumericalCheck, labs: Trace) -> tuple[str, ...]:
    """Return an input's gradient by the learner's engine, the lab's and differences, and whether they agree."""
    gradient = labs.gradients[row.name]
    numbers = (np.zeros(np.shape(row.value)) if one is None else one for one in (row.analytic, gradient, row.numerical))
    return (row.name, *map(brief, numbers), "✓" if row.agrees_with(gradient) else "✗")
