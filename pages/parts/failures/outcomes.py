"""Compares the results of a failure's two programs: the one with the cause and the one with the fix."""

import numpy as np

from lab import charts
from lab.charts import Chart
from lab.failures.programs import Ran
from lab.text import brief
from lab.ui import page
from lab.ui.chart_host import show_chart
from lab.ui.table import show_table


def show_outcomes(key: str, cause: Ran, cure: Ran) -> None:
    """Show the results of both programs side by side: numbers as a table, lists of numbers as charts.

    key  of the failure; used in the keys of the charts
    """
    names = [*dict.fromkeys([*cause.shown, *cure.shown])]
    table = [name for name in names if not any(isinstance(ran.shown.get(name), list) for ran in (cause, cure))]
    pairs = {name: (_cell(cause, name), _cell(cure, name)) for name in table}
    if pairs:
        rows = [(name, *pair, "the same" if pair[0] == pair[1] else "differs") for name, pair in pairs.items()]
        show_table(["", "✗ cause", "✓ fix", ""], rows)
    for name in names:
        if isinstance(cure.shown.get(name), list):
            show_chart(_course(name, cause, cure), f"wrong {key} {name}")


def _cell(ran: Ran, name: str) -> str:
    if ran.error:
        return "stopped"
    if name not in ran.shown:
        return "–"
    value = ran.shown[name]
    return brief(np.asarray(value)) if isinstance(value, (int, float, np.ndarray, np.generic)) else str(value)


def _course(name: str, cause: Ran, cure: Ran) -> Chart:
    drawn = [
        charts.Line(word, [*enumerate(map(float, ran.shown[name]), start=1)])
        for word, ran in (("✗ cause", cause), ("✓ fix", cure))
        if name in ran.shown
    ]
    x = "layer" if "layer" in name else "batch" if "batch" in name else "step"
    values = [value for line in drawn for _, value in line.points if 0 < value < np.inf]
    log = x != "batch" and bool(values) and max(values) > 100 * min(values)
    return charts.lines(
        f"{name[0].upper()}{name[1:]}",
        drawn,
        charts.Axis(x),
        charts.Axis(name, log=log),
        height=220,
        theme=page.theme(),
    )
