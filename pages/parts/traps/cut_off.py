"""The tab on cut gradients: guess what detach() and no_grad() leave of each gradient, then run both passes."""

import streamlit as st

from lab.text import brief
from lab.traps import cut_graphs
from lab.traps.in_place import MAX_ABS
from lab.ui import binding
from lab.ui.player import player
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import ask, button, switch

ARRIVALS = {"same": "the same", "part": "a part of it", "none": "None"}
KINDS = {"detach": "h.detach()", "no_grad": "no_grad around h", "all": "no_grad around everything"}
RAN = binding.flag("trap-ran")


def show() -> None:
    """Draw the tab."""
    prose(
        "[[detach()|detach]] and `no_grad()` change no number of the [[forward pass]], but they cut the "
        "[[graph|computational graph]]. Guess what is left of each [[gradient]], then run both passes."
    )
    what, left, right = st.columns([5, 3, 3], gap="medium")
    with what:
        kind = switch("What is cut", KINDS, "trap-cut", on_change=_ask_again, bind="query-params")
    a, b = (
        column.slider(
            name, -MAX_ABS, MAX_ABS, start, 0.5, key=f"trap-cut-{name}", on_change=_ask_again, bind="query-params"
        )
        for column, name, start in ((left, "a", 2.0), (right, "b", 3.0))
    )
    uncut, cut = cut_graphs.run_cut("uncut", a, b), cut_graphs.run_cut(kind, a, b)
    code, answer = st.columns([2, 3], gap="large")
    ran = st.session_state[RAN.key]
    with code:
        st.markdown(f"**Cut: {KINDS[kind]}**, L = {brief(cut.loss)}")
        st.code(f"{cut.code}L.backward()\n", wrap_lines=True)
        st.markdown(f"Without the cut `L = (a * b) * a`, and L is {brief(uncut.loss)} as well.")
        if not ran:
            _guess()
    with answer:
        if not ran:
            st.markdown("**Nothing cut**, after the forward pass")
            _picture("uncut", uncut, backward=False)
            return
        _gradients(uncut, cut, cut_graphs.numerical(a, b))
    left, right = st.columns(2, gap="large")
    for column, key, title, one in ((left, "uncut", "Nothing cut", uncut), (right, "cut", f"Cut: {KINDS[kind]}", cut)):
        with column:
            st.markdown(f"**{title}**")
            _picture(key, one)
    st.markdown(
        "An optimizer skips a parameter whose gradient is None, so a parameter behind a cut simply never learns. "
        "Cutting is right where it is meant: for validation, for targets, for a state carried from one batch into the "
        "next."
    )


def _picture(key: str, one: cut_graphs.CutDemo, backward: bool = True) -> None:
    """Show the graph after one pass or both, and name the ways on which the cut lets no gradient flow."""
    if one.graph is None:
        st.markdown("The engine has no graph: L is a number like any other.")
    else:
        event = None if backward else one.graph.forward_events
        player(one.graph, key=f"cut player {key}", event=event, compact=True, still=True)
    for start, end, why in one.missing:
        st.markdown(f"✂ from {start} to {end}: {why}")


def _ask_again() -> None:
    """Hide the answer after a change of the cut or the numbers, until there is a new guess."""
    st.session_state[RAN.key], st.session_state["cut guessed"] = False, {}


def _guess() -> None:
    def run() -> None:
        st.session_state[RAN.key] = True
        st.session_state["cut guessed"] = {name: st.session_state[f"cut guess {name}"] for name in ("a", "b")}

    question = "**Your guess.** Compared with the uncut pass, {}.grad is…"
    guesses = [ask(question.format(name), ARRIVALS, f"cut guess {name}", bind=False) for name in ("a", "b")]
    button("Run both passes", "cut go", run, type="primary", disabled=None in guesses)


def _gradients(uncut: cut_graphs.CutDemo, cut: cut_graphs.CutDemo, numerical: dict[str, float]) -> None:
    rows, verdicts = [], []
    for name in ("a", "b"):
        got, due = cut.gradients[name], uncut.gradients[name]
        came = "none" if got is None else "same" if got == due else "part"
        sign = "✓" if came == "same" else "✗"
        verdict = f"{sign} {'None' if got is None else f'{brief(got)}: {ARRIVALS[came]}'}"
        rows.append((name, brief(due), verdict, brief(numerical[name])))
        guessed = st.session_state.get("cut guessed", {}).get(name)
        if guessed is not None:
            right = guessed == came
            verdicts.append(f"{name}: {'✓ as you guessed' if right else f'✗ you guessed “{ARRIVALS[guessed]}”'}")
    show_table(["input", "uncut", "cut", "numerical"], rows)
    why = "Each ✂ below is a way on which a gradient would have flowed. No error tells you."
    if cut.error:
        st.error(f"**RuntimeError.** {cut.error}", icon=":material/block:")
        why = "Nothing was recorded, so there is no graph to go back through. Only in this case does the engine notice."
    st.markdown(f"{'; '.join(verdicts)}. {why}" if verdicts else why)
