"""The inputs of the Graph lab: their values, changes to them, and the stage that the passes are at."""

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.parser import Expression, parse
from lab.trace.recording import Change
from lab.ui import binding, expression_box
from lab.ui.memoize import memoize
from lab.ui.widgets import pick, switch

STAGES = ("none", "forward", "backward")
EXAMPLES = {"number": 1.0, "vector": [1, 2], "matrix": [[1, 2], [3, 4]]}  # with 0, 1 and 2 axes
SHAPES = tuple(EXAMPLES)
CHANGES = {  # what the learner can do to an input before the backward pass
    "": "as it is",
    "constant": "requires_grad=False",
    "detached": "detach()",
    "written": "written to between the passes",
}


LEAVES = binding.HeldDict("graph-leaf_", {}, binding.one_of(*filter(None, CHANGES)))
STAGE = binding.choice("graph-stage", *STAGES, written=False)
EVENT = binding.HeldValue("graph-event", None, binding.natural, written=False)


def parsed() -> Expression | ExpressionError:
    """Parse the text, once as long as it stays the same; return the error if it is not an expression."""
    text = st.session_state["graph-expression"]

    def found() -> Expression | ExpressionError:
        try:
            return parse(text)
        except ExpressionError as error:
            return error

    return memoize("graph parsed", text, found)


def values_of(expression: Expression) -> dict[str, float | list]:
    """Return the initial values of the inputs, which the learner has not moved yet."""
    return expression_box.initial_values(expression, st.session_state["graph remembered"])


def remember(expression: Expression, values: dict[str, float | list]) -> None:
    """Keep the values of the inputs, in the address only if they are not those that the expression begins with."""
    known: dict[str, float | list] = next(
        (preset["values"] for preset in expression_box.presets() if preset["text"] == expression.text), {}
    )
    is_new = values == expression_box.initial_values(expression, known)
    st.session_state["graph-in_"] = {} if is_new else values
    st.session_state["graph remembered"] = st.session_state["graph remembered"] | values


def changes(expression: Expression) -> dict[str, Change]:
    """Return the changes to the inputs that the expression has, by name."""
    changes: dict[str, Change] = st.session_state["graph-leaf_"]
    return {name: change for name, change in changes.items() if name in expression.names}


def go(stage: str) -> None:
    """Go to a stage of the passes, and leave the event that a link asked for."""
    st.session_state["graph-stage"] = stage
    st.session_state["graph-event"] = None
    open_player()


def open_player() -> None:
    """Move the player to the stage and event in the session, wherever it is now."""
    st.session_state["graph opening"] = st.session_state.get("graph opening", 0) + 1


def settings() -> None:
    """Draw the settings of each input in a popover; they exist only while it is open."""
    box = st.popover("Inputs", icon=":material/tune:", key="graph settings", on_change="rerun")
    expression = parsed()
    if not box.open or isinstance(expression, ExpressionError):
        return
    with box:
        for name, value in values_of(expression).items():
            key = f"leaf {name} shape"
            st.session_state[key] = SHAPES[np.ndim(value)]
            switch(f"Shape of {name}", SHAPES, key, on_change=_reshape, args=(name,))
            key = f"leaf {name} change"
            st.session_state[key] = st.session_state["graph-leaf_"].get(name, "")
            pick(f"What is done to {name}", CHANGES, key, on_change=_change, args=(name,))


def _change(name: str) -> None:
    """Change what is done to an input, and go to the end of the backward pass, where the effect shows."""
    binding.step()
    changed = st.session_state["graph-leaf_"] | {name: st.session_state[f"leaf {name} change"]}
    st.session_state["graph-leaf_"] = {name: change for name, change in changed.items() if change}
    go("backward")


def _reshape(name: str) -> None:
    example = EXAMPLES[st.session_state[f"leaf {name} shape"]]
    st.session_state["graph remembered"] = st.session_state["graph remembered"] | {name: example}
