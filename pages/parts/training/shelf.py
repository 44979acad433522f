"""The shelf of the Training lab: earlier runs to compare and reopen."""

from __future__ import annotations

import contextlib

import streamlit as st

from lab.training.live import LiveRun
from lab.training.records import best_text, is_comparable
from lab.training.shelf import ShelvedRun, differences, from_text, put, table, to_text
from lab.ui.binding import step
from lab.ui.table import escape_markdown
from lab.ui.widgets import button
from pages.parts.training import kept, upload
from pages.parts.training.settings import set_widgets, trainable


def shelve(run: LiveRun) -> str:
    """Put the run on the shelf and return its name there; "" if it has no complete epoch."""
    session = st.session_state
    shelf = put(session["training shelf"], run.config, run.records, run.own)
    if shelf != session["training shelf"]:
        session["training shelf"] = shelf
        _keep()
    return next((one.name for one in shelf if run.records and (one.config, one.own) == (run.config, run.own)), "")


def receive(text: str) -> None:
    """Take over the runs that the browser has kept, unless this visit has some; call it in a callback."""
    with contextlib.suppress(ValueError):  # the browser may send anything
        if not st.session_state["training shelf"]:
            st.session_state["training shelf"] = [run for run in from_text(text) if trainable(run.config)]


def _keep() -> None:
    shelf = st.session_state["training shelf"]
    kept.keep("shelf", to_text(shelf) if shelf else "")


def shelf() -> None:
    """Show the table of earlier runs in an expander."""
    session = st.session_state
    own = session["training shelf"]
    box = st.expander(f"Earlier runs ({len(own)} from this visit)", key="training shelf open", on_change="rerun")
    if box.open:
        with box:
            if own:
                _table(own)
            else:
                st.markdown("Change a setting after a few epochs: the previous run is kept here for comparison.")


def read_ticks() -> None:
    """Take the runs that the visitor has ticked in the table as those to compare with."""
    session = st.session_state
    key, runs = session.get("training shelf table", ("none yet", []))
    if key in session:
        session["training compared"] = [runs[row] for row in session[key]["selection"]["rows"] if row < len(runs)]


def _table(runs: list[ShelvedRun]) -> None:
    """Draw the table of all runs, whose columns are what differs among them; a tick adds a run to the charts."""
    session = st.session_state
    names = [run.name for run in runs]
    compared = [other.name for other in session["training compared"]]
    st.caption(
        "Tick runs to draw their validation curves next to the current run. Tick a single one to open or "
        "reuse it. Click a heading to sort."
    )
    # Ticks are row numbers, so a table of other runs needs another key.
    session["training shelf table"] = f"training shelf {hash(tuple(names))}", runs
    st.dataframe(
        table(runs),
        key=session["training shelf table"][0],
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [names.index(name) for name in compared if name in names]}},
        alt="Earlier runs and their differences",
    )
    ticked = [run for run in runs if any(run.name == other.name for other in session["training compared"])]
    current = session["training worker"].run.history
    drawn = [run.name for run in ticked if is_comparable(run.records, current)]
    if len(ticked) == 1:
        _shelved(ticked[0])
    elif drawn:
        st.markdown(f"Drawn: {escape_markdown(', '.join(drawn))}.")
    if len(drawn) < len(ticked):
        st.markdown("A regression and a classification cannot be compared: their losses measure different things.")


def _shelved(chosen: ShelvedRun) -> None:
    """Show one run of the shelf: its result, how its settings differ, and buttons to open, rename or delete it."""
    session = st.session_state

    def load() -> None:
        upload.restore(chosen.own)
        set_widgets(chosen.config)

    def train_again() -> None:
        load()
        session["training until"] = chosen.config, (len(chosen.records), 0)
        step()

    def remove() -> None:
        for place in ("training shelf", "training compared"):
            session[place] = [other for other in session[place] if other.name != chosen.name]
        _keep()

    with st.container(border=True):
        run = session["training worker"].run
        others = differences(chosen.config, run.config, chosen.own == run.own or chosen.config.data != run.config.data)
        st.markdown(
            f"**{escape_markdown(chosen.name)}**, {len(chosen.records)} epochs, "
            f"{best_text(chosen.records, chosen.config)}. Compared with the current run: {escape_markdown(others)}."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            button("Use its settings", f"load {chosen.name}", load)
            st.download_button("Download", chosen.to_jsonl(), f"{chosen.name}.jsonl", key=f"download {chosen.name}")
            button("Open", f"open {chosen.name}", train_again, help="Trains it again, with the same numbers.")
            button("Delete", f"delete {chosen.name}", remove)
