"""A pass recorded in the learner's own program: loading its file and showing it in the player."""

import streamlit as st

from lab.trace.loading import LoadError, load
from lab.ui import page
from lab.ui.memoize import memoize
from lab.ui.player import player

HOW = (
    "`lab.watch` is a part of this lab: run your script in the lab's folder, or install the lab next to your PyTorch "
    "with `pip install PATH-OF-THE-LAB` and write `from tensor_ops_lab.lab.watch import watch`. The block records each "
    "`backward()` in it, and `save` writes the last one. An array with more than 64 numbers is kept as a sample."
)
RECORDING = """from lab.watch import watch

with watch() as pass_:
    loss = ...  # your own model
    loss.backward()
pass_.save("pass.json")"""
MAX_MEGABYTES = 20
LOADED = "recorded pass"  # session key of the file's bytes, which stay when the page shows something else


def choose() -> None:
    """Let the learner load a recorded pass."""
    with st.popover("Your file", icon=":material/upload_file:"):
        st.markdown('A file that `pass_.save("pass.json")` wrote.')
        file = st.file_uploader("A pass saved as JSON", ["json"], key="recorded file", max_upload_size=MAX_MEGABYTES)
    if file:
        st.session_state[LOADED] = file.getvalue()


def show() -> None:
    """Show the recorded pass that was loaded last in the player, or explain how to record one."""
    data = st.session_state.get(LOADED)
    if data is None:
        st.markdown(
            "Record a pass of your PyTorch program, or of `model.Tensor`, and load the file under **Your file**."
        )
        st.code(RECORDING, "python")
        passes = "See such passes: embedding, convolution, attention"
        page.link_to("pages/other_engines.py", passes, "arrow_forward", {"tab": "next"})
        return
    try:
        trace = memoize(LOADED, data, lambda: load(data))
    except LoadError as error:
        st.warning(str(error))
        return
    player(trace, key="recorded player", title="A recorded pass")
