"""The inputs of the Graph lab's expression: their values, what is done to them, and how far the passes have gone."""

import math

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.builder import Expression, parse
from lab.trace.recording import Change
from lab.ui import address, expression_box, state
from lab.ui.address import Field, PrefixField

STAGES = ("none", "forward", "backward")
PLAYER = "player"
PLAIN = "plain"
STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
EXAMPLES = {"number": 1.0, "vector": [1, 2], "matrix": [[1, 2], [3, 4]]}  # in the order of their numbers of axes
SHAPES = tuple(EXAMPLES)
CHANGES = {  # what may be done to an input before the backward pass
    "": "as it is",
    "constant": "requires_grad=False",
    "detached": "detach()",
    "written": "written to between the passes",
}


def _step(text: str) -> float:
    return STEPS[STEPS.index(float(text))]


REACH = Field("reach", "graph reach", 10.0, float, address.number, (1.0, 1000.0))
LEAVES = PrefixField("leaf_", "graph leaves", {}, address.one_of(*filter(None, CHANGES)))
STAGE = Field("stage", "graph stage", "none", address.one_of(*STAGES))
SETTINGS = (
    Field("view", "graph view", PLAYER, address.one_of(PLAYER, PLAIN)),
    REACH,
    Field("step", "graph step", 0.1, _step, address.number),
)


def parsed() -> Expression | ExpressionError:
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


def readable(found: Expression | ExpressionError) -> Expression | None:
    """What was read, or None where the text is no expression."""
    return found if isinstance(found, Expression) else None


def values_of(expression: Expression) -> dict[str, float | list]:
    """The values that the inputs start from, before the learner moves them."""
    return {name: st.session_state["graph remembered"].get(name, 1.0) for name in expression.names}


def remember(values: dict[str, float | list]) -> None:
    st.session_state["graph inputs"] = values
    st.session_state["graph remembered"] = st.session_state["graph remembered"] | values


def forget_widgets(name: str = "") -> None:
    """The widgets of one input, or of all, begin with its value again."""
    for key in [key for key in st.session_state if str(key).startswith(f"leaf {name} ".rstrip() + " ")]:
        del st.session_state[key]


def changes(expression: Expression) -> dict[str, Change]:
    """What is done to the inputs that the expression has."""
    changes: dict[str, Change] = st.session_state["graph leaves"]
    return {name: change for name, change in changes.items() if name in expression.names}


def go(stage: str) -> None:
    """To a stage of the passes, and so away from the event that a link asked for."""
    st.session_state["graph stage"] = stage
    st.session_state["graph event"] = None
    open_player()


def open_player() -> None:
    """The player goes where the stage and the event say, wherever it is now."""
    st.session_state["graph opening"] = st.session_state.get("graph opening", 0) + 1


def settings(expression: Expression | None) -> None:
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
        for name, value in (values_of(expression) if expression else {}).items():
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


def _change_view() -> None:
    """The plain drawing goes on where the player is, which only the address says: at the end of a pass."""
    if st.session_state["graph view"] != PLAIN:
        return
    asked = st.query_params.to_dict()
    stage = STAGE.read(asked)[0]
    if "event" in asked:  # so this pass has not ended
        stage = STAGES[max(0, STAGES.index(stage) - 1)]
    go(stage)


def _change(name: str) -> None:
    """Another thing is done to an input: it shows once the backward pass has run, or was refused."""
    state.step()
    changed = st.session_state["graph leaves"] | {name: st.session_state[f"leaf {name} change"]}
    st.session_state["graph leaves"] = {name: change for name, change in changed.items() if change}
    go("backward")


def _reshape(name: str) -> None:
    example = EXAMPLES[st.session_state[f"leaf {name} shape"]]
    remember(st.session_state["graph inputs"] | {name: example})
    forget_widgets(name)


def entries(expression: Expression) -> dict[str, float | list] | None:
    """A slider with a number entry for each number, a text field for each vector or matrix."""
    values = {
        name: _slider(name, start)
        if isinstance(start, (int, float))
        else expression_box.array_entry(name, start, f"leaf {name} array")
        for name, start in values_of(expression).items()
    }
    found = {name: value for name, value in values.items() if value is not None}
    if len(found) < len(values):
        return None
    remember(found)
    return found


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
