"""The picture of a Jacobian: numbers, signs, and cells that nobody knows yet."""

import numpy as np

from lab.charts import jacobian


def test_an_unknown_cell_is_no_zero():
    matrix = np.array([[0.0, -2.5], [1e-5, 4.0]])
    known = np.array([[True, True], [True, False]])
    chart = jacobian(matrix, known, {"y[0]": 1.0, "y[1]": 2.5}, {"a": -1.0, "b": 3.0})
    assert [cell["label"]["formatter"] for cell in chart.spec["series"][0]["data"]] == ["0", "−2.5", "1e−5", "·"]
    codes = [cell["value"][2] for cell in chart.spec["series"][0]["data"]]
    assert len(set(codes)) == 4  # zero, below zero, small, unknown: what is not 0 never looks like 0
    assert chart.spec["xAxis"]["data"] == ["a\n−1", "b\n3"]
    assert chart.spec["yAxis"]["data"] == ["y[0] = 1", "y[1] = 2.5"]
    frames = [cell["itemStyle"].get("borderType") for cell in chart.spec["series"][0]["data"]]
    assert frames == ["dashed", None, None, None]  # only what is exactly 0
    assert chart.rows == [("y[0]", "0", "−2.5"), ("y[1]", "1e−5", "·")]
    assert "3 of 4 cells are filled, 1 of them are 0" in chart.alt


def test_what_is_not_finite_is_written():
    chart = jacobian(
        np.array([[np.inf, np.nan]]), np.ones((1, 2), dtype=bool), {"y": np.inf}, {"a": 1.0, "b": 2.0}, "dark"
    )
    assert chart.rows == [("y", "∞", "NaN")]
