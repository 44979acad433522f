"""The files of the runs that go with a visit.

Without a key of the visit, or where nothing can be written, the page works as well, and forgets.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import streamlit as st

from lab.config import runs_folder
from lab.training import visits
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.run_folder import RunError
from lab.training.shelf import put
from lab.training.visits import Visit
from lab.ui.visitor import COOKIE, is_key


def files() -> Path:
    """The folder with the runs of all visitors."""
    return runs_folder() / ".visits"


def arrived() -> Visit | None:
    """The visit, in the first run of the page's script, if the browser has a key."""
    state = st.session_state
    key = st.context.cookies.get(COOKIE)
    if "visit" in state or not is_key(key):
        return None
    state["visit"] = visit = Visit(files(), key)
    return visit


def keep(run: LiveRun, every: float = 0.0) -> None:
    """Keep the run that the page shows, if it has changed since, and so many seconds have passed."""
    state = st.session_state
    now, (before, then) = (id(run), run.batches), state.get("visit kept", (None, 0.0))
    if "visit" not in state or before == now or time.monotonic() < then + every:
        return
    with contextlib.suppress(RunError):
        state["visit"].keep_present(run)
    state["visit kept"] = now, time.monotonic()


def shelve(run: LiveRun) -> None:
    """Put the run on the shelf."""
    state = st.session_state
    state["training shelf"] = put(state["training shelf"], run.config, run.records, run.own)
    kept = next((kept for kept in state["training shelf"] if (kept.config, kept.own) == (run.config, run.own)), None)
    if kept and "visit" in state and len(kept.records) == len(run.records):
        with contextlib.suppress(RunError):
            state["visit"].shelve(kept, run)


def finished(config: Config) -> LiveRun | None:
    """The run of these settings, if this or another visitor has trained it to its end, on data that everybody has."""
    return visits.opened(visits.finished(files(), config))
