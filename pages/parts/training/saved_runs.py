"""Saves a visitor's runs to disk: when training begins, every few seconds, and when the browser leaves or reloads.

Without a key in the browser's cookie, nothing is saved.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from lab.config import runs_folder
from lab.training import run_store
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.memory import return_freed_memory
from lab.training.run_folder import RunError
from lab.training.run_store import RunStore
from lab.training.shelf import put
from lab.training.worker import Worker
from lab.ui.browser_cookie import COOKIE, is_key

SAVE_INTERVAL = 10.0  # seconds between two saves of a run in training
RELEASE_DELAY = 5.0  # seconds from the end of a session until its memory is returned
CANNOT_SAVE = "Runs cannot be kept on this server: a reload loses what was trained."


class RunSaver:
    """Saves the run that one session shows. complaint: a sentence if that is not possible, or else ""."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self.complaint = ""
        self._worker: Worker | None = None
        self._saved: tuple[int, int] | None = None  # id of the saved run, and its number of batches
        self._due = 0.0
        self._lock = threading.Lock()
        with self.complaining():
            store.prepare()

    @contextlib.contextmanager
    def complaining(self) -> Iterator[None]:
        """Set `complaint` according to whether the block can write its files."""
        try:
            yield
        except RunError:
            self.complaint = CANNOT_SAVE
        else:
            self.complaint = ""

    def follow(self, worker: Worker) -> None:
        """Save the run of this worker from now on."""
        if worker is not self._worker:
            self._worker, self._due = worker, 0.0

    def save_if_due(self) -> None:
        """Save the run if the last save is long enough ago."""
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save the run if it has changed since the last save. Any thread may call this."""
        if self._worker is None:
            return
        with self._lock, self._worker.up_to_date() as run:
            present = id(run), run.batches
            if (run.batches or "table" in run.own or self._saved) and present != self._saved:
                with self.complaining():
                    self.store.save_present(run)
                self._saved, self._due = present, time.monotonic() + SAVE_INTERVAL

    def leave(self) -> None:
        """Save the run in a thread, after the browser has left."""
        threading.Thread(target=self.save, daemon=True).start()


@st.cache_resource(show_spinner=False)
def _savers() -> weakref.WeakSet[RunSaver]:
    """Return the savers of all sessions on this server."""
    return weakref.WeakSet()


@st.cache_resource(show_spinner=False, scope="session", on_release=RunSaver.leave)
def _until_the_browser_leaves(_saver: RunSaver) -> RunSaver:
    return _saver


def _return_memory_later(_: object) -> None:
    """Return the memory of a session that ends, once Streamlit has let go of it.

    Its objects refer to each other, and an idle server makes too few new ones for Python to look for such circles.
    """
    later = threading.Timer(RELEASE_DELAY, return_freed_memory)
    later.daemon = True
    later.start()


@st.cache_resource(show_spinner=False, scope="session", on_release=_return_memory_later)
def return_memory_at_the_end() -> bool:
    """Let the memory of this session's runs be returned when the session has ended."""
    return True


def folder() -> Path:
    """Return the folder with the runs of all visitors."""
    return runs_folder() / ".visits"


def visitor() -> str:
    """Return what stands for the visitor: in all tabs of a browser its key, without one a key of this session."""
    key = st.context.cookies.get(COOKIE)
    own: str = key if is_key(key) else st.session_state.setdefault("visitor", secrets.token_hex(16))
    return own


def open_store() -> RunStore | None:
    """Return the store of the visitor's runs in the session's first run, if the browser has a key; otherwise None.

    First saves what the same browser trains in other sessions: after a reload, that is the run from before it.
    """
    session = st.session_state
    key = st.context.cookies.get(COOKIE)
    if "run saver" in session or not is_key(key):
        return None
    for other in list(_savers()):
        if other.store.key == key:
            other.save()
    session["run saver"] = saver = RunSaver(RunStore(folder(), key))
    _savers().add(saver)
    return saver.store


def _saver() -> RunSaver | None:
    saver: RunSaver | None = st.session_state.get("run saver")
    if saver:
        saver.follow(st.session_state["training worker"])
        _until_the_browser_leaves(saver)
    return saver


def save() -> None:
    """Save the run that the page shows."""
    if saver := _saver():
        saver.save()


def save_if_due() -> None:
    """Save the run that the page shows, if the last save is some seconds ago."""
    if saver := _saver():
        saver.save_if_due()


def save_tried() -> None:
    """Save the results of the remedies that this visit has tried."""
    if saver := _saver():
        with saver.complaining():
            saver.store.save_tried(st.session_state["training tried"])


def complaint() -> str:
    """Say in one sentence why runs are not saved; "" if they are."""
    saver = _saver()
    return saver.complaint if saver else ""


def shelve(run: LiveRun) -> str:
    """Put the run on the shelf and return its name there; "" if it has no complete epoch."""
    session = st.session_state
    session["training shelf"] = put(session["training shelf"], run.config, run.records, run.own)
    kept = next((kept for kept in session["training shelf"] if (kept.config, kept.own) == (run.config, run.own)), None)
    saver = session.get("run saver")
    if kept and saver and len(kept.records) == len(run.records):
        with saver.complaining():
            saver.store.shelve(kept, run)
    return kept.name if kept else ""


def finished(config: Config) -> LiveRun | None:
    """Return the finished run with these settings, by this or another visitor, if its data are built in; or None."""
    return run_store.open_run(run_store.finished_path(folder(), config))
