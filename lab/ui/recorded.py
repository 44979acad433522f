"""A pass recorded in the learner's own program: loading its file and showing it in the player."""

import streamlit as st

from lab.trace.loading import LoadError, load
from lab.trace.recording import Trace
from lab.ui import page
from lab.ui.player import player

HOW = """from lab.watch import watch

with watch() as pass_:
    loss = ...  # your own model
    loss.backward()
pass_.save("pass.json")"""
MAX_MEGABYTES = 20


def _read(data: bytes) -> Trace | str:
    try:
        return load(data)
    except LoadError as error:
        return str(error)


def choose() -> None:
    """Let the learner load a recorded pass, and explain how to record one."""
    session = st.session_state
    with st.popover("Your file", icon=":material/upload_file:"):
        st.markdown('A file that `pass_.save("pass.json")` wrote.')
        file = st.file_uploader(
            "A pass saved as JSON", type=["json"], key="recorded file", max_upload_size=MAX_MEGABYTES
        )
    if file is not None and session.get("recorded file id") != file.file_id:
        session["recorded pass"] = _read(file.getvalue())
        session["recorded file id"] = file.file_id


def show() -> None:
    """Show the recorded pass that was loaded last in the player, or why it could not be read."""
    found = st.session_state.get("recorded pass")
    if found is None:
        st.markdown(
            "Record a pass of your PyTorch program, or of `model.Tensor`, and load the file under **Your file**."
        )
        st.code(HOW, "python")
        passes = "See such passes: attention, convolution, layer norm"
        page.link_to("pages/other_engines.py", passes, "arrow_forward", {"tab": "next"})
        return
    if isinstance(found, str):
        st.warning(found)
        return
    player(found, key="recorded player", title="A recorded pass")
