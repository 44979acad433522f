"""Predict, then reveal: a graph with blanks for its values, then for its gradients; wrong answers are explained."""

import re

import streamlit as st

from lab.practice.exercises import EXERCISES_PER_LEVEL, LEVELS, exercise
from lab.practice.prediction import (
    FULL,
    GIVEN,
    LATER,
    MAX_LENGTH,
    OPEN,
    REVEALED,
    Blank,
    Pass,
    Prediction,
    Verdict,
    credited,
    points,
)
from lab.text import brief
from lab.trace.derive import table
from lab.trace.recording import Trace
from lab.ui import address, page, progress, state
from lab.ui.address import Field, PrefixField
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, markdown_table
from lab.ui.widgets import button, pick

POINTS = (
    f"A blank gets {FULL} points if it is right at the first check, {LATER} if it is right later. One that is "
    f"right given your earlier slip gets {GIVEN}, unless it only repeats the slip. A wrong one gets 1 if its signs are "
    "right, and an array 1 if its shape is. A revealed one gets none."
)
KEYS = "predict blank "  # with which the keys of the text fields begin
PASSES: tuple[Pass, ...] = ("value", "gradient")


def _show(current: PageState) -> None:
    session = st.session_state
    if current.restored:  # the browser's Back must not undo a later graph
        session["predict done"] = session["predict done"] | session.get("predict ever done", {})
        state.forget_widgets(KEYS)
    session["predict ever done"] = session["predict done"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _choose()
    graph = session["predict level"], session["predict number"]
    prediction = memoize("prediction", graph, lambda: Prediction(exercise(*graph)))
    blanks = [blank for what in PASSES for blank in prediction.blanks[what]]
    if len(session["predict credit"]) != len(blanks):  # none yet, or a link to another graph
        session["predict credit"] = OPEN * len(blanks)
    verdicts = {what: prediction.judge(what, session[f"predict {what}s"]) for what in PASSES}
    known = {what: [name for name, one in verdicts[what].items() if one.state == "right"] for what in PASSES}
    what = next((what for what in PASSES if len(known[what]) < len(prediction.blanks[what])), None)
    session["predict solved"] = None if what or REVEALED in session["predict credit"] else graph
    st.markdown(_task(prediction, what))
    lit = prediction.revealed(known["value"], known["gradient"])
    opening = graph[0] * EXERCISES_PER_LEVEL + graph[1]
    if what is None:
        got = _counted(points(session["predict credit"]), FULL * len(blanks))
        st.markdown(f"**{got}** for this graph. *Next graph* draws another one.", help=POINTS)
        player(lit, key="predict player", compact=True, event=len(lit.events), opening=opening)
        _tables(lit, blanks)
    else:
        left, right = st.columns([2, 1], gap="medium")
        with left:
            player(lit, key="predict graph", compact=True, still=True, event=len(lit.events), opening=opening)
            _tables(lit)
        with right:
            _ask(prediction, what, verdicts[what])
    progress.done("by-hand", session["predict solved"] == (1, 1))
    page.closing(
        "Fill one blank with a wrong number on purpose: does the lab name the mistake that you had in mind?",
        "pages/graph_lab.py",
        "The Graph lab: any expression of your own, message by message",
    )


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _credit(text: str) -> str:
    if not re.fullmatch(r"[-r0-4]{0,100}", text):
        raise ValueError(text)
    return text


def _done(text: str) -> dict[str, tuple[int, int]]:
    """Parse the finished graphs: "1.1-46-48" is level 1, graph 1, with 46 of 48 points."""
    found = {}
    for one in text.split(","):
        match = re.fullmatch(r"(\d{1,2})\.(\d{1,5})-(\d{1,3})-(\d{1,3})", one)
        level, number, got, most = map(int, match.groups()) if match else (0, 0, 0, 0)
        if level not in LEVELS or not 1 <= number <= EXERCISES_PER_LEVEL or got > most:
            raise ValueError(text)
        found[f"{level}.{number}"] = got, most
    return found


LEVEL = Field("level", "predict level", 1, int, limits=(min(LEVELS), max(LEVELS)), always=True)
NUMBER = Field("graph", "predict number", 1, int, limits=(1, EXERCISES_PER_LEVEL), always=True)
OF_ONE_GRAPH = (  # fields that are reset for another graph
    PrefixField("value_", "predict values", {}, address.shorter_than(MAX_LENGTH)),
    PrefixField("gradient_", "predict gradients", {}, address.shorter_than(MAX_LENGTH)),
    Field("credit", "predict credit", "", _credit, lambda credit: credit if credit.strip(OPEN) else None),
)
DONE = Field(
    "done",
    "predict done",
    {},
    _done,
    lambda done: ",".join(f"{graph}-{got}-{most}" for graph, (got, most) in done.items()),
)
FIELDS = (LEVEL, NUMBER, *OF_ONE_GRAPH, DONE)


def _begin_again() -> None:
    """Empty all blanks after another graph was chosen."""
    state.step()
    state.reset(OF_ONE_GRAPH)
    state.forget_widgets(KEYS)


def _next() -> None:
    st.session_state["predict number"] = st.session_state["predict number"] % EXERCISES_PER_LEVEL + 1
    _begin_again()


def _choose() -> None:
    def another_level() -> None:
        st.session_state["predict number"] = 1
        _begin_again()

    levels = {level: f"{level}: {name}" for level, name in LEVELS.items()}
    pick("Level", levels, "predict level", on_change=another_level, width=190, bare=True)
    st.number_input(
        "Graph", *NUMBER.limits, key="predict number", on_change=_begin_again, width=120, label_visibility="collapsed"
    )
    button("Next graph", "predict next", _next, icon="skip_next")
    done = st.session_state["predict done"].values()
    if done:
        graphs = "1 graph" if len(done) == 1 else f"{len(done)} graphs"
        got = _counted(*(sum(one) for one in zip(*done, strict=True)))
        st.markdown(f"Done: {graphs}, {got}.", width="content")


# ---------------------------------------------------------------- the blanks


def _task(prediction: Prediction, what: Pass | None) -> str:
    values = ", ".join(f"{name} = {brief(value)}" for name, value in prediction.inputs.items())
    graph = f"`{prediction.text}` at {escape_markdown(values)}. "
    if what == "value":
        return f"{graph} Work out each value by hand. *Check* marks what is right and explains what is not."
    if what == "gradient":
        out = prediction.mistakes.names[prediction.trace.output]
        return f"{graph} Now the backward pass: how fast does {out} change with each node?"
    return f"{graph} Every blank is filled. This is the pass that the engine ran: play it."


def _counted(got: int, most: int) -> str:
    return f"{got} of {most} points"


def _key(blank: Blank) -> str:
    return f"{KEYS}{blank.what} {blank.name}"


def _ask(prediction: Prediction, what: Pass, verdicts: dict[str, Verdict]) -> None:
    blanks, session = prediction.blanks[what], st.session_state

    def check() -> None:
        typed = {blank.name: session.get(_key(blank), "")[:MAX_LENGTH].strip() for blank in blanks}
        session[f"predict {what}s"] = {name: text for name, text in typed.items() if text}
        judged = prediction.judge(what, session[f"predict {what}s"])
        put(credited(part(), [judged[blank.name] for blank in blanks]))

    def reveal(some: list[Blank]) -> None:
        credit = part()
        for blank in some:
            at = blanks.index(blank)
            credit = credit[:at] + REVEALED + credit[at + 1 :]
            session[f"predict {what}s"] = session[f"predict {what}s"] | {blank.name: brief(blank.right)}
            session.pop(_key(blank), None)
        put(credit)

    def part() -> str:
        """Return the credit for the blanks of this pass."""
        credit = session["predict credit"]
        return credit[: len(blanks)] if what == "value" else credit[-len(blanks) :]

    def put(credit: str) -> None:
        before = session["predict credit"]
        session["predict credit"] = (
            credit + before[len(blanks) :] if what == "value" else before[: -len(blanks)] + credit
        )
        if what == "gradient" and all(
            one.state == "right" for one in prediction.judge(what, session["predict gradients"]).values()
        ):
            graph = f"{session['predict level']}.{session['predict number']}"
            got = points(session["predict credit"]), FULL * len(before)
            session["predict done"] = {graph: got} | session["predict done"]
            progress.scored(graph, *got)

    credit = part()
    with st.form("predict form", border=False):
        columns = 2 if what == "value" or any(blank.right.ndim for blank in blanks) else 3
        for row in range(0, len(blanks), columns):
            for place, blank in zip(st.columns(columns), blanks[row : row + columns], strict=False):
                right = verdicts[blank.name].state == "right"
                mark = ""
                if right:
                    mark = " (revealed)" if credit[blanks.index(blank)] == REVEALED else " ✓"
                elif verdicts[blank.name].state != "open":
                    mark = " ✗"
                answer = session[f"predict {what}s"].get(blank.name, "")
                session[_key(blank)] = answer if right else session.get(_key(blank), answer)
                # Screen readers get the label without Markdown, so it must not need any escapes.
                place.text_input(blank.label + mark, key=_key(blank), max_chars=MAX_LENGTH, disabled=right)
        st.form_submit_button("Check", type="primary", on_click=check, icon=":material/check:", width="stretch")
    remarks = [(blank, verdicts[blank.name]) for blank in blanks if verdicts[blank.name].comment]
    st.markdown("\n".join(f"- **{blank.name}**: {escape_markdown(verdict.comment)}" for blank, verdict in remarks))
    hidden = [blank for blank in blanks if verdicts[blank.name].state != "right"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        button(f"Reveal {hidden[0].label.split(' = ')[0]}", "predict reveal", reveal, hidden[:1])
        button("Reveal all", "predict reveal all", reveal, hidden)
        st.markdown(
            _counted(points(session["predict credit"]), FULL * len(session["predict credit"])),
            width="content",
            help=POINTS,
        )


def _tables(lit: Trace, blanks: list[Blank] | None = None) -> None:
    """Show the graph as a table and, if the finished blanks are given, the points for each."""
    as_table = st.expander("The graph as a table", key="predict-table-graph", on_change="rerun", type="compact")
    if as_table.open:
        rows = table(lit)
        as_table.markdown(markdown_table([*rows[0]], [[*row.values()] for row in rows]))
    if not blanks:
        return
    worth = st.expander("The points, blank by blank", key="predict-table-points", on_change="rerun", type="compact")
    if worth.open:
        words = {REVEALED: "revealed", OPEN: "–"}
        worth.markdown(
            markdown_table(
                ["blank", "the engine's answer", "points"],
                [
                    (blank.label, brief(blank.right), words.get(one, one))
                    for blank, one in zip(blanks, st.session_state["predict credit"], strict=True)
                ],
            )
        )


PART = page.TabGroup(FIELDS, {"predict": _show})
