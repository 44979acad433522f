"""The shelf of the Training lab: earlier runs to compare and reopen, and runs of the command line."""

from __future__ import annotations

import contextlib

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import CurveOptions
from lab.config import runs_folder
from lab.training.config import Config, ConfigError
from lab.training.live import LiveRun
from lab.training.records import BULKY, best_text, is_comparable, is_regression
from lab.training.run_folder import RunError
from lab.training.shelf import (
    ShelvedRun,
    differences,
    from_folder,
    from_text,
    open_with_histograms,
    put,
    table,
    to_text,
    unused,
)
from lab.ui import page
from lab.ui.binding import HeldValue, step
from lab.ui.chart_host import ChartHost, clicked_epoch
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button
from pages.parts.training import doctor, kept, upload
from pages.parts.training.instruments import choose_ridges, lost_units, unchecked
from pages.parts.training.settings import set_widgets, trainable


def _recorded(name: str) -> ShelvedRun:
    try:
        return open_with_histograms(runs_folder(), name)
    except RunError as error:
        raise ValueError(str(error)) from None


OPENED = HeldValue("training-run", None, _recorded, lambda kept: kept.name)  # a recorded run of the command line


def shelve(run: LiveRun) -> str:
    """Put the run on the shelf and return its name there; "" if it has no complete epoch."""
    session = st.session_state
    shelf = put(session["training shelf"], run.config, run.records, run.own)
    if shelf != session["training shelf"]:
        session["training shelf"] = shelf
        _keep()
    return next((one.name for one in shelf if (one.config, one.own) == (run.config, run.own)), "")


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
    if not box.open:
        return
    shared, complaints = from_folder(runs_folder())
    with box:
        if not own and not shared:
            st.markdown("Change a setting after a few epochs: the previous run is kept here for comparison.")
        if "training shelf complaint" in session:
            st.error(with_code(session.pop("training shelf complaint")))
        if own or shared:
            _table([*own, *shared])
        for sentence in complaints:
            st.warning(with_code(sentence), icon=":material/warning:")


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

    def show() -> None:
        try:
            session["training-run"] = open_with_histograms(runs_folder(), chosen.name)
        except (RunError, ConfigError) as error:
            session["training shelf complaint"] = str(error)
            return
        step()
        session["training recorded epoch"] = len(chosen.records)
        session["training worker"].pause()
        session["training running"] = False

    def change_name() -> None:
        others = [other for other in session["training shelf"] if other is not chosen]
        chosen.name = unused(session[f"name {id(chosen)}"].strip() or chosen.name, others)
        _keep()

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
            if trainable(chosen.config):
                button("Use its settings", f"load {chosen.name}", load)
            st.download_button("Download", chosen.to_jsonl(), f"{chosen.name}.jsonl", key=f"download {chosen.name}")
            if chosen.shared and chosen.records:
                button("Open", f"open {chosen.name}", show, help="As it was recorded, epoch by epoch.")
            if not chosen.shared:
                button("Open", f"open {chosen.name}", train_again, help="Trains it again, with the same numbers.")
                with st.popover("Rename"):
                    st.text_input("New name", chosen.name, 60, key=f"name {id(chosen)}", on_change=change_name)
                with st.popover("Delete"):
                    st.markdown("This cannot be undone.")
                    button("Delete it", f"delete {chosen.name}", remove)


def recorded(kept: ShelvedRun) -> None:
    """Show a recorded run of the command line in place of the run in training; nothing is trained."""
    session, last, theme = st.session_state, len(kept.records), page.theme()

    def close() -> None:
        step()
        session["training-run"] = None

    def train_again() -> None:
        close()
        set_widgets(kept.config)

    st.header(f"{escape_markdown(kept.name)} :small[:gray[recorded by the command line]]")
    st.markdown(
        f"{last} epochs, {best_text(kept.records, kept.config)}. Compared with the usual settings of the command line: "
        f"{escape_markdown(differences(kept.config, Config()))}."
    )
    unchecked(kept.config)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        button("Back to training", "training recorded close", close, icon="arrow_back")
        if trainable(kept.config):
            button("Train it again here", "training again", train_again, icon="replay")
        epoch = last
        if last > 1:
            clicked_epoch("training recorded teller", "training recorded epoch", (1, last))
            epoch = st.slider("Show the epoch", 1, last, key="training recorded epoch", persist_state="session")
    layers = list(kept.records[0]["grad_norm"])
    cursor, held_out = epoch if epoch < last else None, bool(kept.config.val_fraction)
    options = CurveOptions(charts.horizon(last, kept.config.epochs), cursor, theme, held_out)
    seen = kept.records[:epoch]
    counted = [record for record in seen if record.keys() >= BULKY]  # a long run has no histograms for some epochs
    near = f"epoch {counted[-1]['epoch']}, the nearest that is kept" if counted[-1] is not seen[-1] else ""
    scored = charts.r_squared if is_regression(kept.records[0]) else charts.accuracy
    shown = {
        "loss": charts.loss(kept.records, np.empty(0), np.empty(0), options),
        "accuracy": scored(kept.records, options),
        "gradients": charts.norms_and_updates(kept.records, layers, options),
    }
    if kept.config.hidden:
        shown["dead"] = lost_units(kept.config, kept.records, layers[:-1], options)
    with st.container(key="training-instruments"):
        host = ChartHost("recorded", {"ridges": near})
        left, right = st.columns(2, gap="medium")
        with left:
            host.place("loss")
        with right:
            host.place("accuracy")
        with st.container(key="training-doctor", horizontal=True, vertical_alignment="top", gap="small"):
            doctor.say(seen, kept.config, st.empty())
            doctor.prescribe_again(seen, kept.config, close)
        left, right = st.columns(2, gap="medium")
        with left:
            host.place(*(key for key in ("gradients", "dead") if key in shown))
        with right:
            layer, of = choose_ridges(layers)
            host.place("ridges")
        host.fill(shown | {"ridges": charts.ridges(counted, layer, of, theme)})
