"""Saves a visitor's runs to disk: when training begins, every few seconds, and when the browser leaves or reloads.

Without a key in the browser's cookie, nothing is saved.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from lab.config import runs_folder
from lab.training import visitor_runs
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.run_folder import RunError
from lab.training.shelf import put
from lab.training.visitor_runs import Visit
from lab.training.worker import Worker
from lab.ui.visitor import COOKIE, is_key

KEEP = 10.0  # seconds between two saves of a run in training
NOT_KEPT = "Runs cannot be kept on this server: a reload loses what was trained."


class Keeper:
    """Saves the run that one session shows. complaint: a sentence if that is not possible, or else ""."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.complaint = ""
        self._worker: Worker | None = None
        self._saved: tuple[int, int] | None = None  # id of the saved run, and its number of batches
        self._due = 0.0
        self._lock = threading.Lock()
        with self.complaining():
            visit.prepare()

    @contextlib.contextmanager
    def complaining(self) -> Iterator[None]:
        """Set `complaint` according to whether the block can write its files."""
        try:
            yield
        except RunError:
            self.complaint = NOT_KEPT
        else:
            self.complaint = ""

    def follow(self, worker: Worker) -> None:
        """Save the run of this worker from now on."""
        if worker is not self._worker:
            self._worker, self._due = worker, 0.0

    def keep_if_due(self) -> None:
        """Save the run if the last save is long enough ago."""
        if time.monotonic() >= self._due:
            self.keep()

    def keep(self) -> None:
        """Save the run if it has changed since the last save. Any thread may call this."""
        if self._worker is None:
            return
        with self._lock, self._worker.up_to_date() as run:
            present = id(run), run.batches
            if (run.batches or self._saved) and present != self._saved:
                with self.complaining():
                    self.visit.keep_present(run)
                self._saved, self._due = present, time.monotonic() + KEEP

    def leave(self) -> None:
        """Save the run in a thread, after the browser has left."""
        threading.Thread(target=self.keep, daemon=True).start()


@st.cache_resource(show_spinner=False)
def _keepers() -> weakref.WeakSet[Keeper]:
    """Return the keepers of all sessions on this server."""
    return weakref.WeakSet()


@st.cache_resource(show_spinner=False, scope="session", on_release=Keeper.leave)
def _until_the_browser_leaves(_keeper: Keeper) -> Keeper:
    return _keeper


def files() -> Path:
    """Return the folder with the runs of all visitors."""
    return runs_folder() / ".visits"


def arrived() -> Visit | None:
    """Return the visit in the first run of the page's script, if the browser has a key; otherwise None.

    First saves what the same browser trains in other sessions: after a reload, that is the run from before it.
    """
    session = st.session_state
    key = st.context.cookies.get(COOKIE)
    if "visit keeper" in session or not is_key(key):
        return None
    for other in list(_keepers()):
        if other.visit.key == key:
            other.keep()
    session["visit keeper"] = keeper = Keeper(Visit(files(), key))
    _keepers().add(keeper)
    return keeper.visit


def _keeper() -> Keeper | None:
    keeper: Keeper | None = st.session_state.get("visit keeper")
    if keeper:
        keeper.follow(st.session_state["training worker"])
        _until_the_browser_leaves(keeper)
    return keeper


def keep() -> None:
    """Save the run that the page shows."""
    if keeper := _keeper():
        keeper.keep()


def keep_if_due() -> None:
    """Save the run that the page shows, if the last save is some seconds ago."""
    if keeper := _keeper():
        keeper.keep_if_due()


def keep_tried() -> None:
    """Save the results of the remedies that this visit has tried."""
    if keeper := _keeper():
        with keeper.complaining():
            keeper.visit.keep_tried(st.session_state["training tried"])


def complaint() -> str:
    """Say in one sentence why runs are not saved; "" if they are."""
    keeper = _keeper()
    return keeper.complaint if keeper else ""


def shelve(run: LiveRun) -> str:
    """Put the run on the shelf and return its name there; "" if it has no complete epoch."""
    session = st.session_state
    session["training shelf"] = put(session["training shelf"], run.config, run.records, run.own)
    kept = next((kept for kept in session["training shelf"] if (kept.config, kept.own) == (run.config, run.own)), None)
    keeper = session.get("visit keeper")
    if kept and keeper and len(kept.records) == len(run.records):
        with keeper.complaining():
            keeper.visit.shelve(kept, run)
    return kept.name if kept else ""


def finished(config: Config) -> LiveRun | None:
    """Return the finished run with these settings, by this or another visitor, if its data are built in; or None."""
    return visitor_runs.open_run(visitor_runs.finished_path(files(), config))
