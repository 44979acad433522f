"""The widgets with which visitors bring their own data: points on a plane, or a table as a CSV file."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import streamlit as st

from lab import charts
from lab.training import points
from lab.training.datasets import DataError, Dataset, from_table, separator
from lab.ui import page
from lab.ui.state import Field

CELLS = 41  # along each side of the board: a click lands in the middle of one
ROWS, COLUMNS, MOST_CLASSES = 20_000, 100, 20  # of a table: the server is shared
LAST = "the last one"
POINTS = Field("points", "own points", points.START, points.from_text, points.to_text)


def your_points(val_fraction: float, seed: int) -> Dataset | None:
    """A board to place points on; their dataset, or None with a sentence when they cannot be trained yet."""
    state = st.session_state

    def add(x: float, y: float) -> None:
        if len(state["own points"]) < points.MOST:
            index = points.CLASSES.index(state["own points class"])
            state["own points"] = (*state["own points"], (round(x, 2), round(y, 2), index))

    def click() -> None:
        for group in state["own points board"].selection.selected:
            row, column = divmod(group["data_indices"][0], CELLS)
            add(*((2 * np.array([column, row]) / (CELLS - 1) - 1) * points.REACH).tolist())

    def keep(*kept: points.Point) -> None:
        state["own points"] = kept

    with st.container(border=True, key="training-own"):
        left, right = st.columns(2, gap="medium")
        with right:
            st.segmented_control(
                "Class of the next point", points.CLASSES, default="A", key="own points class", required=True
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                reach = points.REACH
                entry: dict[str, Any] = {"min_value": -reach, "max_value": reach, "step": 0.1, "width": 120}
                x = st.number_input("x", value=0.0, key="own points x", **entry)
                y = st.number_input("y", value=0.0, key="own points y", **entry)
                full = len(state["own points"]) >= points.MOST
                st.button("Add the point", on_click=add, args=(x, y), key="own points add", disabled=full)
            with st.container(horizontal=True):
                empty = not state["own points"]
                st.button("Undo", on_click=keep, args=state["own points"][:-1], key="own points undo", disabled=empty)
                st.button("Clear", on_click=keep, key="own points clear", disabled=empty)
                st.download_button("CSV", points.to_csv(state["own points"]), "points.csv", "text/csv", disabled=empty)
            st.caption(
                f"{len(state['own points'])} of at most {points.MOST} points. Click on the board, or type x and y."
            )
        with left:
            board = charts.board(state["own points"], points.CLASSES, points.REACH, CELLS, page.theme())
            st.echarts_chart(
                board.spec, height=board.height, alt=board.alt, key="own points board", on_select=click
            )  # fmt: skip
        try:
            return points.dataset(state["own points"], val_fraction, seed)
        except DataError as error:
            right.info(str(error))
            return None


def your_table(val_fraction: float, seed: int) -> Dataset | None:
    """A file to upload and its label column; its dataset, or None with a sentence."""
    with st.container(border=True, key="training-own"):
        file = st.file_uploader("A table as CSV: columns of numbers, and one of classes", "csv", key="own table")
        if file is None:
            st.caption("The file stays in this visit: it is not stored, and a copied link does not carry it.")
            return None
        try:
            text = file.getvalue().decode("utf-8-sig")
            header = _header(text)
            target = st.selectbox("Column of the classes", [LAST, *header], key="own table target")
            asked = (file.file_id, target, val_fraction, seed)
            if st.session_state.get("own table asked") != asked:  # reading takes long, and the page is drawn often
                data = from_table(text, file.name, None if target == LAST else target, val_fraction, seed)
                _fits(data)
                st.session_state["own table data"], st.session_state["own table asked"] = data, asked
            data = st.session_state["own table data"]
        except UnicodeDecodeError:
            st.error("This file is not text in UTF-8: save the table as CSV in UTF-8.")
            return None
        except DataError as error:
            st.error(str(error))
            return None
        st.caption(" ".join(f"{note}." for note in data.notes))
        return data


def _header(text: str) -> list[str]:
    """The names in the first row, to choose from; `from_table` judges whether they are names at all."""
    first = text.partition("\n")[0]
    try:
        names = next(csv.reader(io.StringIO(first), delimiter=separator(first)), [])
    except csv.Error:
        return []
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))[:COLUMNS]


def _fits(data: Dataset) -> None:
    """Raises DataError for a table that is more than this page trains."""
    rows, columns = len(data.train_x) + len(data.val_x), data.train_x.shape[1]
    if rows > ROWS or columns > COLUMNS or len(data.classes) > MOST_CLASSES:
        raise DataError(
            f"{data.name} has {rows:,} rows, {columns} columns and {len(data.classes)} classes; this page takes up to "
            f"{ROWS:,}, {COLUMNS} and {MOST_CLASSES}: train it on the command line with --data csv:{data.name}."
        )


OWN_DATA = {"points": your_points, "table": your_table}
