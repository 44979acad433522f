"""Graph lab: the computational graph of an expression, with a real forward and backward pass."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.parser import Expression
from lab.lessons.cards import CARD
from lab.trace.comparison import departure, is_same_graph
from lab.trace.recording import Trace
from lab.traps.faults.broken_engines import SWITCH
from lab.traps.faults.healthy_and_broken import follow
from lab.ui import binding, expression_box, page, progress
from lab.ui.memoize import memoize
from lab.ui.player import Live, Switch, live_values, player
from lab.ui.table import with_code
from lab.ui.terms import prose
from lab.ui.widgets import button, pick, row, switch
from pages.parts.compared_with_pytorch import show_comparison
from pages.parts.graph import inputs, loaded_pass, passes, program
from pages.parts.practice import choice, finished, running

PRESETS = expression_box.presets()
KINDS = {"expression": "Expression", "program": "Your program", "recorded": "Recorded pass"}
PLAYER_KEY = "graph player"


WHAT_TO_DO = (
    "Choose an expression and set its inputs. **Run forward pass** computes the values from the inputs to the result; "
    "**Run backward pass** sends gradients back. Look for the :orange[orange] numbers: each says how fast the result "
    "changes as its input grows. In forward mode, **Send tangents** carries the derivatives for one input forward."
)
INSTRUCTION = "Drag a number on its card, or run both passes."
TANGENTS = "Drag a number, or send the tangent of {}."
MODES = {"reverse": "Reverse", "forward": "Forward mode"}
ENGINES = {  # engines with one wrong rule: name in the address -> label
    "overwrites": "= for +=",
    "any-order": "any order",
    "forgets-the-sum": "no sum",
}
SHOW_TELLING = "Same here: show one that differs"
TELLING = {"overwrites": "shared", "any-order": "order", "forgets-the-sum": "broadcast"}  # example in which it shows
WORDS = (
    "**What you see.** Each card is a [[node]] of the [[computational graph]]; the inputs are its [[leaves|leaf]]. "
    "The [[forward pass]] records them, as on a [[tape]]. The [[backward pass]] sorts them in reverse "
    "[[topological order]]: [[backpropagation]], the [[chain rule]] applied node by node. It begins at the result "
    "with the [[starting gradient]]. The [[closure]] of each node takes the [[upstream gradient]] that arrives, also "
    "called a [[cotangent]], and multiplies it by the [[local derivative]] for each operand. With arrays this is a "
    "[[vector-Jacobian product]]. The product goes to the operand as a [[message]], and all messages that arrive "
    "there [[accumulate]]. An operand that was [[broadcast]] gets the sum over its copies: the message is "
    "[[unbroadcast]]. A number has [[requires_grad]] off, and is sent nothing."
)
TRY_THIS = {
    "expression": "Choose the expression in which a is used twice and find two messages that add up to a's gradient. "
    "Then set an input so that relu blocks the gradient, and under **Inputs** detach one, or write to it.",
    "program": program.TRY,
    "recorded": "Record a pass of your own model, and find a node whose gradient is the sum of several messages.",
}
SYNTAX = (
    "Enter applies the expression; Shift+Enter starts another line, such as `h = a*b`. The last line is the result. "
    "Functions: sin, exp, log, tanh, relu, sum, max, … Methods: x.relu(), x.sum(axis=0). Names that no line defines "
    "are inputs."
)


def main() -> None:
    with page.frame("graph-lab", *HELD) as arrived:
        with row(key="graph line", gap="xsmall"):
            st.title("Graph lab", width="content")
            kind = pick("What to look at", KINDS, "graph-kind", bind="query-params", bare=True, width=145)
            if kind == "program" and arrived:
                program.restored()
            elif kind == "expression" and (arrived or "graph remembered" not in st.session_state):
                _begin()
            {"expression": _choose, "program": program.choose, "recorded": loaded_pass.choose}[kind]()
            with st.popover("How it works", icon=":material/help:", key="graph help"):
                st.markdown(
                    {"program": program.HOW, "recorded": loaded_pass.HOW}.get(kind, f"{WHAT_TO_DO}\n\n{SYNTAX}")
                )
        choice.restore("graph")
        if kind == "program":
            program.show()
        elif kind == "recorded":
            loaded_pass.show()
        else:
            _explore()
        _end(kind)


def _choose() -> None:
    """Let the learner choose an example, or write an expression."""
    preset = _preset()
    by_name = {preset["name"]: preset for preset in PRESETS}
    st.menu_button(
        preset["name"] if preset else "Your own expression",
        [*by_name],
        key="graph example",
        on_click=lambda: _choose_preset(by_name[st.session_state["graph example"]]),
        help="Examples.",
        icon=":material/menu_book:",
    )
    with st.container(width="stretch"):
        _expression()
    inputs.settings()


def _end(kind: str) -> None:
    prose(WORDS)
    page.closing(TRY_THIS[kind], "pages/simulate_error.py", "Next: break a backward pass with a single write")
    if kind == "program":
        running.wait("graph")


def _is_classic() -> bool:
    return st.session_state["graph-expression"].replace(" ", "") == "((a*b)+c)*(a+d)"


# ---------------------------------------------------------------- state


HELD = (
    *expression_box.held("graph", PRESETS[2]["text"]),
    choice.held("graph", *ENGINES),
    inputs.LEAVES,
    inputs.STAGE,
    inputs.EVENT,
    program.CODE,
)


def _begin() -> None:
    """Start with another expression and its inputs."""
    session = st.session_state
    preset = _preset()
    # An input that is removed and typed again keeps its value.
    session["graph remembered"] = (preset["values"] if preset else {}) | session["graph-in_"]
    inputs.open_player()


def _preset() -> dict[str, Any] | None:
    """Return the example whose text stands in the field, if there is one."""
    return next((one for one in PRESETS if one["text"] == st.session_state["graph-expression"]), None)


def _choose_preset(preset: dict[str, Any]) -> None:
    binding.step()
    st.session_state["graph-expression"], st.session_state["graph-in_"] = preset["text"], {}
    st.session_state["graph-leaf_"] = {}
    _begin()
    inputs.go("none")


def _edit_expression(key: str) -> None:
    if not expression_box.take_text("graph", key):
        return
    if isinstance(inputs.parsed(), Expression):  # a typing error must not lose the graph
        inputs.go("none")


def _direction(expression: Expression, values: dict[str, float | list]) -> tuple[str, int] | None:
    """Let the learner choose reverse mode (None) or forward mode along one number (leaf, position of the cell)."""
    session = st.session_state
    if switch("Direction", MODES, "graph-mode", on_change=_turn_round, bare=True, bind="query-params") == "reverse":
        return None
    cells = {
        name + (f"[{', '.join(map(str, index))}]" if index else ""): (name, cell)
        for name in expression.names
        for cell, index in enumerate(np.ndindex(np.shape(values[name])))
    }
    if session.get("graph-along", next(iter(cells))) not in cells:
        session["graph-along"] = next(iter(cells))
    along = pick(
        "With respect to", [*cells], "graph-along", on_change=_turn_round, bind="query-params", bare=True, width=110
    )
    return cells[along]


def _turn_round() -> None:
    """Move to the end of the forward pass, where both directions begin."""
    inputs.go("forward")


def _change_engine() -> None:
    """Move to the first event in which the chosen engine differs, if there is one."""
    st.session_state["graph engine news"] = True


def _by_other_engine(expression: Expression, values: dict[str, float | list], labs: Trace) -> Trace | None:
    """Record the same pass on the chosen engine, a broken one or the visitor's; None if the lab's is to be shown."""
    name, engine = st.session_state["graph-engine"], choice.chosen("graph")
    if (engine is None and name not in ENGINES) or labs.error:
        return None
    if inputs.changes(expression):
        st.caption("With an input that is detached, constant or written to, you see the lab’s engine.")
        return None
    start = next(event["grad"] for event in labs.events if event["kind"] == "seed")
    upstream = np.array(start) if np.ndim(start) else None
    if engine is None:
        at = name, expression.text, values, start
        return memoize("graph broken", at, lambda: follow(expression, SWITCH[name], values, lambda _: upstream))
    yours = finished.passes(engine, expression, values, upstream)
    if yours.complaint:
        st.warning(f"{with_code(yours.complaint)} You see the lab’s engine.")
        return None
    return yours.trace


def _show_telling() -> None:
    """Choose the example in which the chosen engine's wrong rule shows."""
    session = st.session_state
    telling = TELLING[session["graph-engine"]]
    _choose_preset(next(preset for preset in PRESETS if preset["key"] == telling))
    session["graph engine news"] = session["graph turned"] = True


def _switches(offers_telling: bool) -> list[Switch]:
    """Return the choices that are also offered while the player fills the screen."""
    session = st.session_state
    direction = Switch("Direction", MODES, session["graph-mode"])
    if session["graph-mode"] != "reverse":
        return [direction]
    engine = Switch("Engine", {choice.LABS: "The lab’s", **ENGINES}, session["graph-engine"])
    telling = [Switch("Example", {"telling": SHOW_TELLING})] if offers_telling else []
    return [engine, *telling, direction]


def _switch(name: str, value: str) -> None:
    """Make a choice of the page from the player."""
    session = st.session_state
    if name == "Direction":
        session["graph-mode"] = value
        _turn_round()
    elif name == "Engine":
        session["graph-engine"] = value
        _change_engine()
    else:
        _show_telling()


def _turn(by: int) -> None:
    """Move `by` examples on from the one that is shown."""
    shown = _preset()
    at = PRESETS.index(shown) + by if shown else 0
    _choose_preset(PRESETS[at % len(PRESETS)])
    st.session_state["graph turned"] = True


def _expression() -> None:
    key = expression_box.text_key("graph")
    with st.container(key="graph-expression"):
        st.text_area(
            "Expression",
            st.session_state["graph-expression"],
            key=key,
            on_change=_edit_expression,
            args=(key,),
            height="content",
            placeholder="a*b + c",
            label_visibility="collapsed",
        )


def _explore() -> None:
    """Show the expression's graph in the player, with the inputs in it, as a fragment that a dragged input reruns.

    While the text cannot be parsed or its values cannot be computed, the player keeps its last graph.
    """
    found = inputs.parsed()
    with st.container():  # always there, so that the player keeps its place on the page
        if isinstance(found, ExpressionError):
            expression_box.mistake(found)
    outdated = isinstance(found, ExpressionError)
    expression = st.session_state.get("graph played", (None, None))[0] if isinstance(found, ExpressionError) else found
    live = {}
    for name, value in (inputs.values_of(expression) if expression else {}).items():
        reach = max(expression_box.REACH, float(np.max(np.abs(value))))
        live[name] = Live(value, -reach, reach)
    _moving(expression, live, outdated)


@st.fragment
def _moving(expression: Expression | None, live: dict[str, Live], outdated: bool) -> None:
    """Draw the part of the page that a dragged input reruns.

    live: the inputs with their initial values. outdated: the expression is the last one that could be parsed.
    """
    session = st.session_state
    if session.pop("graph turned", False):  # the whole page has to show another example
        st.rerun()
    above = st.container()  # always there, so that the player keeps its place on the page
    if expression is None:
        return
    _, last = session.get("graph played", (None, None))
    with above:
        values = live_values(PLAYER_KEY, live)
        inputs.remember(expression, values)
        labs = passes.recorded_pass(expression, values)
        if labs is None and last is not None:
            st.caption("The player still shows the last graph that could be computed.")
        with row(key="graph engine line", gap="small"):
            first = st.container(width=178)  # two lines, so that everything fits at 1024 pixels
            st.space("stretch")
            along = _direction(expression, values)
            first.markdown(TANGENTS.format(session["graph-along"]) if along else INSTRUCTION)
            if not along:
                choice.choose("graph", _change_engine, ENGINES)
        yours = _by_other_engine(expression, values, labs) if labs and not along else None
        compared = yours if labs and yours and is_same_graph(labs, yours) else None
        departed = departure(labs, compared) if labs and compared else None
        is_broken = session["graph-engine"] in ENGINES
        offers_telling = is_broken and compared is not None and departed is None and not compared.error
        if offers_telling:
            button(SHOW_TELLING, "graph telling", _show_telling)
    binding.write(*HELD)  # before the player, which adds its event to the new address
    early = departed is not None and session["graph-engine"] == "any-order"
    if session.pop("graph engine news", False) and departed:
        if early and session[CARD] == "topological-order":  # what is to be found in the pass is not shown before it
            inputs.go("forward")
        else:
            session["graph-stage"], session["graph-event"] = "backward", departed.event + 1
            inputs.open_player()
    if labs is not None:
        session["graph played"] = expression, labs
    trace = yours or labs or last
    if trace is None:
        return
    # The result still changes with a detached input, so its gradient cannot be compared with a difference.
    is_right = labs is not None and yours is None and "detached" not in inputs.changes(expression).values()
    predicting = player(
        trace,
        key=PLAYER_KEY,
        live=live,
        may_predict=is_right and not along,
        judged=expression if is_right else None,
        title=expression.text,
        script=partial(passes.script, expression, values, trace),
        event=None
        if along and session["graph-stage"] == "backward"
        else passes.event_count(trace, session["graph-stage"]),
        opening=session["graph opening"],
        opened=session["graph-event"],
        address="graph-event",
        stage="graph-stage",
        departure=departed,
        right=labs if compared else None,
        engine=ENGINES.get(session["graph-engine"], "your engine"),
        text=session["graph-expression"],
        field="graph-expression",
        outdated=outdated or labs is None,
        switches=_switches(offers_telling),
        on_switch=_switch,
        along=along,
        on_turn=_turn,
    )
    progress.done("two-messages", _is_classic())
    progress.done("by-hand", predicting and _is_classic())
    progress.done("topological-order", early)
    progress.note("graph progress")
    _in_pytorch(expression, values, labs)


def _in_pytorch(expression: Expression, values: dict[str, float | list], labs: Trace | None) -> None:
    """Offer the same program in PyTorch, if the pass is one that such a program would make."""
    if labs is None or labs.error or inputs.changes(expression):
        return
    if any(np.any(np.not_equal(event["grad"], 1.0)) for event in labs.events if event["kind"] == "seed"):
        return
    result, script = labs.nodes[labs.output]["value"], partial(passes.script, expression, values, labs)
    show_comparison("graph pytorch", expression, values, result, labs.gradients, script)


main()
