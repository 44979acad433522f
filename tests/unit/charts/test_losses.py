"""The losses of two engines as one chart."""

import json

from lab.charts import losses
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.compare import LessonRun, train_with


def test_the_chart_is_strict_json_and_its_table_has_both_runs():
    for key in ("sign-flipped", "skip-unbroadcast", "wrong-order"):
        runs = train_with(BY_KEY[key].healthy, 0), train_with(BY_KEY[key].broken, 0)
        for theme in ("light", "dark"):
            chart = losses(*(run.losses for run in runs), theme)
            json.dumps(chart.spec, allow_nan=False)
            assert "Healthy:" in chart.alt
            assert "Broken:" in chart.alt
            assert chart.headers == ("epoch", "healthy", "broken")
            assert chart.spec["xAxis"]["axisPointer"]["label"]["formatter"] == "epoch {value}"  # heads the tooltip
            assert all(len(row) == 3 for row in chart.rows)
    assert losses(*(run.losses for run in runs), "light").spec["yAxis"]["type"] == "value"


def test_a_run_without_an_epoch_shows_where_it_began():
    healthy = train_with(BY_KEY["skip-unbroadcast"].healthy, 0)
    chart = losses(healthy.losses, LessonRun(healthy.initial, [], "ValueError: no.").losses, "light")
    assert chart.rows[0][2] != "–"
    assert {row[2] for row in chart.rows[1:]} == {"–"}
    assert "after 0 epochs" in chart.alt
