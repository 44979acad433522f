"""Predict, then reveal: a graph with blanks for its values, then for its gradients; wrong answers are looked into."""

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
from lab.ui import assignment, page, progress, state
from lab.ui.address import Field, PrefixField
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, markdown_table

POINTS = (
    f"A blank is worth {FULL} points where it is right at the first check, {LATER} where it is later. One that is "
    f"right given your earlier slip has {GIVEN}, unless it only repeats the slip. A wrong one has 1 for its signs, and "
    "an array 1 for its shape. A revealed one has none."
)
PASSES: tuple[Pass, ...] = ("value", "gradient")


def _show(current: PageState) -> None:
    session = st.session_state
    if current.restored:  # back to an earlier graph is not back to before a later one was done
        session["predict done"] = session["predict done"] | session.get("predict ever done", {})
        _forget_widgets()
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
        _twins(lit, blanks)
    else:
        left, right = st.columns([2, 1], gap="medium")
        with left:
            player(lit, key="predict graph", compact=True, still=True, event=len(lit.events), opening=opening)
            _twins(lit)
        with right:
            _ask(prediction, what, verdicts[what])
    progress.done("by-hand", session["predict solved"] == (1, 1))
    page.closing(
        "Answer one blank wrong on purpose, so that the lab names the very mistake that you had in mind.",
        "pages/graph_lab.py",
        "The Graph lab: any expression of your own, message by message",
    )


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _answer(text: str) -> str:
    if len(text) > MAX_LENGTH:
        raise ValueError(text)
    return text


def _credit(text: str) -> str:
    if not re.fullmatch(r"[-r0-4]{0,100}", text):
        raise ValueError(text)
    return text


def _done(text: str) -> dict[str, tuple[int, int]]:
    """ "1.1-46-48": of graph 1 of level 1, 46 of 48 points."""
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
OF_ONE_GRAPH = (  # what another graph begins without
    PrefixField("value_", "predict values", {}, _answer),
    PrefixField("gradient_", "predict gradients", {}, _answer),
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


def _forget_widgets() -> None:
    """The fields begin with the answers of the session again."""
    for key in [key for key in st.session_state if str(key).startswith("predict blank ")]:
        del st.session_state[key]


def _begin_again() -> None:
    """Another graph: every blank is empty."""
    state.step()
    state.reset(OF_ONE_GRAPH)
    _forget_widgets()


def _next() -> None:
    st.session_state["predict number"] = st.session_state["predict number"] % EXERCISES_PER_LEVEL + 1
    _begin_again()


def _choose() -> None:
    def another_level() -> None:
        st.session_state["predict number"] = 1
        _begin_again()

    st.selectbox(
        "Level",
        [*LEVELS],
        format_func=lambda level: f"{level}: {LEVELS[level]}",
        key="predict level",
        on_change=another_level,
        width=190,
        label_visibility="collapsed",
    )
    st.number_input(
        "Graph", *NUMBER.limits, key="predict number", on_change=_begin_again, width=120, label_visibility="collapsed"
    )
    st.button("Next graph", key="predict next", on_click=_next, icon=":material/skip_next:")
    done = st.session_state["predict done"].values()
    if done:
        graphs = "1 graph" if len(done) == 1 else f"{len(done)} graphs"
        got = _counted(*(sum(one) for one in zip(*done, strict=True)))
        st.markdown(f"Done: {graphs}, {got}.", width="content")


# ---------------------------------------------------------------- the blanks


def _task(prediction: Prediction, what: Pass | None) -> str:
    values = ", ".join(f"{name} = {brief(value)}" for name, value in prediction.inputs.items())
    said = f"`{prediction.text}` at {escape_markdown(values)}. "
    if what == "value":
        return f"{said} Work out each value by hand. *Check* marks what is right and explains what is not."
    if what == "gradient":
        out = prediction.mistakes.names[prediction.trace.output]
        return f"{said} Now the backward pass: how fast does {out} change with each node?"
    return f"{said} Every blank is filled. This is the pass that the engine ran: play it."


def _counted(got: int, most: int) -> str:
    return f"{got} of {most} points"


def _key(blank: Blank) -> str:
    return f"predict blank {blank.what} {blank.name}"


def _ask(prediction: Prediction, what: Pass, verdicts: dict[str, Verdict]) -> None:
    blanks, now = prediction.blanks[what], st.session_state

    def check() -> None:
        typed = {blank.name: now.get(_key(blank), "")[:MAX_LENGTH].strip() for blank in blanks}
        now[f"predict {what}s"] = {name: text for name, text in typed.items() if text}
        judged = prediction.judge(what, now[f"predict {what}s"])
        put(credited(part(), [judged[blank.name] for blank in blanks]))

    def reveal(some: list[Blank]) -> None:
        credit = part()
        for blank in some:
            at = blanks.index(blank)
            credit = credit[:at] + REVEALED + credit[at + 1 :]
            now[f"predict {what}s"] = now[f"predict {what}s"] | {blank.name: brief(blank.right)}
            now.pop(_key(blank), None)
        put(credit)

    def part() -> str:
        """What the blanks of this pass are worth."""
        credit = now["predict credit"]
        return credit[: len(blanks)] if what == "value" else credit[-len(blanks) :]

    def put(credit: str) -> None:
        whole = now["predict credit"]
        now["predict credit"] = credit + whole[len(blanks) :] if what == "value" else whole[: -len(blanks)] + credit
        if what == "gradient" and all(
            one.state == "right" for one in prediction.judge(what, now["predict gradients"]).values()
        ):
            graph = f"{now['predict level']}.{now['predict number']}"
            got = points(now["predict credit"]), FULL * len(whole)
            now["predict done"] = {graph: got} | now["predict done"]
            progress.scored(graph, *got)

    credit = part()
    with st.form("predict form", border=False):
        wide = what == "value" or any(blank.right.ndim for blank in blanks)
        columns = 2 if wide else 3
        for row in range(0, len(blanks), columns):
            for place, blank in zip(st.columns(columns), blanks[row : row + columns], strict=False):
                right = verdicts[blank.name].state == "right"
                mark = ""
                if right:
                    mark = " (revealed)" if credit[blanks.index(blank)] == REVEALED else " ✓"
                elif verdicts[blank.name].state != "open":
                    mark = " ✗"
                answer = now[f"predict {what}s"].get(blank.name, "")
                now[_key(blank)] = answer if right else now.get(_key(blank), answer)
                # A label for screen readers is not read as Markdown: nothing in it may need to be escaped.
                place.text_input(blank.label + mark, key=_key(blank), max_chars=MAX_LENGTH, disabled=right)
        st.form_submit_button("Check", type="primary", on_click=check, icon=":material/check:", width="stretch")
    told = [(blank, verdicts[blank.name]) for blank in blanks if verdicts[blank.name].said]
    st.markdown("\n".join(f"- **{blank.name}**: {escape_markdown(verdict.said)}" for blank, verdict in told))
    hidden = [blank for blank in blanks if verdicts[blank.name].state != "right"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not assignment.hidden("reveal"):
            st.button(
                f"Reveal {hidden[0].label.split(' = ')[0]}", key="predict reveal", on_click=reveal, args=(hidden[:1],)
            )
            st.button("Reveal all", key="predict reveal all", on_click=reveal, args=(hidden,))
        st.markdown(
            _counted(points(now["predict credit"]), FULL * len(now["predict credit"])), width="content", help=POINTS
        )


def _twins(lit: Trace, blanks: list[Blank] | None = None) -> None:
    """The graph as a table; and once every blank is filled, what each of them was worth."""
    twin = st.expander("The graph as a table", key="predict-table-graph", on_change="rerun", type="compact")
    if twin.open:
        rows = table(lit)
        twin.markdown(markdown_table([*rows[0]], [[*row.values()] for row in rows]))
    if not blanks:
        return
    worth = st.expander("The points, blank by blank", key="predict-table-points", on_change="rerun", type="compact")
    if worth.open:
        said = {REVEALED: "revealed", OPEN: "–"}
        worth.markdown(
            markdown_table(
                ["blank", "the engine's answer", "points"],
                [
                    (blank.label, brief(blank.right), said.get(one, one))
                    for blank, one in zip(blanks, st.session_state["predict credit"], strict=True)
                ],
            )
        )


PART = page.TabGroup(FIELDS, {"predict": _show})
