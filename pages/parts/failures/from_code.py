"""Finds failures in a pasted or uploaded training loop or model, with the line and the changed lines for each."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lab.failures import FAILURES
from lab.failures.code import MAX_CHARACTERS, CodeFinding, NotReadable, program, read
from lab.ui.table import escape_markdown, with_code
from lab.ui.uploads import release
from lab.ui.widgets import button

Choose = Callable[[str], None]
TEXT = "code text"  # session key
BY_NUMBER = {failure.number: failure for failure in FAILURES}
CERTAINTY = (
    "This is only read from the text. To be certain, run your script with `python -m lab.watch SCRIPT.py`: "
    "it names the line of the cause from what happened."
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


def from_code(choose: Choose) -> None:
    """Ask for a program, and say what it commits. choose: opens the failure with this key (a callback)."""
    left, right = st.columns([6, 7], gap="medium")
    with left:
        text = _ask()
    with right:
        if not text.strip():
            st.markdown(
                "Paste a training loop or a model, for PyTorch or this engine. It is read and never run: each finding "
                "names the line, the reason and the changed line."
            )
            return
        _findings(text, choose)
        if "torch" in text:
            st.caption(CERTAINTY)


def _ask() -> str:
    def load() -> None:
        if loaded := st.session_state["code file"]:
            take(loaded.getvalue().decode("utf-8", errors="replace").replace("\0", ""))
            release(loaded)

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
        button("Read it", "code read", type="primary")
        button("An example", "code example", take, EXAMPLE)
    st.file_uploader("Or a file", ["py", "ipynb", "txt"], key="code file", max_upload_size=1, on_change=load)
    return text


def _findings(text: str, choose: Choose) -> None:
    try:
        reading = read(text)
        lines = program(text).split("\n")
    except NotReadable as reason:
        st.error(with_code(str(reason)), icon=":material/edit:")
        return
    findings = reading.findings
    if reading.left_out:
        st.warning(reading.left_out, icon=":material/content_cut:")
    if not findings:
        st.success(
            "None of the failures that code can show. Others show only in a run: paste its curve or a message.",
            icon=":material/check:",
        )
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
