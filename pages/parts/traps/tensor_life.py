"""The tab on the life of a tensor: the lines of a training step in any order, and the states they lead to."""

import streamlit as st

from lab.traps import parameter_life
from lab.traps.parameter_life import ACTIONS, STATES
from lab.ui import binding
from lab.ui.table import show_table, with_code
from lab.ui.widgets import button

ACTIONS_RUN = binding.HeldValue("trap-life", "", parameter_life.parse_life)


def show() -> None:
    """Draw the tab."""
    st.markdown(
        "A parameter `w` starts at 1, and the loss `(w * w - 2) ** 2` pulls it to √2. A line can be run "
        "once its names exist: step too early, go backward twice, or raise the learning rate."
    )

    actions = st.session_state[ACTIONS_RUN.key]
    left, right = st.columns(2, gap="medium")
    with left:
        rate = st.slider("Learning rate", 0.01, 0.5, 0.1, 0.01, key="trap-rate", bind="query-params")
        life = parameter_life.live(actions, rate)
        _actions(actions, life)
        _log(life)
    with right:
        _states(life)


def _actions(actions: str, life: parameter_life.Life) -> None:
    """Draw a button for each possible next line."""

    def act(letters: str) -> None:
        session = st.session_state
        session[ACTIONS_RUN.key] = (session[ACTIONS_RUN.key] + letters)[: parameter_life.MAX_ACTIONS]

    with st.container(horizontal=True, gap="small"):
        for letter, action in ACTIONS.items():
            button(
                f"`{action.code}`",
                f"life {letter}",
                act,
                letter,
                help=action.title,
                disabled=letter not in life.possible,
            )
    with st.container(horizontal=True, gap="small"):
        full = len(actions) + len(parameter_life.WHOLE_STEP) > parameter_life.MAX_ACTIONS
        button("A whole training step", "life whole", act, parameter_life.WHOLE_STEP, type="primary", disabled=full)
        button("Undo", "life undo", binding.put, ACTIONS_RUN.key, actions[:-1], disabled=not actions)
        button("Start over", "life restart", binding.put, ACTIONS_RUN.key, "", disabled=not actions)
    if full:
        st.info(f"A life here has at most {parameter_life.MAX_ACTIONS} actions. Undo some, or start over.")


def _log(life: parameter_life.Life) -> None:
    """Show the lines run so far, the latest first."""
    if life.log and life.log[-1].failed:
        st.error(life.log[-1].sentence, icon=":material/block:")
    with st.container(height=400 if len(life.log) > 6 else "content", border=len(life.log) > 6):
        for number, entry in reversed(list(enumerate(life.log, start=1))):
            sentence = f"✗ {entry.sentence}" if entry.failed else entry.sentence
            st.markdown(f"**{number}** `{entry.code}`  \n{with_code(sentence)} :small[State: {entry.state}.]")


def _states(life: parameter_life.Life) -> None:
    """Tabulate the states, and mark the present one and those that the tensor has been in."""
    marks = {state: "now" if state == life.state else "✓" if state in life.path else "" for state in STATES}
    st.markdown(f"**Now: {life.state}.** {STATES[life.state]}")
    show_table(["state", "been here", "meaning"], [(s, marks[s], STATES[s]) for s in STATES])
