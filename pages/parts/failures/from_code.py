"""Finds failures in a pasted or uploaded training loop or model, with the line and the changed lines for each."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lab.failures import FAILURES
from lab.failures.code import MAX_CHARACTERS, CodeFinding, NotReadable, program, read
from lab.practice import isolation
from lab.practice.learner_program import ProgramRun, pack
from lab.ui import page
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button
from pages.parts.failures import pasted
from pages.parts.practice import running

Choose = Callable[[str], None]
PRINTED_HEIGHT = 130  # pixels
TEXT = "code text"  # session key
LINKED = "code linked"  # session key: the text that the address brought
CODE = pasted.held("wrong-code")
BY_NUMBER = {failure.number: failure for failure in FAILURES}
PLACE = "code"  # where a program runs: see `running`
CERTAINTY = (
    "This is only read from the text. **Run it** names the line of the cause from what happened; for a script with "
    "files of its own, run `python -m lab.watch SCRIPT.py` in the lab's folder."
)
EXAMPLE = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(10):
    total = 0
    for images, labels in loader:
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss
    print(epoch, total / len(loader))
"""


def take(text: str) -> None:
    """Use a text as the pasted program; call it before the widget is drawn."""
    st.session_state[TEXT] = text


def restored() -> None:
    """Use the program in the address, if there is one; call it before the widget is drawn."""
    st.session_state[LINKED] = pasted.restore(CODE, TEXT)


def from_code(choose: Choose) -> None:
    """Ask for a program, and say what it commits. choose: opens the failure with this key (a callback)."""
    left, right = st.columns([6, 7], gap="medium")
    with left:
        text = _ask()
    with right:
        if not text.strip():
            st.markdown(
                "Paste a training loop or a model, for PyTorch or this engine. **Read it** runs nothing: each finding "
                "names the line, the reason and, where an edit removes it, the changed line. **Run it** runs the "
                "program once, in a process of its own, and says what happened."
            )
            return
        running.finish(PLACE)
        ran = running.result(PLACE)
        if running.current(PLACE):
            st.markdown("Running…")
        elif ran and ran.source == _source(text):
            _ran(ran, text, choose)
        else:
            _findings(text, choose)
            if "torch" in text:
                st.caption(CERTAINTY)
    running.wait(PLACE)


def _source(text: str) -> str:
    """Return the program in a text; the text itself if it is not readable."""
    try:
        return program(text)
    except NotReadable:
        return text


def _ran(ran: ProgramRun, text: str, choose: Choose) -> None:
    """Say what a program did when it ran; what did not run for want of something is read."""
    ending = f"{f'Line {ran.line}: ' if ran.line else ''}{with_code(ran.problem)}"
    if ran.lacks_something:
        st.markdown(f"{ending}\n\nSo it cannot run here alone, and was only read.")
        _findings(text, choose)
    elif ran.problem:
        st.error(ending, icon=":material/close:")
        if ran.kind == "NameError" and not ran.findings:  # perhaps a part of a program
            st.markdown("It ended there, so the rest was only read.")
            _findings(text, choose, failed=True)
    elif not ran.findings:
        st.success("It ran, and none of the known failures happened.", icon=":material/check:")
    for number, one in enumerate(ran.findings):
        with st.container(border=True, gap="xsmall"):
            certain = f"**Line {one.line}: {escape_markdown(one.name)}** (certain: it ran)."
            st.markdown(f"{certain} {with_code(one.evidence)}\n\n**Fix.** {with_code(one.fix)}")
            button(f"See it happen: {one.name}", f"code ran {number}", choose, BY_NUMBER[one.failure].key)
    if ran.printed:
        st.code(ran.printed, None, wrap_lines=True, height=PRINTED_HEIGHT)
    if ran.passes and (code := pack(ran.source)):
        query = {"kind": "Your program", "code": code}
        page.link_to("pages/graph_lab.py", "Play its passes in the Graph lab", "arrow_forward", query)


def _ask() -> str:
    def load() -> None:
        if loaded := st.session_state["code file"]:
            take(loaded.getvalue().decode("utf-8", errors="replace").replace("\0", ""))

    def run() -> None:
        text = st.session_state[TEXT]
        running.begin(PLACE, _source(text), linked=text == st.session_state.get(LINKED))

    text: str = st.text_area(
        "Your program",
        key=TEXT,
        height=360,
        max_chars=MAX_CHARACTERS,
        persist_state="session",
        label_visibility="collapsed",
        placeholder="for x, y in loader:\n    loss = criterion(model(x), y)\n    …",
    )
    with st.container(horizontal=True):
        button("Read it", "code read", running.forget, PLACE, type="primary")
        button("Run it", "code run", run, disabled=isolation.unavailable() != "")
        button("An example", "code example", take, EXAMPLE)
    st.file_uploader("Or a file", ["py", "ipynb", "txt"], key="code file", max_upload_size=1, on_change=load)
    pasted.hold(CODE, text)
    return text


def _findings(text: str, choose: Choose, *, failed: bool = False) -> None:
    """Say what is found in a text. failed: whether an error in it is shown already, so that it is not called sound."""
    try:
        reading = read(text)
        lines = program(text).rstrip("\n").split("\n")
    except NotReadable as reason:
        st.error(with_code(str(reason)), icon=":material/edit:")
        return
    findings = reading.findings
    if reading.left_out:
        st.warning(reading.left_out, icon=":material/content_cut:")
    if not findings and not failed:
        st.success(
            "None of the failures that code can show. Others show only in a run: paste its curve or a message.",
            icon=":material/check:",
        )
    if not findings:
        return
    st.markdown(f"**{len(findings)} {'finding' if len(findings) == 1 else 'findings'}** in {len(lines)} lines")
    with st.expander("Your program, with line numbers"):
        st.code("\n".join(lines), line_numbers=True)
    for number, finding in enumerate(findings):
        _finding(number, finding, lines, choose)


def _finding(number: int, finding: CodeFinding, lines: list[str], choose: Choose) -> None:
    failure = BY_NUMBER[finding.failure]
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**Line {finding.line}: {escape_markdown(failure.name)}.** {with_code(finding.sentence)}")
        if finding.change:
            before = [f"- {line}" for line in lines[finding.first - 1 : finding.last]]
            after = [f"+ {line}" for line in finding.change.split("\n")]
            st.code("\n".join([*before, *after]), language="diff", wrap_lines=True)
        button(f"See it happen: {failure.name}", f"code finding {number}", choose, failure.key)
