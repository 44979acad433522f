"""Widgets for the visitor's own data: points on a plane, or a table as a CSV file."""

from __future__ import annotations

import contextlib
import csv
import io
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.training import data_card, points
from lab.training.config import TASKS
from lab.training.datasets import Dataset, from_table
from lab.training.live import Own
from lab.training.samples import DataError, TargetError
from lab.training.tables import MAX_INPUTS, ON_YOUR_MACHINE, separator, unique
from lab.ui.address import Field
from lab.ui.chart_host import clicked_points
from lab.ui.table import escape_markdown, with_code
from lab.ui.uploads import release
from lab.ui.widgets import button, switch

MAX_CLASSES = 20  # of a table, because the server is shared
LAST, AS_IT_IS = "last", "automatic"
POINTS = Field("points", "own points", points.START, points.from_text, points.to_text)


def your_points(val_fraction: float, seed: int, _: DeltaGenerator) -> tuple[Dataset, Own] | None:
    """Let the visitor click or type points, and return their dataset and what it was made from.

    Returns None after a message if they cannot be trained on yet.
    """
    session = st.session_state

    def add(*places: tuple[float, float]) -> None:
        index, room = points.CLASSES.index(session["own points class"]), points.MAX_POINTS - len(session["own points"])
        near = [(x, y) for x, y in places if max(abs(x), abs(y)) <= points.REACH]
        session["own points"] = (*session["own points"], *((round(x, 2), round(y, 2), index) for x, y in near[:room]))

    def keep(*kept: points.Point) -> None:
        session["own points"] = kept

    def typed() -> None:
        add((session["own points x"], session["own points y"]))

    session.setdefault("own points class", points.CLASSES[0])
    add(*clicked_points("own points teller"))
    count = len(session["own points"])
    with st.container(key="training-own", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Click on the plane.** {count} of at most {points.MAX_POINTS} points.", width="content")
        switch("Class of the next point", points.CLASSES, "own points class", bare=True)
        button("Undo", "own points undo", keep, *session["own points"][:-1], disabled=not count)
        button("Clear", "own points clear", keep, disabled=not count)
        with st.popover("By number"):
            entry: dict[str, Any] = {"min_value": -points.REACH, "max_value": points.REACH, "step": 0.1}
            st.number_input("x", value=0.0, key="own points x", **entry)
            st.number_input("y", value=0.0, key="own points y", **entry)
            button("Add the point", "own points add", typed, disabled=count >= points.MAX_POINTS)
    try:
        own = {"points": points.to_text(session["own points"])}
        return points.dataset(session["own points"], val_fraction, seed), own
    except DataError as error:
        st.info(with_code(str(error)))
        return None


def your_table(val_fraction: float, seed: int, bar: DeltaGenerator) -> tuple[Dataset, Own] | None:
    """Let the visitor upload a table and choose its target column, and return its dataset and what it was made from.

    bar: where the button stands that leads back to the table, once there is one. Returns None after a message if there
    is no file yet or it cannot be used.
    """
    session = st.session_state
    own: Own | None = session.get("own table")
    # The table is kept in the session, because the widget forgets its file when the page is left.
    place = st.container() if own is None else bar.popover("Your table", icon=":material/upload_file:")
    file = place.file_uploader(
        "A table as CSV: input columns, of numbers or of a few different texts, and a target column",
        ["csv", "tsv", "txt"],
        key="own table file",
    )
    try:
        if file and session.get("own table id") != file.file_id:
            text = file.getvalue().decode("utf-8-sig")
            own = {"table": text, "name": file.name, "target": None, "task": None}
            with contextlib.suppress(TargetError):  # then the visitor can choose another column
                from_table(text, file.name, None, val_fraction, seed)
            session["own table"], session["own table id"] = own, file.file_id
            session["own table target"], session["own table task"] = LAST, AS_IT_IS
            release(file)
            st.rerun()
        if own is None:
            st.info("**Your table: no file yet**, so there is nothing to train on. Choose one above.")
            return None
        # Streamlit forgets both when the page is left.
        session.setdefault("own table target", own["target"] or LAST)
        session.setdefault("own table task", own.get("task") or AS_IT_IS)
        target = place.selectbox("Target column", [LAST, *_header(own["table"])], key="own table target")
        task = place.selectbox("Task", [AS_IT_IS, *TASKS], key="own table task")
        own = own | {"target": None if target == LAST else target, "task": None if task == AS_IT_IS else task}
        session["own table"] = own
        asked = (own, val_fraction, seed)
        if session.get("own table asked") != asked:  # reading is slow
            data = from_table(own["table"], own["name"], own["target"], val_fraction, seed, own["task"])
            _check_classes(data)
            notes = (*data.notes, *data_card.sentences(data_card.card(data)))
            session["own table data"], session["own table notes"], session["own table asked"] = data, notes, asked
        about_the_table(place)
    except UnicodeDecodeError:
        name = escape_markdown(file.name) if file else "This file"
        st.error(f"{name} is not text in UTF-8: save the table as CSV in UTF-8.")
        return None
    except DataError as error:  # its message may quote the table
        st.error(with_code(str(error)))
        return None
    return session["own table data"], own


def about_the_table(place: DeltaGenerator) -> None:
    """Say how the visitor's table was read, and what is worth knowing about it before training."""
    name, notes = st.session_state["own table data"].name, st.session_state["own table notes"]
    named = [note if note.startswith(name) else f"{note[0].upper()}{note[1:]}" for note in notes]
    place.caption(escape_markdown(" ".join(note if note.endswith("?") else f"{note}." for note in named)))


def _header(text: str) -> list[str]:
    """Return the texts in the first row, to choose from; `from_table` decides whether they are column names."""
    first = text.partition("\n")[0]
    try:
        names = next(csv.reader(io.StringIO(first), delimiter=separator(first)), [])
    except csv.Error:
        return []
    return [name for name in unique(names[: MAX_INPUTS + 1]) if name]


def _check_classes(data: Dataset) -> None:
    """Raise DataError for a table with too many classes for this page."""
    if len(data.classes) > MAX_CLASSES:
        raise DataError(
            f"{data.name} has {len(data.classes)} classes; this page takes up to {MAX_CLASSES}: "
            f"{ON_YOUR_MACHINE.format(name=data.name)}"
        )


OWN_DATA = {"points": your_points, "table": your_table}


def restore(own: Own) -> None:
    """Make the data of a reopened run the visitor's present data; call it in a callback."""
    session = st.session_state
    if "points" in own:
        session["own points"] = points.from_text(own["points"])
    if "table" in own:
        session["own table"] = own
        session["own table target"], session["own table task"] = own["target"] or LAST, own.get("task") or AS_IT_IS
