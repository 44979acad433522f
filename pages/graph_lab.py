"""Graph lab: numbers in, the graph of a real forward and backward pass out."""

import json
import math
import shutil
from functools import partial

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.builder import Expression, parse
from lab.faults.compare import departure, follow
from lab.faults.engines import SWITCH
from lab.text import brief
from lab.trace.derive import table
from lab.trace.dot import draw
from lab.trace.nonfinite import explain
from lab.trace.numerical import NumericalCheck, check
from lab.trace.recording import Change, Trace, attempt, starting_gradients
from lab.trace.script import experiment
from lab.ui import address, expression_box, in_pytorch, page, progress, recorded, state
from lab.ui.address import Field, PrefixField
from lab.ui.memoize import memoize
from lab.ui.player import Live, live_values, player
from lab.ui.practice import choice, finished
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, markdown_table, with_code
from lab.ui.terms import prose

PRESETS = expression_box.presets()
OWN = "Your own expression"
RECORDED = "A recorded pass"
STAGES = ("none", "forward", "backward")
PLAYER, PLAIN = "player", "plain"
PLAYER_KEY = "graph player"
STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
EXAMPLES = {"number": 1.0, "vector": [1, 2], "matrix": [[1, 2], [3, 4]]}  # in the order of their numbers of axes
SHAPES = tuple(EXAMPLES)
REMARKS = 4  # sentences about slopes below the table of gradients
CHANGES = {  # what may be done to an input before the backward pass
    "": "as it is",
    "constant": "requires_grad=False",
    "detached": "detach()",
    "written": "written to between the passes",
}
OFFERED = {"sum": "of its sum", "mean": "of its mean"}  # the gradients, where the result has many numbers


WHAT_TO_DO = (
    "Choose an expression and set its inputs. **Run forward pass** computes the values from the inputs to the result; "
    "**Run backward pass** sends gradients back. Look for the :orange[orange] numbers: they tell how fast the "
    "result grows when that input grows."
)
INSTRUCTION = "Pull a number on its card, or run both passes."
MODES = {"reverse": "Reverse", "forward": "Forward mode"}
ENGINES = {  # those with one wrong rule, by their names in the address
    "overwrites": "= for +=",
    "any-order": "any order",
    "forgets-the-sum": "forgets the sum",
}
WRITES = {"*": "mul", "**": "square", "exp": "exp", "relu": "relu", "+": "add"}  # what Simulate Error has of them
TELLING = {"overwrites": "shared", "any-order": "order", "forgets-the-sum": "broadcast"}  # the example that shows it
WORDS = (
    "**What you see.** Each card is a [[node]] of the [[computational graph]]; the inputs are its [[leaves|leaf]]. "
    "The [[forward pass]] records them in [[topological order]] on a [[tape]], which the [[backward pass]] plays in "
    "reverse: [[backpropagation]], the [[chain rule]] applied node by node. It begins at the result "
    "with the [[starting gradient]]. The [[closure]] of each node takes the [[upstream gradient]] that arrives, also "
    "called a [[cotangent]], and multiplies it by the [[local derivative]] for each operand. With arrays this is a "
    "[[vector-Jacobian product]]. The product goes to the operand as a [[message]], and all that arrive there "
    "[[accumulate]]. An operand that was [[broadcast]] gets the sum over its copies: the message is [[unbroadcast]]."
)
SYNTAX = (
    "Lines such as `h = a*b`, the last one is the result. Functions: sin, exp, log, tanh, relu, sum, max, … "
    "Methods: x.relu(), x.sum(axis=0). Each name that no line defines is an input."
)


def main() -> None:
    with page.run("graph", FIELDS) as current:
        if current.restored:
            _begin()
        _show(current)


def _show(current: PageState) -> None:
    st.session_state["graph shown"] = st.session_state["graph preset"]
    plain = st.session_state["graph view"] == PLAIN
    with st.container(horizontal=True, vertical_alignment="center", key="graph line", gap="small"):
        st.title("Graph lab", width="content")
        _example()
        if st.session_state["graph preset"] == RECORDED:
            recorded.choose()
        else:
            with st.container(width="stretch"):
                _expression()
            _settings(_expression_of(_parsed()))
        with st.popover("How it works", icon=":material/help:", key="graph help"):
            st.markdown(f"{WHAT_TO_DO}\n\n{SYNTAX}")
    choice.come_back("graph")
    if st.session_state["graph preset"] == RECORDED:
        recorded.show()
    else:
        _explore(current, plain)
    prose(WORDS)
    written = st.session_state["graph expression"].replace(" ", "")
    progress.done("two-messages", written == "((a*b)+c)*(a+d)")
    page.closing(
        "Choose the expression in which a is used twice and find two messages that add up to a's gradient. "
        "Then set an input so that relu blocks the gradient, and under **Inputs** detach one, or write to it.",
        "pages/simulate_error.py",
        "Next: break a backward pass with a single write",
    )


def _explore(current: PageState, plain: bool) -> None:
    """The expression's graph, as the player or as a plain drawing."""
    found = _parsed()
    if plain:
        st.markdown(INSTRUCTION)
    with st.container():  # always there, so that the player keeps its place on the page
        if isinstance(found, ExpressionError):
            expression_box.mistake(found)
    if plain:
        _draw(_expression_of(found))
    else:
        _play(current, _expression_of(found))


def _expression_of(found: Expression | ExpressionError) -> Expression | None:
    return found if isinstance(found, Expression) else None


# ---------------------------------------------------------------- state


def _step(text: str) -> float:
    return STEPS[STEPS.index(float(text))]


REACH = Field("reach", "graph reach", 10.0, float, address.number, (1.0, 1000.0))


def _start(text: str) -> str:
    """What a pass from many numbers starts with: of the sum, of the mean, or an upstream gradient as JSON."""
    return text if text in ("sum", "mean") else json.dumps(expression_box.value(text))


START = Field("start", "graph start", None, _start, address.optional)
LEAVES = PrefixField("leaf_", "graph leaves", {}, address.one_of(*filter(None, CHANGES)))
MODE = Field("mode", "graph mode", "reverse", address.one_of(*MODES))
ALONG = Field("along", "graph along", "")
STAGE = Field("stage", "graph stage", "none", address.one_of(*STAGES))
FIELDS = (
    *expression_box.fields("graph", PRESETS[2]["text"]),
    START,
    LEAVES,
    STAGE,
    address.player_event("graph event"),
    choice.field("graph", *ENGINES),
    MODE,
    ALONG,
    Field("view", "graph view", PLAYER, address.one_of(PLAYER, PLAIN)),
    REACH,
    Field("step", "graph step", 0.1, _step, address.number),
)


def _begin() -> None:
    """Another expression, with its inputs: nothing is left of what stood here before."""
    session = st.session_state
    preset = next((p for p in PRESETS if p["text"] == session["graph expression"]), None)
    session["graph preset"] = preset["name"] if preset else OWN
    # A name that is typed again finds its value again.
    session["graph remembered"] = (preset["values"] if preset else {}) | session["graph inputs"]
    _forget_widgets()
    _open()


def _open() -> None:
    """The player goes where the stage and the event say, wherever it is now."""
    st.session_state["graph opening"] = st.session_state.get("graph opening", 0) + 1


def _forget_widgets(name: str = "") -> None:
    """The widgets of one input, or of all, begin with its value again."""
    for key in [key for key in st.session_state if str(key).startswith(f"leaf {name} ".rstrip() + " ")]:
        del st.session_state[key]


def _choose_preset() -> None:
    preset = next((p for p in PRESETS if p["name"] == st.session_state["graph preset"]), None)
    if preset:
        state.step()
        st.session_state["graph expression"], st.session_state["graph inputs"] = preset["text"], {}
        st.session_state["graph leaves"] = {}
        _begin()
    _go("none")


def _edit_expression() -> None:
    preset = next((p for p in PRESETS if p["text"] == st.session_state["graph expression"]), None)
    st.session_state["graph preset"] = preset["name"] if preset else OWN
    if isinstance(_parsed(), Expression):  # a slip of the keyboard takes nothing away
        _go("none")


def _go(stage: str) -> None:
    """To a stage of the passes, and so away from the event that a link asked for."""
    st.session_state["graph stage"] = stage
    st.session_state["graph event"] = None
    _open()


def _direction(expression: Expression, values: dict[str, float | list]) -> tuple[str, int] | None:
    """Reverse mode, or forward mode along one number: the leaf and the position of the cell. None: reverse mode."""
    st.segmented_control(
        "Direction",
        [*MODES],
        format_func=MODES.__getitem__,
        key="graph mode",
        required=True,
        on_change=_turn_round,
        label_visibility="collapsed",
    )
    session = st.session_state
    if session["graph mode"] == "reverse":
        return None
    cells = {
        name + (f"[{', '.join(map(str, index))}]" if index else ""): (name, cell)
        for name in expression.names
        for cell, index in enumerate(np.ndindex(np.shape(values[name])))
    }
    if session["graph along"] not in cells:
        session["graph along"] = next(iter(cells))
    st.selectbox(
        "With respect to", [*cells], key="graph along", on_change=_turn_round, label_visibility="collapsed", width=110
    )
    return cells[session["graph along"]]


def _turn_round() -> None:
    """Both directions begin where the forward pass has ended."""
    state.step()
    _go("forward")


def _change_engine() -> None:
    """To the first event in which the other engine differs, if there is one."""
    state.step()
    st.session_state["graph engine news"] = True
    _open()


def _by_broken_engine(expression: Expression, values: dict[str, float | list], labs: Trace) -> Trace | None:
    """The same pass by an engine with one wrong rule. None: another engine is chosen, or the lab's is to be shown."""
    name = st.session_state["graph engine"]
    if name not in ENGINES or labs.error:
        return None
    if _changes(expression):
        st.caption("With an input that is detached, constant or written to, what you see is the lab’s engine.")
        return None
    start = next(event["grad"] for event in labs.events if event["kind"] == "seed")

    def run() -> Trace:
        return follow(expression, SWITCH[name], values, lambda output: np.array(start) if np.ndim(start) else None)

    return memoize("graph broken", (name, expression.text, values, start), run)


def _same(labs: Trace, broken: Trace) -> None:
    """A broken engine whose wrong rule does not show here: say so, and offer the example in which it does."""
    if broken.error or departure(labs, broken):
        return
    name = st.session_state["graph engine"]
    telling = next(preset for preset in PRESETS if preset["key"] == TELLING[name])

    def show() -> None:
        st.session_state["graph preset"] = telling["name"]
        _choose_preset()
        st.session_state["graph engine news"] = st.session_state["graph turned"] = True

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"“{ENGINES[name]}” makes no difference with this expression.", width="content")
        st.button("Show one where it does", on_click=show, key="graph telling")


def _simulate_error(trace: Trace | None) -> None:
    """A link to a write in place, with an operation of this graph where the page has one."""
    ops = [node["op"] for node in trace.nodes] if trace else []
    found = next((WRITES[op] for op in ops if op in WRITES), None)
    query = {"part": "steps"} | ({"op": found} if found else {})
    page.link_to("pages/simulate_error.py", "Simulate Error", ":material/bolt:", query)


def _by_own_engine(expression: Expression, values: dict[str, float | list], labs: Trace) -> Trace | None:
    """The same pass by the visitor's engine, from the same starting gradient. None: the lab's is to be shown."""
    engine = choice.chosen("graph")
    if engine is None or labs.error:
        return None
    if _changes(expression):
        st.caption("With an input that is detached, constant or written to, what you see is the lab’s engine.")
        return None
    start = next(event["grad"] for event in labs.events if event["kind"] == "seed")
    yours = finished.passes(engine, expression, values, np.array(start) if np.ndim(start) else None)
    if yours.complaint:
        st.warning(f"{escape_markdown(yours.complaint)} What you see is the lab’s engine.")
        return None
    return yours.trace


def _turn(by: int) -> None:
    """So many examples further than the one that is shown. In the widget the browser may still have the one before."""
    names, shown = [preset["name"] for preset in PRESETS], st.session_state["graph shown"]
    at = names.index(shown) + by if shown in names else 0
    st.session_state["graph preset"] = names[at % len(names)]
    _choose_preset()
    st.session_state["graph turned"] = True


def _change_view() -> None:
    """The plain drawing goes on where the player is, which only the address says: at the end of a pass."""
    if st.session_state["graph view"] != PLAIN:
        return
    asked = st.query_params.to_dict()
    stage = STAGE.read(asked)[0]
    if "event" in asked:  # so this pass has not ended
        stage = STAGES[max(0, STAGES.index(stage) - 1)]
    _go(stage)


def _parsed() -> Expression | ExpressionError:
    """The text, read once for all runs in which it stays."""
    text = st.session_state["graph expression"]
    known, found = st.session_state.get("graph parsed", (None, None))
    if known != text:
        try:
            found = parse(text)
        except ExpressionError as error:
            found = error
        st.session_state["graph parsed"] = text, found
    return found


def _values_of(expression: Expression) -> dict[str, float | list]:
    """The values that the inputs start from, before the learner moves them."""
    return {name: st.session_state["graph remembered"].get(name, 1.0) for name in expression.names}


def _remember(values: dict[str, float | list]) -> None:
    st.session_state["graph inputs"] = values
    st.session_state["graph remembered"] = st.session_state["graph remembered"] | values


# ---------------------------------------------------------------- controls


def _example() -> None:
    names = [*(p["name"] for p in PRESETS), OWN, RECORDED]
    st.selectbox(
        "Example",
        names,
        key="graph preset",
        persist_state="session",
        on_change=_choose_preset,
        label_visibility="collapsed",
        width=250,
    )


def _expression() -> None:
    st.text_area(
        "Expression",
        key="graph expression",
        on_change=_edit_expression,
        height="content",
        placeholder="a*b + c",
        label_visibility="collapsed",
    )


def _inputs(expression: Expression) -> dict[str, float | list] | None:
    """A slider with a number entry for each number, a text field for each vector or matrix."""
    values = {
        name: _slider(name, start)
        if isinstance(start, (int, float))
        else expression_box.array_entry(name, start, f"leaf {name} array")
        for name, start in _values_of(expression).items()
    }
    found = {name: value for name, value in values.items() if value is not None}
    if len(found) < len(values):
        return None
    _remember(found)
    return found


def _settings(expression: Expression | None) -> None:
    """What is not needed for a step. It is built only while it is open."""
    box = st.popover("Inputs", icon=":material/tune:", key="graph settings", on_change="rerun")
    if not box.open:
        return
    with box:
        st.segmented_control(
            "Picture",
            [PLAYER, PLAIN],
            format_func={PLAYER: "Player", PLAIN: "Plain drawing"}.__getitem__,
            key="graph view",
            required=True,
            on_change=_change_view,
        )
        st.number_input("Sliders go from minus this to plus this", *REACH.limits, key="graph reach")
        st.select_slider("Step of the sliders", STEPS, key="graph step")
        for name, value in (_values_of(expression) if expression else {}).items():
            key = f"leaf {name} shape"
            st.session_state[key] = SHAPES[np.ndim(value)]
            st.segmented_control(f"Shape of {name}", SHAPES, key=key, required=True, on_change=_reshape, args=(name,))
            key = f"leaf {name} change"
            st.session_state[key] = st.session_state["graph leaves"].get(name, "")
            st.selectbox(
                f"What is done to {name}",
                CHANGES,
                format_func=CHANGES.__getitem__,
                key=key,
                on_change=_change,
                args=(name,),
            )


def _change(name: str) -> None:
    """Another thing is done to an input: it shows once the backward pass has run, or was refused."""
    state.step()
    changed = st.session_state["graph leaves"] | {name: st.session_state[f"leaf {name} change"]}
    st.session_state["graph leaves"] = {name: change for name, change in changed.items() if change}
    _go("backward")


def _changes(expression: Expression) -> dict[str, Change]:
    """What is done to the inputs that the expression has."""
    changes: dict[str, Change] = st.session_state["graph leaves"]
    return {name: change for name, change in changes.items() if name in expression.names}


def _reshape(name: str) -> None:
    example = EXAMPLES[st.session_state[f"leaf {name} shape"]]
    _remember(st.session_state["graph inputs"] | {name: example})
    _forget_widgets(name)


def _slider(name: str, start: float) -> float:
    session = st.session_state
    reach, step = session["graph reach"], session["graph step"]
    if abs(start) > reach:  # from a link, say: a round number, so that it stays while the slider moves
        reach = 10.0 ** math.ceil(math.log10(abs(start)))
    # With another range they are other widgets. The page writes into neither of them after its first run: a value from
    # here would undo what the hand has done in the meantime.
    slider, entry = (f"leaf {name} {kind} {reach} {step}" for kind in ("slider", "number"))
    session.setdefault(slider, float(start))
    session.setdefault(entry, float(start))

    def copy(of: str, to: str) -> None:
        session[to] = session[of]

    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        value = st.slider(name, -reach, reach, step=step, key=slider, on_change=copy, args=(slider, entry))
    with right:
        st.number_input(
            f"{name}, exactly",
            -reach,
            reach,
            step=step,
            key=entry,
            on_change=copy,
            args=(entry, slider),
            label_visibility="collapsed",
        )
    return value


def _buttons(ready: bool) -> None:
    stage = st.session_state["graph stage"]
    done, next_one = ":material/check:", ":material/play_arrow:"
    left, right = st.columns(2)
    # One type for all stages: a button that changed its type would lose the keyboard's focus.
    left.button(
        "Run forward pass",
        type="primary",
        icon=next_one if stage == "none" else done,
        on_click=_go,
        args=("forward",),
        disabled=not ready,
        width="stretch",
    )
    right.button(
        "Run backward pass",
        type="primary",
        icon=done if stage == "backward" else next_one,
        on_click=_go,
        args=("backward",),
        disabled=not ready or stage == "none",
        width="stretch",
        help="Runs after the forward pass." if stage == "none" else None,
    )


# ---------------------------------------------------------------- the picture and its twins


def _play(current: PageState, expression: Expression | None) -> None:
    """The player, with the inputs in it. While an input is dragged, only this part of the page runs.

    Where the text cannot be read or its values cannot be computed, the player stays with what it showed last.
    """
    session = st.session_state
    last_expression, _ = session.get("graph played", (None, None))
    expression = expression or last_expression
    live = {}
    for name, value in (_values_of(expression) if expression else {}).items():
        reach = max(session["graph reach"], float(np.max(np.abs(value))))
        live[name] = Live(value, -reach, reach, session["graph step"])
    _moving(current, expression, live)


@st.fragment
def _moving(current: PageState, expression: Expression | None, live: dict[str, Live]) -> None:
    """live: the inputs as they start anew from here; a drag changes them, and runs only this again."""
    session = st.session_state
    if session.pop("graph turned", False):  # the whole page shows another example
        st.rerun()
    said = st.container()  # always there, so that the player keeps its place on the page
    if expression is None:
        current.write(kept=["stage", "event"])
        return
    with current.fragment(kept=["stage", "event"]):
        values = live_values(PLAYER_KEY, live)
        _remember(values)
    _, last = session.get("graph played", (None, None))
    with said:
        recorded = _recorded(expression, values)
        if recorded is None and last is not None:
            st.caption("The player still shows what could be computed last.")
        with st.container(horizontal=True, vertical_alignment="center", key="graph engine line", gap="small"):
            st.markdown(INSTRUCTION, width=190)  # in two lines, so that all has room at 1024 pixels
            st.space("stretch")
            along = _direction(expression, values)
            if not along:
                choice.choose("graph", _change_engine, ENGINES)
                _simulate_error(recorded)
        broken = _by_broken_engine(expression, values, recorded) if recorded and not along else None
        if recorded and broken:
            _same(recorded, broken)
        yours = broken or (_by_own_engine(expression, values, recorded) if recorded and not along else None)
    departed = departure(recorded, broken) if recorded and broken else None
    if session.pop("graph engine news", False) and departed:
        session["graph stage"], session["graph event"] = "backward", departed.event + 1
        _open()
    if recorded is not None:
        session["graph played"] = expression, recorded
    trace = yours or recorded or last
    if trace is None:
        return
    # Where an input is detached, the result still changes with it: no gradient is to be held against that.
    labs = recorded is not None and yours is None and "detached" not in _changes(expression).values()
    shown = player(
        trace,
        key=PLAYER_KEY,
        live=live,
        build=expression if labs else None,  # what is checked and nudged there is the lab's engine
        checked=labs and not along,
        judged=expression if labs else None,
        title=expression.text,
        script=partial(_script, expression, values, trace),
        event=None if along and session["graph stage"] == "backward" else _count(trace, session["graph stage"]),
        opening=session["graph opening"],
        opened=session["graph event"],
        address="event",
        stage="stage",
        departure=departed,
        along=along,
        on_turn=_turn,
    )
    progress.done("topological-order", departed is not None and session["graph engine"] == "any-order")
    progress.note("graph progress")
    _in_pytorch(expression, values, recorded)
    if shown.failed:
        st.info(
            "The player could not be loaded. This is the plain drawing; choose it under **Inputs** to work with it."
        )
        st.graphviz_chart(
            draw(trace, shown.event, page.theme()), alt=f"The graph. As text:\n{trace.to_text(shown.event)}"
        )


def _in_pytorch(expression: Expression, values: dict[str, float | list], labs: Trace | None) -> None:
    """The same program in PyTorch, where the pass is one that a script of it would make."""
    if labs is None or labs.error or _changes(expression) or st.session_state["graph start"] not in (None, "sum"):
        return
    result, script = labs.nodes[labs.output]["value"], partial(_script, expression, values, labs)
    in_pytorch.beside("graph pytorch", expression, values, result, labs.gradients, script)


def _draw(expression: Expression | None) -> None:
    """The plain drawing, with controls of Streamlit's own."""
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        values = _inputs(expression) if expression else None
        _buttons(ready=values is not None)
    with picture:
        if expression and values is not None:
            _picture(expression, values)


def _picture(expression: Expression, values: dict[str, float | list]) -> None:
    trace = _recorded(expression, values)
    if trace is None:
        return
    stage = st.session_state["graph stage"]
    count = _count(trace, stage)
    drawing = draw(trace, count, page.theme())
    st.graphviz_chart(drawing, alt=f"The computation graph. As text:\n{trace.to_text(count)}")
    if stage == "none":
        st.caption("Boxes are inputs, ellipses operations, the double frame is the result. Press **Run forward pass**.")
        return
    _notes(expression, trace, stage)
    _twins(trace, count)
    _downloads(expression, values, trace, drawing.source)


def _recorded(expression: Expression, values: dict[str, float | list]) -> Trace | None:
    try:
        changes = _changes(expression)
        asked = expression.text, values, changes
        first = trace = memoize("graph", asked, lambda: attempt(expression, values, changes=changes))
        result = first.nodes[first.output]
        many = result["requires_grad"] and np.size(result["value"]) != 1
        if many:
            trace = _started(expression, values, first)
        _tell(changes, trace, waiting=many and trace is first)
        return trace
    except ExpressionError as error:
        expression_box.mistake(error)
        if error.__cause__ is not None:  # the text is a program, but an operation refused its operands
            st.caption("Whether an input is a number, a vector or a matrix is chosen under **Inputs**.")
    except (RuntimeError, ValueError) as error:  # no input takes part in the result, say
        st.warning(escape_markdown(str(error)))
    return None


def _tell(changes: dict[str, Change], trace: Trace, waiting: bool) -> None:
    """What was done to the inputs, and what came of it. waiting: for a gradient to start from."""

    def named(what: str) -> str:
        return ", ".join(f"`{name}`" for name, change in changes.items() if change == what)

    written = ", ".join(f"`{name}.data += 1`" for name, change in changes.items() if change == "written")
    sentences = [f"Constants, made with `requires_grad=False`: {named('constant')}."] if named("constant") else []
    if named("detached"):
        sentences.append(f"Cut off with `detach()`, so that no path leads back: {named('detached')}.")
    if written:
        sentences.append(f"Run between the passes: {written}.")
    if changes and trace.error and not waiting:
        error = f": {with_code(trace.error)}" if st.session_state["graph view"] == PLAIN else "."  # the ledger has it
        sentences.append(f"The engine refuses the backward pass{error}")
    elif written and not waiting:
        sentences.append("No backward step needs what was there before: the gradients are right all the same.")
    if sentences:
        st.markdown(" ".join(sentences))


def _started(expression: Expression, values: dict[str, float | list], refused: Trace) -> Trace:
    """The pass from a result of many numbers: what the engine says, and what the learner wants it to start from."""
    shape = np.shape(refused.nodes[refused.output]["value"])
    chosen = st.session_state["graph start"]
    with st.container(horizontal=True, vertical_alignment="center", key="graph start from"):
        if chosen is None:
            short = (
                f"`backward()` asks where to start: the result has {math.prod(shape)} numbers. The gradients are to be…"
            )
            said = short if st.session_state["graph view"] == PLAYER else escape_markdown(refused.error)
            st.markdown(said, width="content" if said == short else "stretch")  # the player's ledger has the rest
        else:
            of = f"the {chosen} of the result" if chosen in OFFERED else f"the upstream gradient {chosen}"
            st.markdown(f"The gradients are those of {of}.", width="stretch")
        for name, label in OFFERED.items():
            st.button(label, key=f"graph start {name}", on_click=_start_from, args=(name,), disabled=chosen == name)
        st.text_input(
            "Upstream gradient of your own",
            key="graph own start",
            on_change=_start_from_own,
            width=190,
            placeholder=f"your own: {brief(np.zeros(shape))}",
            label_visibility="collapsed",
        )
        if chosen is not None:
            st.button("None", key="graph start none", on_click=_start_from, args=(None,))
    if mistake := st.session_state.pop("graph start mistake", ""):
        st.warning(escape_markdown(mistake))
    if chosen is None:
        return refused
    try:
        upstream = starting_gradients(shape)[chosen] if chosen in OFFERED else np.array(json.loads(chosen))
        return attempt(expression, values, upstream, _changes(expression))
    except ValueError as error:  # of another shape
        st.warning(escape_markdown(str(error)))
        return refused


def _start_from(chosen: str | None) -> None:
    st.session_state["graph start"] = chosen


def _start_from_own() -> None:
    try:
        st.session_state["graph start"] = _start(st.session_state["graph own start"])
    except ValueError as error:
        st.session_state["graph start mistake"] = str(error)


def _count(trace: Trace, stage: str) -> int:
    """How many events have happened at a stage."""
    return {"none": 0, "forward": trace.forward_events, "backward": len(trace.events)}[stage]


def _notes(expression: Expression, trace: Trace, stage: str) -> None:
    for sentence in explain(trace) if stage != "none" else []:
        st.warning(sentence, icon=":material/warning:")
    if stage == "backward":
        _gradients(expression, trace)


def _gradients(expression: Expression, trace: Trace) -> None:
    """Each leaf's gradient beside a numerical one: the result is computed again with the input moved a little."""
    checked, left_out = check(trace, expression)
    if not checked:
        return
    constants = {node["label"] for node in trace.nodes if not node["requires_grad"]}
    rows = [
        (
            row.name,
            brief(row.value),
            "none" if row.analytic is None else brief(row.analytic),
            _differences(row),
            "constant" if row.name in constants else _agreement(row),
        )
        for row in checked
    ]
    st.markdown("**Gradients of the inputs, checked numerically**")
    st.markdown(markdown_table(["input", "value", "gradient", "numeric", "agree"], rows))
    for slope in [slope for row in checked for slope in row.remarks][:REMARKS]:
        st.caption(escape_markdown(slope.sentence))
    if left_out:
        st.caption(left_out)


def _differences(row: NumericalCheck) -> str:
    if row.numerical is None:
        return "–"
    if np.ndim(row.value) == 0 and row.slopes and not row.slopes[0].has_derivative:
        return ", ".join(row.slopes[0].side_texts) if row.slopes[0].has_value else "–"
    return brief(row.numerical)


def _agreement(row: NumericalCheck) -> str:
    if row.analytic is None:
        return "no path"
    kinds = {slope.kind for slope in row.remarks if not slope.has_derivative}
    if kinds:
        return "no derivative" if row.agrees is None else f"{'✓' if row.agrees else '✗'}, not everywhere"
    return {True: "✓", False: "✗", None: "–"}[row.agrees]


def _twins(trace: Trace, count: int | None) -> None:
    with st.expander("The graph as a table and as text"):
        rows = table(trace, count)
        st.markdown(markdown_table(list(rows[0]), [list(row.values()) for row in rows]))
        st.code(trace.to_text(count), language=None)


def _downloads(expression: Expression, values: dict[str, float | list], trace: Trace, dot_source: str) -> None:
    with st.popover("Download", icon=":material/download:"):
        st.download_button("Drawing (DOT)", dot_source, "graph.dot", "text/vnd.graphviz", width="stretch")
        if shutil.which("dot"):
            svg = lambda: draw(trace, theme="light").pipe("svg")  # noqa: E731 (drawn only when asked for)
            st.download_button("Drawing (SVG)", svg, "graph.svg", "image/svg+xml", width="stretch")
        st.download_button("Trace (JSON)", trace.to_json, "trace.json", "application/json", width="stretch")
        st.download_button(
            "Python script",
            _script(expression, values, trace),
            "experiment.py",
            "text/x-python",
            width="stretch",
            help="Runs beside model.py.",
        )


def _script(expression: Expression, values: dict[str, float | list], trace: Trace) -> str:
    upstream = next((event["grad"] for event in trace.events if event["kind"] == "seed"), None)
    return experiment(expression, values, _changes(expression), upstream)


main()
