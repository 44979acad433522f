"""Lines over any quantity: what is drawn, what has no place on an axis, and the table that has all of it."""

import math

from lab.charts import Axis, Line, Mark, lines

ERROR = Line("error", [(1e-3, 1e-6), (1e-2, 0.0), (1e-1, math.nan)])
OTHER = Line("other", [(1e-3, 5.0), (1.0, 2.0)], dots=True)


def test_what_has_no_place_on_a_logarithmic_axis_is_in_the_table_alone():
    chart = lines("Error", [ERROR, OTHER], Axis("h", log=True), Axis("error", log=True))
    assert [series["data"] for series in chart.spec["series"]] == [
        [[1e-3, 1e-6], [1e-2, None], [1e-1, None]],
        [[1e-3, 5.0], [1.0, 2.0]],
    ]
    assert chart.headers == ("h", "error", "other")
    assert [row[0] for row in chart.rows] == ["0.001", "0.01", "0.1", "1"]
    assert [row[1] for row in chart.rows[1:]] == ["0", "not a number", ""]
    assert [row[2] for row in chart.rows] == ["5", "", "", "2"]


def test_a_mark_stands_on_its_axis_and_in_the_words():
    chart = lines("Error", [ERROR], Axis("h"), Axis("error"), marks=[Mark("x", 0.01, "best"), Mark("y", 1.0, "one")])
    assert chart.spec["series"][0]["markLine"]["data"] == [
        {"xAxis": 0.01, "name": "best"},
        {"yAxis": 1.0, "name": "one"},
    ]
    assert "Marked: best, x = 0.01." in chart.alt
    assert "Lowest: 0 at 0.01." in chart.alt


def test_lines_differ_in_more_than_colour():
    one, two = lines("Error", [ERROR, OTHER], Axis("h"), Axis("error")).spec["series"]
    assert one["symbol"] != two["symbol"]
    assert one["lineStyle"]["type"] != two["lineStyle"]["type"]
    assert (one["type"], two["type"]) == ("line", "scatter")


def test_a_long_table_is_thinned_and_keeps_its_ends():
    chart = lines("Squares", [Line("y", [(float(x), float(x * x)) for x in range(500)])], Axis("x"), Axis("y"))
    assert len(chart.rows) == 24
    assert (chart.rows[0][0], chart.rows[-1][0]) == ("0", "499")


def test_a_mark_far_below_one_is_not_rounded_away():
    assert lines("Error", [ERROR], Axis("h"), Axis("e")).spec["series"][0]["markLine"]["precision"] == -1


def test_a_long_logarithmic_axis_has_a_few_ticks_where_a_short_one_has_one_for_each_power():
    assert Axis("h", log=True, ends=(1e-17, 1e-1)).spec()["interval"] == 2
    assert Axis("h", log=True, ends=(1e-3, 1e-1)).spec()["interval"] == 1
    assert "interval" not in Axis("h", log=True).spec()
