"""Chart that compares the answers of this engine and PyTorch to the same questions, a row for each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.charts.chart import COLOURS, Chart, cell_table, mix

ROW, AROUND = 29, 30  # height in pixels of a row, and of the names above the rows
UNASKED, PRINTED, FAILED, BETWEEN = range(4)  # codes of a cell
SIGNS = {None: "", True: "=", False: "≠"}


class AnswerCell(NamedTuple):
    """The answer of an engine. outcome: in a few characters; failed: it is an error."""

    text: str
    outcome: str
    failed: bool


class AnswerRow(NamedTuple):
    """A question, the answers of this engine (here) and of PyTorch (there; None until asked); same: they agree."""

    name: str
    title: str
    here: AnswerCell
    there: AnswerCell | None
    same: bool | None


def answers(rows: Sequence[AnswerRow], version: str, theme: str = "light") -> Chart:
    """Draw the answers of this engine and of this version of PyTorch, a row for each question."""
    colours = COLOURS[theme]
    cells = []
    for row, question in enumerate(rows):
        weight = "bold" if question.same is False else "normal"
        for column, answer in ((0, question.here), (2, question.there)):
            code = UNASKED if answer is None else FAILED if answer.failed else PRINTED
            label = {"formatter": answer.outcome if answer else "?", "fontWeight": weight}
            cells.append({"value": [column, row, code], "label": label})
        sign = {"formatter": SIGNS[question.same], "fontSize": 18, "fontWeight": weight}
        cells.append({"value": [1, row, BETWEEN], "label": sign, "itemStyle": {"borderWidth": 0}})
    paper = colours["paper"]
    palette = [
        mix(paper, colours["faint"], 0.1),
        mix(paper, colours["train"], 0.2),
        mix(paper, colours["validation"], 0.25),
        "transparent",
    ]
    spec = cell_table(["this engine", "", "PyTorch"], [question.name for question in rows], cells, palette, theme)
    for axis in ("xAxis", "yAxis"):
        spec[axis]["axisLine"] = {"show": False}
    return Chart(
        "The same questions to both",
        spec | {"grid": {"left": 112, "right": 4, "top": 24, "bottom": 4}},
        AROUND + ROW * len(rows),
        _alt(rows),
        ("question", "this engine", f"PyTorch {version}".strip()),
        [(one.title, one.here.text, one.there.text if one.there else "?") for one in rows],
    )


def _alt(rows: Sequence[AnswerRow]) -> str:
    if not all(row.there for row in rows):
        return "PyTorch has not been asked yet."
    names = [row.name for row in rows if not row.same]
    return f"PyTorch’s outcome differs in {len(names)} of {len(rows)} questions: {', '.join(names)}."
