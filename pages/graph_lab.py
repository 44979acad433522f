"""Graph lab: numbers in, the graph of a real forward and backward pass out."""

import json
import math
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.builder import Expression, parse
from lab.gradcheck import numerical_gradient
from lab.trace.derive import table
from lab.trace.dot import draw
from lab.trace.nonfinite import explain
from lab.trace.recording import Trace, brief, record
from lab.ui import page
from lab.ui.player import Live, live_values, player
from lab.ui.table import markdown_table

PRESETS = json.loads((Path(__file__).parents[1] / "assets/presets.json").read_text(encoding="utf-8"))
OWN = "Your own expression"
STAGES = ("none", "forward", "backward")
PLAYER, PLAIN = "player", "plain"
PLAYER_KEY = "graph lab player"
LIMIT = 1000.0  # of a number on a slider's scale, either way
STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
SHAPES = ("number", "vector", "matrix")


def main() -> None:
    page.opening(
        "Graph lab",
        "Choose an expression and set its inputs. **Run forward pass** computes the values from the inputs down; "
        "**Run backward pass** sends gradients back up. Look for the :orange[orange] numbers: they tell how fast the "
        "result grows when that input grows.",
    )
    _start()
    if st.session_state.view == PLAYER:
        left, right = st.columns([2, 3], gap="large")
        with right:
            expression = _parsed(_text())
        with left:
            _example()
            if expression:
                _settings(expression, _values_of(expression))
        left, right = st.columns([2, 1], gap="large")
        with left:
            _buttons(ready=expression is not None)
        with right:
            _view()
        if expression:
            # The player's inputs start anew from here; while one is dragged, only `_play` runs and this stays.
            st.session_state["starts"] = _values_of(expression)
        _play(expression)
    else:
        controls, picture = st.columns([2, 3], gap="large")
        with controls:
            _example()
            expression = _parsed(_text())
            values = _inputs(expression) if expression else None
            _buttons(ready=values is not None)
            _view()
        with picture:
            if values is not None:
                _picture(expression, values)
    page.closing(
        "Choose the expression in which a is used twice and find two messages that add up to a's gradient. "
        "Then set an input so that relu blocks the gradient.",
        "pages/simulate_error.py",
        "Next: break a backward pass with a single write",
    )


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _start() -> None:
    """What the address asks for, on the first run of a session."""
    if "stage" in st.session_state:
        return
    first = PRESETS[2]
    text = page.from_address("expression", first["text"], _limited)
    preset = next((p for p in PRESETS if p["text"] == text), None)
    st.session_state.preset = preset["name"] if preset else OWN
    st.session_state.expression = text
    st.session_state["inputs"] = dict(preset["values"]) if preset else {}
    for key in [key for key in st.query_params if key.startswith("in_")]:
        name = key.removeprefix("in_")
        value = page.from_address(key, None, _value)
        if value is not None:
            st.session_state["inputs"][name] = value
    st.session_state.stage = page.from_address("stage", "none", page.one_of(*STAGES))
    st.session_state.view = page.from_address("view", PLAYER, page.one_of(PLAYER, PLAIN))
    st.session_state.opened_at = page.from_address("event", None, int)


def _limited(text: str) -> str:
    if len(text) > 2000:
        raise ValueError("longer than an expression may be")
    return text


def _value(text: str) -> float | list:
    """A number, a vector or a matrix as JSON: [[1, 2], [3, 4]]. ValueError says what is wrong."""
    try:
        array = np.array(json.loads(text), dtype=float)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(
            "Write a number, or a vector such as [1, 2], or a matrix with rows of one length: [[1, 2], [3, 4]]."
        ) from None
    if array.ndim > 2 or not 1 <= array.size <= 100:
        raise ValueError("An input has at most two axes and between 1 and 100 elements.")
    if not np.all(np.abs(array) <= 1e6):
        raise ValueError("Each element must be a number between -1,000,000 and 1,000,000.")
    return array.tolist()


def _choose_preset() -> None:
    preset = next((p for p in PRESETS if p["name"] == st.session_state.preset), None)
    if preset:
        st.session_state.expression = preset["text"]
        st.session_state["inputs"] = dict(preset["values"])
        for key in [key for key in st.session_state if str(key).startswith("leaf ")]:
            del st.session_state[key]
    st.session_state.stage = "none"


def _edit_expression() -> None:
    preset = next((p for p in PRESETS if p["text"] == st.session_state.expression), None)
    st.session_state.preset = preset["name"] if preset else OWN
    with suppress(ExpressionError):  # a slip of the keyboard takes nothing away
        parse(st.session_state.expression)
        st.session_state.stage = "none"


# ---------------------------------------------------------------- controls


def _example() -> None:
    names = [*(p["name"] for p in PRESETS), OWN]
    st.selectbox("Example", names, key="preset", persist_state="session", on_change=_choose_preset)


def _text() -> str:
    return st.text_area(
        "Expression",
        key="expression",
        on_change=_edit_expression,
        persist_state="session",
        height=100,
        help="Lines such as `h = a*b`, the last one is the result. Functions: sin, exp, log, tanh, relu, sum, max, … "
        "Methods: x.relu(), x.sum(axis=0). Each name that no line defines gets an input below.",
    )


def _parsed(text: str) -> Expression | None:
    try:
        expression = parse(text)
    except ExpressionError as error:
        _show_mistake(error)
        return None
    page.to_address(expression=text)
    return expression


def _view() -> None:
    chosen = st.segmented_control(
        "Picture",
        [PLAYER, PLAIN],
        format_func={PLAYER: "Player", PLAIN: "Plain drawing"}.get,
        key="view",
        persist_state="session",
        required=True,
        label_visibility="collapsed",
        width="stretch",
    )
    page.to_address(view=None if chosen == PLAYER else chosen)


def _show_mistake(error: ExpressionError) -> None:
    st.error(error.message.replace("$", "\\$"))
    if error.text:
        st.code(error.marked.partition("\n\n")[2], language=None)


def _values_of(expression: Expression) -> dict[str, float | list]:
    """The values that the inputs start from, before the learner moves them."""
    return {name: st.session_state["inputs"].get(name, 1.0) for name in expression.names}


def _inputs(expression: Expression) -> dict[str, float | list] | None:
    """A slider with a number entry for each number, a text field for each vector or matrix."""
    stored = _values_of(expression)
    values = {
        name: _slider(name, start) if isinstance(start, (int, float)) else _array_entry(name, start)
        for name, start in stored.items()
    }
    _settings(expression, stored)
    if None in values.values():
        return None
    _keep(values)
    return values


def _settings(expression: Expression, values: dict[str, float | list]) -> None:
    with st.popover("Inputs: range, step, shape", icon=":material/tune:"):
        st.number_input(
            "Sliders go from minus this to plus this", 1.0, LIMIT, 10.0, key="reach", persist_state="session"
        )
        st.select_slider("Step of the sliders", STEPS, 0.1, key="step", persist_state="session")
        for name in expression.names:
            shape = SHAPES[np.ndim(values[name])]
            key = f"leaf {name} shape"
            chosen = st.segmented_control(f"Shape of {name}", list(SHAPES), default=shape, key=key, required=True)
            if chosen != shape:
                example = {"number": 1.0, "vector": [1, 2], "matrix": [[1, 2], [3, 4]]}[chosen]
                st.session_state["inputs"] = {**values, name: example}
                st.rerun()


def _keep(values: dict[str, float | list]) -> None:
    """Remember the values, in the session and in the address. A name that is typed again finds its value again."""
    st.session_state["inputs"] = {**st.session_state["inputs"], **values}
    page.to_address(**{f"in_{name}": json.dumps(value) for name, value in values.items()})
    for key in [key for key in st.query_params if key.startswith("in_") and key[3:] not in values]:
        page.to_address(**{key: None})


def _slider(name: str, start: float) -> float:
    reach, step = st.session_state.get("reach", 10.0), st.session_state.get("step", 0.1)
    if abs(start) > reach:  # from a link, say: a round number, so that it stays while the slider moves
        reach = 10.0 ** math.ceil(math.log10(abs(start)))
    state = st.session_state
    # With another range they are other widgets. The page writes into neither of them after its first run: a value from
    # here would undo what the hand has done in the meantime.
    slider, entry = (f"leaf {name} {kind} {reach} {step}" for kind in ("slider", "number"))
    state.setdefault(slider, float(start))
    state.setdefault(entry, float(start))

    def copy(of: str, to: str) -> None:
        state[to] = state[of]

    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        value = st.slider(name, -reach, reach, step=step, key=slider, on_change=copy, args=(slider, entry))
    with right:
        st.number_input(
            f"{name}, exactly", -reach, reach, step=step, key=entry, on_change=copy, args=(entry, slider),
            label_visibility="collapsed",
        )  # fmt: skip
    return value


def _array_entry(name: str, start: list) -> list | None:
    key = f"leaf {name} array"
    st.session_state.setdefault(key, json.dumps(start))
    text = st.text_input(f"{name} ({'vector' if np.ndim(start) == 1 else 'matrix'})", key=key)
    try:
        return _value(text)
    except ValueError as error:
        st.error(f"{name}: {error}")
        return None


def _buttons(ready: bool) -> None:
    def go(stage: str) -> None:
        st.session_state.stage = stage
        st.session_state.opened_at = None

    stage = st.session_state.stage
    done, next_one = ":material/check:", ":material/play_arrow:"
    left, right = st.columns(2)
    # One type for all stages: a button that changed its type would lose the keyboard's focus.
    left.button(
        "Run forward pass",
        type="primary",
        icon=next_one if stage == "none" else done,
        on_click=go,
        args=("forward",),
        disabled=not ready,
        width="stretch",
    )
    right.button(
        "Run backward pass",
        type="primary",
        icon=done if stage == "backward" else next_one,
        on_click=go,
        args=("backward",),
        disabled=not ready or stage == "none",
        width="stretch",
        help="Runs after the forward pass." if stage == "none" else None,
    )
    page.to_address(stage=None if stage == "none" else stage)


# ---------------------------------------------------------------- the picture and its twins


@st.fragment
def _play(expression: Expression | None) -> None:
    """The player, with the inputs in it. While an input is dragged, only this part of the page runs.

    Where the text cannot be read or its values cannot be computed, the player stays with what it showed last.
    """
    said = st.container()  # always there, so that the player keeps its place on the page
    last_expression, last_trace = st.session_state.get("played", (None, None))
    expression = expression or last_expression
    if expression is None:
        return
    live = {}
    for name, value in st.session_state["starts"].items():
        reach = max(st.session_state.get("reach", 10.0), float(np.max(np.abs(value))))
        live[name] = Live(value, -reach, reach, st.session_state.get("step", 0.1))
    values = live_values(PLAYER_KEY, live)
    _keep(values)
    with said:
        computed = _recorded(expression, values)
        if computed is None and last_trace is not None:
            st.caption("The player still shows what could be computed last.")
    if computed is not None:
        st.session_state["played"] = expression, computed
    trace = computed or last_trace
    if trace is None:
        return
    stage = st.session_state.stage
    count = st.session_state.opened_at
    st.html('<h2 class="for-readers">The pass, event by event</h2>')  # above the headings of the player
    shown = player(
        trace,
        key=PLAYER_KEY,
        live=live,
        build=expression if computed else None,
        script=_script(expression, values),
        event=_count(trace, stage) if count is None else count,
        address="event",
    )
    if shown.failed:
        st.info("The player could not be loaded. This is the plain drawing; its inputs are under “Plain drawing”.")
        st.graphviz_chart(
            draw(trace, shown.event, page.theme()), alt=f"The graph. As text:\n{trace.to_text(shown.event)}"
        )
    if computed:
        _notes(expression, values, trace, stage)


def _picture(expression: Expression, values: dict[str, float | list]) -> None:
    trace = _recorded(expression, values)
    if trace is None:
        return
    stage = st.session_state.stage
    count = _count(trace, stage)
    drawing = draw(trace, count, page.theme())
    st.graphviz_chart(drawing, alt=f"The computation graph. As text:\n{trace.to_text(count)}")
    if stage == "none":
        st.caption("Boxes are inputs, ellipses operations, the double frame is the result. Press **Run forward pass**.")
        return
    _notes(expression, values, trace, stage)
    _twins(trace, count)
    _downloads(expression, values, trace, drawing.source)


def _recorded(expression: Expression, values: dict[str, float | list]) -> Trace | None:
    try:
        return record(expression, values)
    except ExpressionError as error:
        _show_mistake(error)
    except RuntimeError as error:  # the result is a leaf, or no input takes part in it
        st.warning(str(error))
    return None


def _count(trace: Trace, stage: str) -> int:
    """How many events have happened at a stage."""
    return {"none": 0, "forward": trace.forward_events, "backward": len(trace.events)}[stage]


def _notes(expression: Expression, values: dict[str, float | list], trace: Trace, stage: str) -> None:
    for sentence in explain(trace) if stage != "none" else []:
        st.warning(sentence, icon=":material/warning:")
    if stage == "backward":
        _gradients(expression, values, trace)


def _gradients(expression: Expression, values: dict[str, float | list], trace: Trace) -> None:
    """Each leaf's gradient beside a numerical one: the result is computed again with the input moved a little."""
    rows = []
    for name in expression.names:
        analytic = trace.gradients[name]
        numerical = numerical_gradient(lambda x, name=name: expression(**{**values, name: x}).sum(), values[name])
        if analytic is None:
            rows.append((name, brief(values[name]), "none", brief(numerical), "no path"))
            continue
        agree = np.allclose(analytic, numerical, rtol=1e-5, atol=1e-7, equal_nan=True)
        verdict = "✓" if agree else "✗"
        rows.append((name, brief(values[name]), brief(analytic), brief(numerical), verdict))
    st.markdown("**Gradients of the inputs, checked numerically**")
    st.markdown(markdown_table(["input", "value", "gradient", "numeric", "agree"], rows))
    if any(row[-1] == "✗" for row in rows):
        st.caption("✗: the two differ. A kink (relu at 0, a tie) or a value that is not finite can be the cause.")


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
            "Python script", _script(expression, values), "experiment.py", "text/x-python", width="stretch",
            help="Runs beside model.py.",
        )  # fmt: skip


def _script(expression: Expression, values: dict[str, float | list]) -> str:
    result = expression.result_name
    prints = [f'print("gradient of {name}:", {name}.grad)' for name in expression.names]
    last = [f'print("{result} =", {result}.numpy())', f"{result}.sum().backward()", *prints]
    return expression.to_python(**values) + "\n".join(last) + "\n"


main()
