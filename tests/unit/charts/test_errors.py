"""The map of errors: where the largest is, what is framed, and the table with all of it."""

import math

import numpy as np

from lab.charts import error_map


def test_the_worst_is_named_a_kink_says_so_and_the_chosen_is_framed():
    chart = error_map("w", np.array([[1e-9, 0.0], [3e-4, 1e-7]]), [(0, 1)], (1, 1))
    cells = {tuple(cell["value"][:2]): cell for cell in chart.spec["series"][0]["data"]}
    assert [cells[place]["label"]["formatter"] for place in ((0, 0), (1, 0), (0, 1), (1, 1))] == [
        "1e−9",
        "0, kink",
        "0.0003, worst",
        "1e−7",
    ]
    assert [place for place, cell in cells.items() if cell["itemStyle"]["borderWidth"] > 1] == [(1, 1)]
    assert chart.alt == "The error at each element of w. Largest at [1, 0]: 0.0003. Kinks: 1."
    assert cells[0, 1]["value"][2] == max(cell["value"][2] for cell in cells.values())
    assert chart.rows == [("0", "1e−9", "0"), ("1", "0.0003", "1e−7")]


def test_a_vector_is_one_row_and_what_is_no_number_is_the_worst():
    chart = error_map("v", np.array([1.0, math.nan, math.inf]), [], (0,))
    assert "Largest at [1]: not a number" in chart.alt
    assert chart.spec["yAxis"]["show"] is False


def test_a_wide_array_names_only_what_matters():
    cells = error_map("v", np.arange(12.0), [(3,)], (0,)).spec["series"][0]["data"]
    assert [cell["label"]["formatter"] for cell in cells if cell["label"]["show"]] == ["kink", "worst"]
