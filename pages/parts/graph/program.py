"""Your program: its editor, the player with the passes that it ran, and what it printed."""

from __future__ import annotations

import streamlit as st

from lab.failures.catalogue import BY_KEY, FAILURES, KNOWN
from lab.failures.finder import look_up
from lab.practice.driver import TORCH
from lab.practice.learner_program import MAX_CHARACTERS, ProgramPass, ProgramRun, examples, imports, unpack
from lab.practice.progress_file import hashed
from lab.text import strict_json
from lab.trace.loading import LoadError, load
from lab.ui import binding, page
from lab.ui.assets import component
from lab.ui.memoize import memoize
from lab.ui.player import Switch, player
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import pick
from pages.parts.practice import running

KEY = "program editor"
PLAYER_KEY = "program player"
PRINTED_HEIGHT, MAX_LINES = 110, 3  # pixels, and the lines that fit
BELOW = PRINTED_HEIGHT + 24  # pixels below the player, for what the program printed
NEAR = 1  # passes before and after the one that is shown, which are offered in full screen
PASS = "program pass"  # session key: the position of the pass that is shown
CODE = binding.HeldValue("graph-code", "", unpack, written=False)  # the editor writes it
HOW = (
    "Write a program with `model.Tensor` or PyTorch, and press **Run**. It runs once, in a process of its own: at most "
    "5 seconds of processor time and 2 GB, without files and network. Each `backward()` becomes a pass that you can "
    "play: the lit line is the one that runs. Point at a line to find its cards, and at a card to find its line. "
    "Tab indents; Escape, then Tab leaves the editor. The address carries programs of up to 4,000 characters."
)
TRY = (
    "Paste a training step of your own and play its pass. Then remove `zero_grad()`, put a `detach()` between two "
    "lines, or use a value twice: what changes in the picture?"
)
_component = component("program", "program/program.js", lost="The editor")


def restored() -> None:
    """Hand the program in the address to the editor, with what it did if it has just run under From code."""
    code = st.session_state["program linked"] = st.session_state["graph-code"]
    if code:
        _give(code)
    elsewhere = running.result("code")
    if elsewhere and elsewhere.source == code:
        running.share("code", "graph")
        st.session_state[PASS] = 0


def _give(source: str) -> None:
    _, number = st.session_state.get("program given", ("", 0))
    st.session_state["program given"] = source, number + 1


def choose() -> None:
    """Offer the examples, and the passes of the program that ran."""
    texts = examples()

    def give() -> None:
        _give(texts[st.session_state["program example"]])

    st.menu_button("Examples", [*texts], key="program example", on_click=give, icon=":material/menu_book:")
    if running.finish("graph"):
        st.session_state[PASS] = 0
    ran = running.result("graph")
    if ran and len(ran.passes) > 1:
        st.session_state.setdefault(PASS, 0)
        st.session_state[PASS] = _position(len(ran.passes))
        pick("Pass", range(len(ran.passes)), PASS, bare=True, width=190, format_func=lambda at: _title(ran, at))


def _position(count: int) -> int:
    """Return the position of the pass that is shown; the last one if the program has fewer passes than before."""
    at = st.session_state[PASS]
    return min(at, count - 1) if isinstance(at, int) else 0


def _title(ran: ProgramRun, at: int) -> str:
    line = ran.passes[at].line
    return f"Pass {at + 1} of {ran.count}, line {line}" if line else "After the last pass"


def _switches(ran: ProgramRun) -> list[Switch]:
    """Offer the passes near the one that is shown, if there are several."""
    at = st.session_state.get(PASS, 0)
    near = [*range(len(ran.passes))][max(at - NEAR, 0) : at + NEAR + 1]
    names = {str(one): f"Pass {one + 1} of {ran.count}" for one in near}
    return [Switch("Pass", names, str(at))] if len(near) > 1 else []


def _switch(_: str, at: str) -> None:
    st.session_state[PASS] = int(at)


def show() -> None:
    """Draw the editor beside the player, and below them what the program printed and what was found."""
    session = st.session_state
    refuses = running.prepare()
    ran = running.result("graph")
    with st.container(key="program-columns"):
        code, picture = st.columns([1, 2], gap="small")
        if ran:
            with st.container(key="program-told"):
                tell(ran)
    with code:
        _editor(ran, refuses)
    with picture:
        if ran and ran.passes:
            _play(ran, ran.passes[min(session.get(PASS, 0), len(ran.passes) - 1)])
        elif running.current("graph") is None:
            st.markdown(_nothing(ran), width="content")


def run_asked() -> None:
    """Run the text that the editor has sent."""
    session = st.session_state
    asked = session[KEY].get("run")
    text = asked.get("text") if isinstance(asked, dict) else None
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        return
    session["graph-code"] = text
    running.begin("graph", text, linked=text == session.get("program linked"))


def _editor(ran: ProgramRun | None, refuses: str) -> None:
    source, number = st.session_state.get("program given", ("", 0))
    shown = {
        "given": {"text": source, "number": number} if number else None,
        "starter": next(iter(examples().values())),
        "working": running.current("graph") is not None,
        "result": {"hash": hashed(ran.source), "problem": ran.problem, "line": ran.line} if ran else None,
        "refuses": refuses,
    }
    _component(
        key=KEY,
        data=strict_json(shown).encode(),
        on_run_change=run_asked,
        on_stop_change=lambda: running.stop("graph"),
    )


def _play(ran: ProgramRun, shown: ProgramPass) -> None:
    """Show a pass in the player."""
    try:
        trace = memoize("program pass", shown, lambda: load(shown.text))
    except LoadError as error:
        st.warning(str(error))
        return
    kept = sum(bool(node["op"]) for node in trace.nodes)
    if shown.operations != kept:
        whole = f"of {shown.operations:,} operations; one card stands for all others"
        part = "operations; one card stands for those recorded later"
        st.caption(f"The first {kept - 1} {whole if shown.operations else part}.")
    player(
        trace,
        key=PLAYER_KEY,
        title="A pass of your program",
        printed=ran.printed,
        opening=hash((ran.source, shown.line, len(shown.text))) % 10**6,
        event=trace.forward_events,
        compact=True,
        grows=BELOW,
        switches=_switches(ran),
        on_switch=_switch,
    )


def _nothing(ran: ProgramRun | None) -> str:
    if ran is None:
        return "Press **Run**: here you see the graph of your program, and its backward passes message by message."
    if ran.problem:
        return "No pass was recorded before the program ended."
    return "Nothing was recorded: no operation of its main thread had an operand with a gradient."


def tell(ran: ProgramRun) -> None:
    """Show what a program printed and what it did wrong."""
    printed, found = st.columns([1, 2], gap="small")
    with printed:
        if ran.printed:
            lines = ran.printed.count("\n")
            st.code(ran.printed, None, height="content" if lines <= MAX_LINES else PRINTED_HEIGHT)
        else:
            st.caption("It printed nothing.")
    with found:
        if ran.problem:  # it stands under the editor, too, which is out of sight on a phone
            where = f"**✗ Line {ran.line}:**" if ran.line else "✗"
            st.container(key="program-problem").markdown(f"{where} {with_code(ran.problem)}")
        elif not ran.findings:
            st.caption(
                "Nothing here is certainly wrong. What may be intended, such as adding up gradients, is not reported; "
                "rules of your own are not checked."
                if imports(ran.source) == TORCH
                else "No step used a stale gradient. Other failures are looked for in programs with PyTorch only."
            )
        for one in ran.findings:
            st.markdown(
                f"**Line {one.line}: {escape_markdown(one.name)}** (certain: it ran). {with_code(one.evidence)} "
                f"{with_code(one.fix)}"
            )
            _lead_to(FAILURES[one.failure - 1].key, "See it happen")
        unknown = ran.kind and not ran.findings
        for match in memoize("program meaning", ran.problem, lambda: look_up(ran.problem)[:1]) if unknown else ():
            _lead_to(match.key, "What it means" if match.sure else "Perhaps")


def _lead_to(key: str, why: str) -> None:
    """Link to what is known of a failure or of another mistake."""
    query = {"failure" if key in BY_KEY else "other": key}
    page.link_to("pages/what_went_wrong.py", f"{why}: {KNOWN[key].name}", "troubleshoot", query)
