"""Programs that run in the background, each for one place on the pages, which waits for it."""

from __future__ import annotations

import streamlit as st

from lab.practice import isolation
from lab.practice.learner_program import MAX_CHARACTERS, ProgramRun, RunningProgram, imports
from lab.practice.sandbox import PROGRAMS
from pages.parts.practice.processes import recorder_in_turn, recorders

LINKED = "The address brought this program, perhaps from somebody else: read it, and change it to run it."
PAUSE = 0.5  # seconds between two looks at a program that runs


def begin(place: str, source: str, linked: bool) -> None:
    """Run a program for a place; stop the one that still runs for it.

    linked: whether the address brought it: then it runs only where something confines it
    """
    stop(place)
    if linked and (why := isolation.unconfined()):
        st.session_state[f"program ran for {place}"] = ProgramRun(source, problem=f"{why} {LINKED}")
    elif not isolation.unavailable() and len(source) <= MAX_CHARACTERS:
        st.session_state[f"program of {place}"] = RunningProgram(source, recorder_in_turn(imports(source)))


def stop(place: str) -> None:
    if running := current(place):
        running.stop()


def current(place: str) -> RunningProgram | None:
    """Return the program that runs for a place, or None."""
    running: RunningProgram | None = st.session_state.get(f"program of {place}")
    return running


def result(place: str) -> ProgramRun | None:
    """Return what the last program of a place did, or None if there was none."""
    ran: ProgramRun | None = st.session_state.get(f"program ran for {place}")
    return ran


def share(place: str, other: str) -> None:
    """Show at another place, too, what the last program of a place did."""
    st.session_state[f"program ran for {other}"] = result(place)


def finish(place: str) -> bool:
    """Keep the result of the program if it has ended, and return whether it has in this run of the page."""
    running = current(place)
    if running is None or not running.done:
        return False
    del st.session_state[f"program of {place}"]
    st.session_state[f"program ran for {place}"] = running.result()
    return True


def forget(place: str) -> None:
    """Forget what the last program of a place did."""
    st.session_state.pop(f"program ran for {place}", None)


def prepare() -> str:
    """Start the processes, so that the first program need not wait for them; return why none can run here, or ""."""
    reason = isolation.unavailable()
    for kind in () if reason else PROGRAMS:
        recorders(kind)
    return reason


def wait(place: str) -> None:
    """Rerun the page while a program runs; call it at the end of the page."""
    if running := current(place):
        running.wait(PAUSE)
        st.rerun()
