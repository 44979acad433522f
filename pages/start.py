"""Start: the first gradient, what else the lab is for, and the path through it."""

import streamlit as st

from lab.expression.parser import Expression, parse
from lab.lessons.cards import BY_KEY
from lab.text import numeral
from lab.trace.recording import Trace, record
from lab.ui import binding, page, progress
from lab.ui.memoize import memoize
from lab.ui.player import LIMIT, Live, live_values, player
from lab.ui.terms import prose
from lab.ui.widgets import row
from pages.parts import path

TEXT = "a*b + c"
START = {"a": 2.0, "b": -3.0, "c": 10.0}
REACH = 10.0  # of a slider; a number that is typed may be larger
PLAYER = "start player"
ANSWERS = (START["b"], 0.0, 1.0)  # to "Set b to 0. What is a's gradient?": the old b, b, the starting gradient


def _input(text: str) -> float:
    number = float(text)
    if not abs(number) <= LIMIT:  # False for nan, too
        raise ValueError(text)
    return number


INPUTS = binding.HeldDict("start-in_", {}, _input, binding.number)
STAGE = binding.choice("start-stage", "forward", "none", "backward", written=False)
EVENT = binding.HeldValue("start-event", None, binding.natural, written=False)


def main() -> None:
    with page.frame("", INPUTS, STAGE, EVENT) as arrived:
        if arrived:
            _begin()
        with row(gap="xxsmall"):
            st.title("Where does a gradient come from?", width="content")
            page.link_to("pages/graph_lab.py", "Paste a program", "code", {"kind": "Your program"})
        prose(
            "Drag *a* up a little on its card. How much does *out* move, and why? **Run backward pass** answers with "
            "the [[gradient]] of *a*, message by message."
        )
        path.show_assignment()
        _first_gradient()
        _stories()
        st.subheader("The path", anchor="path")
        path.show()
        progress.done("first-gradient")
        page.closing(
            "Set b to 0 and drag a: does out still move?",
            "pages/graph_lab.py",
            "Next: the same for an expression of your own",
        )


def _begin() -> None:
    """Set the inputs and the player to the state in the address."""
    session = st.session_state
    values = {name: session["start-in_"].get(name, value) for name, value in START.items()}
    reach = {name: max(REACH, abs(value)) for name, value in values.items()}
    session["start live"] = {name: Live(value, -reach[name], reach[name]) for name, value in values.items()}
    session["start opening"] = session.get("start opening", 0) + 1


@st.fragment
def _first_gradient() -> None:
    session = st.session_state
    live = session["start live"]
    values = live_values(PLAYER, live)
    session["start-in_"] = {} if values == START else values
    binding.write(INPUTS)  # before the player, which adds its event to the new address
    expression, trace = memoize("start", values, lambda: _recorded(values))
    reached = {"none": 0, "forward": trace.forward_events, "backward": len(trace.events)}[session["start-stage"]]
    player(
        trace,
        key=PLAYER,
        live=live,
        event=reached,
        opening=session["start opening"],
        opened=session["start-event"],
        address="start-event",
        stage="start-stage",
        usualStage="forward",
        compact=True,
        judged=expression,
    )
    _question(expression, values)


def _question(expression: Expression, values: dict[str, float | list]) -> None:
    """Ask one question about the pass, and judge the answer by running the engine."""
    with row(gap="small", key="start question line"):
        st.markdown("**Set b to 0. What is a's gradient?**", width="content")
        guess = st.segmented_control(
            "a's gradient",
            ANSWERS,
            format_func=numeral,
            key="start-guess",
            bind="query-params",
            label_visibility="collapsed",
            width="content",
        )
        if guess is not None:
            gradient = record(expression, {**values, "b": 0.0}).gradients["a"]
            due = 0.0 if gradient is None else float(gradient)
            sentence = (
                f"a's gradient is v1's gradient, 1, times b. With b = 0 that is {numeral(due)}: moving a no longer "
                "moves out."
            )
            st.markdown(f"{'✓ Yes' if guess == due else '✗ No'}: {sentence}", width="content")
        following = BY_KEY["two-messages"]
        page.link_to(following.file, "Next: an input that is used twice", "arrow_forward", following.link)


def _recorded(values: dict[str, float | list]) -> tuple[Expression, Trace]:
    expression = parse(TEXT)
    return expression, record(expression, values)


# ---------------------------------------------------------------- what else the lab is for


STORIES = (
    ("The loss was nan after hours of training", "pages/what_went_wrong.py", {"failure": "nan"}),
    ("A second backward() ended in an error", "pages/what_went_wrong.py", {"failure": "twice"}),
    ("One write in place, and a gradient was wrong", "pages/simulate_error.py", {"tab": "steps"}),
)
# A trained network that is wide enough to read what visitors draw, and the pad open
DIGITS = {"data": "digits", "hidden": "64", "epochs": "10", "epoch": "10", "pad": "1"}
FAILING = {"hidden": "16 16", "activation": "tanh", "lr": "0.3"}  # a lesson, which asks first
TOOLS = (
    ("Find the mistakes in your code", "rule", "pages/what_went_wrong.py", {"tab": "code"}),
    ("Record a pass with lab.watch", "videocam", "pages/graph_lab.py", {"kind": "Recorded pass"}),
    ("Draw a digit for a network", "draw", "pages/training_lab.py", DIGITS),
    ("Cure a training that fails", "stethoscope", "pages/training_lab.py", FAILING),
    ("Read an engine of 150 lines", "architecture", "pages/other_engines.py", {"tab": "designs"}),
)


def _stories() -> None:
    """Link to failures that `import torch` and three lines do not explain, and to the lab's tools."""
    st.markdown(
        "**One import and three lines train a network, until one of these happens.** Make it happen, and look inside:"
    )
    with row(key="start-stories"):
        for title, file, query in STORIES:
            page.link_to(file, title, "bolt", query)
    st.markdown("**Or go straight to:**")
    with row(key="start-tools"):
        for title, icon, file, query in TOOLS:
            page.link_to(file, title, icon, query)


main()
