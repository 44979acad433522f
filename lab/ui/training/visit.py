"""The files of the runs that go with a visit: a run is kept as its training begins, every few seconds, and when the
browser leaves or reloads. Without a key of the visit nothing is kept.
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
from lab.training import visits
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.run_folder import RunError
from lab.training.shelf import put
from lab.training.visits import Visit
from lab.training.worker import Worker
from lab.ui.visitor import COOKIE, is_key

KEEP = 10.0  # seconds after which a run in training is kept again
NOT_KEPT = "Runs cannot be kept on this server: a reload loses what was trained."


class Keeper:
    """Keeps the run that the page of one session shows. complaint: one sentence where that is not possible."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.complaint = ""
        self._worker: Worker | None = None
        self._kept: tuple[int, int] | None = None  # which run, and after how many batches
        self._due = 0.0
        self._lock = threading.Lock()
        with self.complaining():
            visit.prepare()

    @contextlib.contextmanager
    def complaining(self) -> Iterator[None]:
        """Note it where runs cannot be written."""
        try:
            yield
        except RunError:
            self.complaint = NOT_KEPT
        else:
            self.complaint = ""

    def follow(self, worker: Worker) -> None:
        """From now on the page shows the run of this worker."""
        if worker is not self._worker:
            self._worker, self._due = worker, 0.0

    def keep_if_due(self) -> None:
        """Keep a run in training if it is time."""
        if time.monotonic() >= self._due:
            self.keep()

    def keep(self) -> None:
        """Keep the run as it is in this moment, if it has changed since. Any thread may call this."""
        if self._worker is None:
            return
        with self._lock, self._worker.still() as run:
            now = id(run), run.batches
            if (run.batches or self._kept) and now != self._kept:
                with self.complaining():
                    self.visit.keep_present(run)
                self._kept, self._due = now, time.monotonic() + KEEP

    def leave(self) -> None:
        """The browser has left: keep the run, while the server serves others."""
        threading.Thread(target=self.keep, daemon=True).start()


@st.cache_resource(show_spinner=False)
def _keepers() -> weakref.WeakSet[Keeper]:
    """Those of all sessions that the server remembers."""
    return weakref.WeakSet()


@st.cache_resource(show_spinner=False, scope="session", on_release=Keeper.leave)
def _until_the_browser_leaves(_keeper: Keeper) -> Keeper:
    return _keeper


def files() -> Path:
    """The folder with the runs of all visitors."""
    return runs_folder() / ".visits"


def arrived() -> Visit | None:
    """The visit, in the first run of the page's script, if the browser has a key. What the same browser has in training
    is kept first: after a reload that is the run from before it."""
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
    """Keep the run that the page shows."""
    if keeper := _keeper():
        keeper.keep()


def keep_if_due() -> None:
    """Keep the run that the page shows, while it trains: every few seconds."""
    if keeper := _keeper():
        keeper.keep_if_due()


def keep_tried() -> None:
    """Keep the results of the remedies that this visit has tried."""
    if keeper := _keeper():
        with keeper.complaining():
            keeper.visit.keep_tried(st.session_state["training tried"])


def complaint() -> str:
    """Why runs are not kept, in one sentence; "" where they are."""
    keeper = _keeper()
    return keeper.complaint if keeper else ""


def shelve(run: LiveRun) -> str:
    """Put the run on the shelf, and return its name there; "" for one that has no complete epoch to show."""
    session = st.session_state
    session["training shelf"] = put(session["training shelf"], run.config, run.records, run.own)
    kept = next((kept for kept in session["training shelf"] if (kept.config, kept.own) == (run.config, run.own)), None)
    keeper = session.get("visit keeper")
    if kept and keeper and len(kept.records) == len(run.records):
        with keeper.complaining():
            keeper.visit.shelve(kept, run)
    return kept.name if kept else ""


def finished(config: Config) -> LiveRun | None:
    """The run of these settings, if this or another visitor has trained it to its end, on data that everybody has."""
    return visits.opened(visits.finished(files(), config))
