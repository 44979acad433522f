"""Records the Graph lab's passes, shows what the engine says about them, and asks for the starting gradient."""

import math

import numpy as np
import streamlit as st

from lab.expression import ExpressionError
from lab.expression.parser import Expression
from lab.text import brief
from lab.trace.recording import Change, Trace, attempt, starting_gradients
from lab.trace.script import experiment
from lab.traps import MutationError, detect_mutation
from lab.ui import expression_box
from lab.ui.memoize import memoize
from lab.ui.table import with_code
from lab.ui.widgets import row
from pages.parts.graph import inputs

DONE: dict[Change, str] = {
    "constant": "`{0}` is made with `requires_grad=False`.",
    "detached": "`{0}` is cut off with `detach()`: no path leads back.",
    "written": "Between the passes, `{0}.data += 1` runs.",
}


def recorded_pass(expression: Expression, values: dict[str, float | list]) -> Trace | None:
    """Record the passes of an expression and show what there is to say about them; None after an error."""
    try:
        changes = inputs.changes(expression)
        asked = expression.text, values, changes
        first = trace = memoize("graph", asked, lambda: _attempt(expression, values, None, changes))
        result = first.nodes[first.output]
        many = result["requires_grad"] and np.size(result["value"]) != 1
        if many:
            trace = _started(expression, values, first)
        _tell(changes, trace, needs_start=many and trace is first)
        return trace
    except ExpressionError as error:
        expression_box.mistake(error)
        if error.__cause__ is not None:  # it was parsed, but an operation refused its operands
            st.caption("Whether an input is a number, a vector or a matrix is chosen under **Inputs**.")
    except (RuntimeError, ValueError) as error:  # for example because no input takes part in the result
        st.warning(with_code(str(error)))
    return None


def _tell(changes: dict[str, Change], trace: Trace, needs_start: bool) -> None:
    """Say what was done to the inputs, and the effect. needs_start: the pass still needs a starting gradient."""
    sentences = [DONE[change].format(name) for name, change in changes.items()]
    if changes and trace.error and not needs_start:
        sentences.append("The engine refuses the backward pass.")  # the player's ledger says why
    elif "written" in changes.values() and not needs_start:
        sentences.append("No backward step needs the overwritten numbers, so the gradients are still right.")
    if sentences:
        st.markdown(" ".join(sentences))


def _started(expression: Expression, values: dict[str, float | list], refused: Trace) -> Trace:
    """Ask where to start the pass from a result of many numbers, and record it; `refused` until there is an answer."""
    shape = np.shape(refused.nodes[refused.output]["value"])
    offered = starting_gradients(shape)
    with row(key="graph start from"):
        asks = f"The result has {math.prod(shape)} numbers, so `backward()` asks where to start: the gradients of its"
        st.markdown(asks, width="content")
        chosen = st.segmented_control(
            "Start from", [*offered], key="graph-start", bind="query-params", label_visibility="collapsed"
        )
        own = st.text_input(
            "Upstream gradient of your own",
            key="graph-upstream",
            bind="query-params",
            width=190,
            placeholder=f"your own: {brief(np.zeros(shape))}",
            label_visibility="collapsed",
        )
    try:
        if own:
            upstream = np.array(expression_box.value(own))
        elif chosen:
            upstream = offered[chosen]
        else:
            return refused
        return _attempt(expression, values, upstream, inputs.changes(expression))
    except ValueError as error:  # not a number, or of another shape
        st.warning(with_code(str(error)))
        return refused


def _attempt(
    expression: Expression, values: dict[str, float | list], upstream: np.ndarray | None, changes: dict[str, Change]
) -> Trace:
    """Record a pass; where an input is written to, on an engine that detects writes."""
    if "written" not in changes.values():
        return attempt(expression, values, upstream, changes)
    with detect_mutation() as watched:
        return attempt(expression, values, upstream, changes, tensor=watched, refusals=(MutationError,))


def event_count(trace: Trace, stage: str) -> int:
    """Return the number of events that have happened at a stage."""
    return {"none": 0, "forward": trace.forward_events, "backward": len(trace.events)}[stage]


def script(expression: Expression, values: dict[str, float | list], trace: Trace) -> str:
    """Write the experiment as a Python program."""
    upstream = next((event["grad"] for event in trace.events if event["kind"] == "seed"), None)
    return experiment(expression, values, inputs.changes(expression), upstream)
