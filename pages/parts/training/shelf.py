"""The shelf of the Training lab: earlier runs to compare and reopen, and runs of the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import CurveOptions
from lab.config import hosted, runs_folder
from lab.training import run_store
from lab.training.config import Config, ConfigError
from lab.training.live import LiveRun, Own
from lab.training.records import BULKY, best_text, is_comparable, is_regression
from lab.training.run_folder import RunError
from lab.training.shelf import ShelvedRun, delete, differences, from_folder, open_with_histograms, rename, table, unused
from lab.ui import page
from lab.ui.address import Field
from lab.ui.chart_host import ChartHost, clicked_epoch
from lab.ui.state import step
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button
from pages.parts.training import doctor, upload
from pages.parts.training.instruments import choose_ridges, lost_units, unchecked
from pages.parts.training.settings import set_widgets, trainable


def _recorded(name: str) -> ShelvedRun:
    try:
        return open_with_histograms(runs_folder(), name)
    except RunError as error:
        raise ValueError(str(error)) from None


OPENED = Field("run", "training opened", None, _recorded, lambda kept: kept.name)  # a recorded run of the command line


def shelf(put_in_place: Callable[[LiveRun], None]) -> None:
    """Show the table of earlier runs in an expander. put_in_place: makes a reopened run the page's present run."""
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
            _table([*own, *shared], put_in_place)
        for sentence in complaints:
            st.warning(with_code(sentence), icon=":material/warning:")


def read_ticks() -> None:
    """Take the runs that the visitor has ticked in the table as those to compare with."""
    session = st.session_state
    key, runs = session.get("training shelf table", ("none yet", []))
    if key in session:
        session["training compared"] = [runs[row] for row in session[key]["selection"]["rows"] if row < len(runs)]


def _table(runs: list[ShelvedRun], put_in_place: Callable[[LiveRun], None]) -> None:
    """Draw the table of all runs, whose columns are what differs among them; a tick adds a run to the charts."""
    session = st.session_state
    names = [run.name for run in runs]
    compared = [other.name for other in session["training compared"]]
    st.caption(
        "Tick runs to draw their validation curves next to the current run. Tick a single one to open, reuse, rename "
        "or delete it. Click a heading to sort."
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
        _shelved(ticked[0], put_in_place)
    elif drawn:
        st.markdown(f"Drawn: {escape_markdown(', '.join(drawn))}.")
    if len(drawn) < len(ticked):
        st.markdown("A regression and a classification cannot be compared: their losses measure different things.")


def kept_run(config: Config, own: Own) -> LiveRun | None:
    """Return the run on the shelf with these settings and data, with all that it has been trained; None without one."""
    for kept in reversed(st.session_state["training shelf"]):
        if kept.file is not None and (kept.config, kept.own) == (config, own):
            with contextlib.suppress(RunError):
                return run_store.unpack(kept.file)
    return None


def _shelved(kept: ShelvedRun, put_in_place: Callable[[LiveRun], None]) -> None:
    """Show one run of the shelf: its result, how its settings differ, and buttons to open, rename or delete it."""
    session = st.session_state

    def load() -> None:
        upload.restore(kept.own)
        set_widgets(kept.config)

    def go_back_to() -> None:
        assert kept.file is not None  # otherwise the button does not exist
        with _complaining():
            run = run_store.unpack(kept.file)
            load()
            put_in_place(run)
            session["training running"] = False
            step()

    def show() -> None:
        with _complaining():
            session["training opened"] = open_with_histograms(runs_folder(), kept.name)
            step()
            session["training recorded epoch"] = len(kept.records)
            session["training worker"].pause()
            session["training running"] = False

    def change_name() -> None:
        name = session[f"name {identity}"].strip()
        if not kept.shared:
            others = [other for other in session["training shelf"] if other is not kept]
            kept.name = unused(name or kept.name, others)
            with _complaining():
                run_store.rename(kept)
        elif name:
            with _complaining():
                rename(runs_folder(), kept.name, name, read_only=hosted())
                forget("training compared")

    def remove() -> None:
        with _complaining():
            if kept.shared:
                delete(runs_folder(), kept.name, read_only=hosted())
            else:
                run_store.delete(kept)
            forget("training shelf")
            forget("training compared")

    def forget(place: str) -> None:
        session[place] = [other for other in session[place] if other.name != kept.name]

    identity = kept.name if kept.shared else id(kept)
    with st.container(border=True):
        run = session["training worker"].run
        others = differences(kept.config, run.config, kept.own == run.own or kept.config.data != run.config.data)
        st.markdown(
            f"**{escape_markdown(kept.name)}**, {len(kept.records)} epochs, {best_text(kept.records, kept.config)}. "
            f"Compared with the current run: {escape_markdown(others)}."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if trainable(kept.config):
                button("Use its settings", f"load {kept.name}", load)
            st.download_button("Download", kept.to_jsonl(), f"{kept.name}.jsonl", key=f"download {kept.name}")
            if kept.shared and kept.records:
                button("Open", f"open {kept.name}", show, help="As it was recorded, epoch by epoch.")
            if kept.file:
                button("Open", f"open {kept.name}", go_back_to, help="With its weights, as you left it.")
            if not kept.shared or not hosted():
                with st.popover("Rename"):
                    name = kept.name.rpartition("/")[2] if kept.shared else kept.name
                    st.text_input("New name", name, 60, key=f"name {identity}", on_change=change_name)
                with st.popover("Delete"):
                    st.markdown("This cannot be undone.")
                    button("Delete it", f"delete {kept.name}", remove)


@contextlib.contextmanager
def _complaining() -> Iterator[None]:
    """Turn an error with a run on disk into a message above the shelf."""
    try:
        yield
    except (RunError, ConfigError) as error:
        st.session_state["training shelf complaint"] = str(error)


def recorded(kept: ShelvedRun) -> None:
    """Show a recorded run of the command line in place of the run in training; nothing is trained."""
    session, last, theme = st.session_state, len(kept.records), page.theme()

    def close() -> None:
        step()
        session["training opened"] = None

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
