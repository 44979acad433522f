"""The inputs of the Graph lab: their values, changes to them, and the stage that the passes are at."""

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.parser import Expression, parse
from lab.trace.recording import Change
from lab.ui import address, expression_box, state
from lab.ui.address import Field, PrefixField
from lab.ui.memoize import memoize
from lab.ui.widgets import pick, switch

STAGES = ("none", "forward", "backward")
STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
EXAMPLES = {"number": 1.0, "vector": [1, 2], "matrix": [[1, 2], [3, 4]]}  # with 0, 1 and 2 axes
SHAPES = tuple(EXAMPLES)
CHANGES = {  # what the learner can do to an input before the backward pass
    "": "as it is",
    "constant": "requires_grad=False",
    "detached": "detach()",
    "written": "written to between the passes",
}


REACH = Field("reach", "graph reach", 10.0, float, address.number, (1.0, 1000.0))
LEAVES = PrefixField("leaf_", "graph leaves", {}, address.one_of(*filter(None, CHANGES)))
STAGE = Field("stage", "graph stage", "none", address.one_of(*STAGES))
SETTINGS = (
    REACH,
    Field("step", "graph step", 0.1, address.number_of(*STEPS), address.number),
)


def parsed() -> Expression | ExpressionError:
    """Parse the text, once as long as it stays the same; return the error if it is not an expression."""
    text = st.session_state["graph expression"]

    def found() -> Expression | ExpressionError:
        try:
            return parse(text)
        except ExpressionError as error:
            return error

    return memoize("graph parsed", text, found)


def readable(found: Expression | ExpressionError) -> Expression | None:
    """Return an expression, or None for an error."""
    return found if isinstance(found, Expression) else None


def values_of(expression: Expression) -> dict[str, float | list]:
    """Return the initial values of the inputs, which the learner has not moved yet."""
    return expression_box.initial_values(expression, st.session_state["graph remembered"])


def remember(values: dict[str, float | list]) -> None:
    st.session_state["graph inputs"] = values
    st.session_state["graph remembered"] = st.session_state["graph remembered"] | values


def changes(expression: Expression) -> dict[str, Change]:
    """Return the changes to the inputs that the expression has, by name."""
    changes: dict[str, Change] = st.session_state["graph leaves"]
    return {name: change for name, change in changes.items() if name in expression.names}


def go(stage: str) -> None:
    """Go to a stage of the passes, and leave the event that a link asked for."""
    st.session_state["graph stage"] = stage
    st.session_state["graph event"] = None
    open_player()


def open_player() -> None:
    """Move the player to the stage and event in the session, wherever it is now."""
    st.session_state["graph opening"] = st.session_state.get("graph opening", 0) + 1


def settings(expression: Expression | None) -> None:
    """Draw the settings in a popover, whose widgets exist only while it is open."""
    box = st.popover("Inputs", icon=":material/tune:", key="graph settings", on_change="rerun")
    if not box.open:
        return
    with box:
        st.number_input("Sliders go from minus this number to plus this number", *REACH.limits, key="graph reach")
        st.select_slider("Step of the sliders", STEPS, key="graph step")
        for name, value in (values_of(expression) if expression else {}).items():
            key = f"leaf {name} shape"
            st.session_state[key] = SHAPES[np.ndim(value)]
            switch(f"Shape of {name}", SHAPES, key, on_change=_reshape, args=(name,))
            key = f"leaf {name} change"
            st.session_state[key] = st.session_state["graph leaves"].get(name, "")
            pick(f"What is done to {name}", CHANGES, key, on_change=_change, args=(name,))


def _change(name: str) -> None:
    """Change what is done to an input, and go to the end of the backward pass, where the effect shows."""
    state.step()
    changed = st.session_state["graph leaves"] | {name: st.session_state[f"leaf {name} change"]}
    st.session_state["graph leaves"] = {name: change for name, change in changed.items() if change}
    go("backward")


def _reshape(name: str) -> None:
    example = EXAMPLES[st.session_state[f"leaf {name} shape"]]
    remember(st.session_state["graph inputs"] | {name: example})
