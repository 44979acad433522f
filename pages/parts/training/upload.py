"""Widgets for the visitor's own data: points on a plane, or a table as a CSV file."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.text.encoding import ENCODINGS, described, reread
from lab.training import data_card, points, table_file
from lab.training.config import TASKS
from lab.training.datasets import Dataset
from lab.training.live import Own, checked_own, own_dataset
from lab.training.samples import Choices, DataError, TableSettings, TargetError
from lab.training.table_file import ON_YOUR_MACHINE
from lab.ui.binding import HeldValue
from lab.ui.chart_host import clicked_points
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button, switch
from pages.parts.training import kept

MAX_CLASSES = 20  # of a table, because the server is shared
LAST, AS_IT_IS = "last", "automatic"
TYPES = ["csv", "tsv", "txt", "dat", "data", "json", "jsonl", "ndjson", "arff", "xlsx"]
POINTS = HeldValue("training-points", points.START, points.from_text, points.to_text)


def your_points(val_fraction: float, seed: int, _: DeltaGenerator) -> tuple[Dataset, Own] | None:
    """Let the visitor click or type points, and return their dataset and what it was made from.

    Returns None after a message if they cannot be trained on yet.
    """
    session = st.session_state

    def add(*places: tuple[float, float]) -> None:
        before, name = session["training-points"], session.get("own points class", points.CLASSES[0])
        near = [(x, y) for x, y in places if max(abs(x), abs(y)) <= points.REACH]
        new = [(round(x, 2), round(y, 2), points.CLASSES.index(name)) for x, y in near]
        session["training-points"] = (*before, *new)[: points.MAX_POINTS]

    def keep(*kept: points.Point) -> None:
        session["training-points"] = kept

    def typed() -> None:
        add((session["own points x"], session["own points y"]))

    add(*clicked_points("own points teller"))
    count = len(session["training-points"])
    with st.container(key="training-own", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Click on the plane.** {count} of at most {points.MAX_POINTS} points.", width="content")
        switch("Class of the next point", points.CLASSES, "own points class", bare=True)
        button("Undo", "own points undo", keep, *session["training-points"][:-1], disabled=not count)
        button("Clear", "own points clear", keep, disabled=not count)
        with st.popover("By number"):
            entry: dict[str, Any] = {"min_value": -points.REACH, "max_value": points.REACH, "step": 0.1}
            st.number_input("x", value=0.0, key="own points x", **entry)
            st.number_input("y", value=0.0, key="own points y", **entry)
            button("Add the point", "own points add", typed, disabled=count >= points.MAX_POINTS)
    try:
        own = {"points": points.to_text(session["training-points"])}
        return points.dataset(session["training-points"], val_fraction, seed), own
    except DataError as error:
        st.info(with_code(str(error)))
        return None


def your_table(val_fraction: float, seed: int, bar: DeltaGenerator) -> tuple[Dataset, Own] | None:
    """Let the visitor upload a table and choose its target and inputs; return its dataset and what it was made from.

    bar: where the button stands that leads back to the table, once there is one. Returns None after a message if there
    is no file yet or it cannot be used.
    """
    session = st.session_state
    own: Own | None = session.get("own table")
    # The table is kept in the session, because the widget forgets its file when the page is left.
    place = st.container() if own is None else bar.popover("Your table", icon=":material/upload_file:")
    file = place.file_uploader("A table with a target column: CSV, JSON, ARFF or Excel", TYPES, key="own table file")
    choices: Choices = ()
    try:
        if file and session.get("own table id") != file.file_id:
            content, encoding = table_file.utf8(file.getvalue(), file.name)
            session["own table id"], session["training until"] = file.file_id, None
            _open(content.decode(), file.name, encoding)
            st.rerun()
        if own is None:
            st.info("**Your table: no file yet**, so there is nothing to train on. Choose one above.")
            return None
        # Streamlit forgets these when the page is left.
        session.setdefault("own table target", own["target"] or LAST)
        session.setdefault("own table task", own["task"] or AS_IT_IS)
        session.setdefault("own table encoding", own["encoding"])
        target = place.selectbox("Target column", [LAST, *own["columns"]], key="own table target")
        task = place.selectbox("Task", [AS_IT_IS, *TASKS], key="own table task")
        own = own | {"target": None if target == LAST else target, "task": None if task == AS_IT_IS else task}
        if own["encoding"] in ENCODINGS:
            place.selectbox("Encoding", ENCODINGS, format_func=described, key="own table encoding", on_change=_decode)
        own["drop"] = [name for name in own["drop"] if name != (own["target"] or own["columns"][-1])]
        if own != session["own table"]:
            session["own table"] = own
            _keep(own)
        asked = (own, val_fraction, seed)
        if session.get("own table asked") != asked:  # reading is slow
            data = own_dataset(own, val_fraction, seed)
            assert data is not None  # own holds a table
            _check_classes(data)
            notes = [_sentence(note, data.name) for note in (*data.notes, *data_card.remarks(data))]
            session["own table data"], session["own table notes"], session["own table asked"] = data, notes, asked
        choices = session["own table data"].choices
    except DataError as error:  # its message may quote the table
        choices = error.choices
        where = "**Target column**, **Task**" if isinstance(error, TargetError) else "**Inputs**" if choices else ""
        st.error(with_code(str(error)) + (f" Look under **Your table**: {where}." if where else ""))
        return None
    finally:
        if choices:
            _tick_inputs(place, choices)
    place.caption(escape_markdown(" ".join(session["own table notes"])))
    return session["own table data"], own


def _open(text: str, name: str, encoding: str) -> None:
    """Begin again with a table, with nothing chosen. Raises DataError."""
    frame, chosen = table_file.read(text.encode(), name, shared=True).frame, TableSettings(None, None, [], [], encoding)
    restore({"table": text, "name": name, "columns": list(frame.columns), **chosen._asdict()})


def _decode() -> None:
    """Read the table again, in the encoding that was chosen; keep the old one if there is no table in it."""
    own, encoding = st.session_state["own table"], st.session_state.pop("own table encoding")
    with contextlib.suppress(DataError):
        _open(reread(own["table"], own["encoding"], encoding), own["name"], encoding)


def _tick_inputs(place: DeltaGenerator, choices: Choices) -> None:
    """Let the visitor tick the columns that are inputs; they begin as the reader has chosen them."""
    session = st.session_state

    def tick() -> None:
        own, ticked = session["own table"], session["own table inputs"]
        if ticked:  # a network needs one
            off = [name for name, used in choices if used and name not in ticked]
            on = [name for name, used in choices if not used and name in ticked]
            drop = [name for name in own["drop"] if name not in on] + off
            keep = [name for name in own["keep"] if name not in off] + on
            session["own table"] = own | {"drop": drop, "keep": keep}
            _keep(session["own table"])

    session["own table inputs"] = [name for name, used in choices if used]
    names = [name for name, _ in choices]
    place.pills(
        "Inputs", names, selection_mode="multi", key="own table inputs", on_change=tick, format_func=escape_markdown
    )


def in_short(place: DeltaGenerator) -> None:
    """Say how the visitor's table was read, and where the rest is said."""
    first, *more = st.session_state["own table notes"]
    place.caption(f"{escape_markdown(first)}{' More on it is under **Your table**.' if more else ''}")


def _sentence(note: str, name: str) -> str:
    """Return a note as a sentence; the name of the table stays as it is."""
    begun = note if note.startswith(name) else f"{note[0].upper()}{note[1:]}"
    return begun if begun.endswith("?") else f"{begun}."


def _check_classes(data: Dataset) -> None:
    """Raise DataError for a table with too many classes for this page."""
    if len(data.classes) > MAX_CLASSES:
        raise DataError(
            f"{data.name} has {len(data.classes)} classes; this page takes up to {MAX_CLASSES}: "
            f"{ON_YOUR_MACHINE.format(name=data.name)}"
        )


OWN_DATA = {"points": your_points, "table": your_table}


def receive(text: str) -> None:
    """Take over a table that the browser has kept, unless this visit has one; call it in a callback."""
    with contextlib.suppress(ValueError, RecursionError):  # the browser may send anything
        if "own table" not in st.session_state:
            _set(checked_own(json.loads(text)))


def restore(own: Own) -> None:
    """Make the data of a reopened run the visitor's present data; call it in a callback."""
    _set(own)
    if "table" in own:
        _keep(own)


def _set(own: Own) -> None:
    session = st.session_state
    if "points" in own:
        session["training-points"] = points.from_text(own["points"])
    if "table" in own:
        session["own table"] = own
        session["own table target"], session["own table task"] = own["target"] or LAST, own["task"] or AS_IT_IS
        session["own table encoding"] = own["encoding"]


def _keep(own: Own) -> None:
    kept.keep("table", json.dumps(own))


def forget() -> None:
    """Forget the visitor's table and points; call it in a callback."""
    session = st.session_state
    session["training-points"] = points.START
    for key in [key for key in session if str(key).startswith("own table")]:
        del session[key]
