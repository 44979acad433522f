"""The charts of the other pages: what is in them is what was computed, and each has its words and its table."""

import json
import math

import numpy as np
import pytest

from lab.charts import Axis, Line, Mark, Track, bars, jacobian, landscape, lines, losses
from lab.charts.contours import contour, frontiers
from lab.charts.lines import MAX_ROWS
from lab.training.descent.surfaces import SURFACES
from lab.training.predictions import over_plane
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import LessonRun, train_with
from tests.unit.training.test_predictions import linear_model

# ---------------------------------------------------------------- bars


QUANTITIES = {"time": [1.0, 6.5], "memory": [1.0, 0.25]}


def test_each_bar_carries_its_number_and_so_do_the_words_and_the_table():
    chart = bars("Price", ["one", "other"], QUANTITIES)
    time, memory = chart.spec["series"]
    assert [bar["value"] for bar in time["data"]] == [1.0, 6.5]
    assert memory["data"][1]["label"]["formatter"] == "0.25"
    assert chart.alt == "Price. one: time 1, memory 1. other: time 6.5, memory 0.25."
    assert chart.headers == ("", "time", "memory")
    assert chart.rows == [("one", "1", "1"), ("other", "6.5", "0.25")]
    assert chart.spec["xAxis"]["min"] == 0  # else lengths would not compare


def test_more_bars_make_a_taller_chart():
    assert bars("Price", ["one"], {"time": [1.0]}).height < bars("Price", ["one", "other"], QUANTITIES).height


# ---------------------------------------------------------------- contours


def test_the_contour_lies_where_the_field_is_zero():
    xs, ys = np.linspace(-2, 2, 31), np.linspace(-2, 2, 33)
    field = xs[None, :] ** 2 + ys[:, None] ** 2 - 1
    ends = np.concatenate(contour(field, xs, ys))
    assert len(ends) > 50
    assert np.allclose(np.hypot(*ends.T), 1, atol=0.02)


def test_a_saddle_is_cut_twice():
    assert len(contour(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.arange(2.0), np.arange(2.0))) == 2


@pytest.mark.parametrize(("classes", "rays"), [(2, 2), (3, 3)])
def test_frontiers_of_every_pair_of_classes(classes, rays):
    angles = 2 * np.pi * np.arange(classes) / classes
    model = linear_model(10 * np.array([np.cos(angles), np.sin(angles)]), np.zeros(classes))
    xs = ys = np.linspace(-1, 1, 41)
    ends = np.concatenate(frontiers(over_plane(model, xs, ys), xs, ys))
    directions = {round(float(np.degrees(np.arctan2(y, x)) % 360) / 10) for x, y in ends if np.hypot(x, y) > 0.5}
    assert len(directions) == rays


def test_a_network_that_is_not_a_number_has_no_frontier():
    model = linear_model([[np.nan, 1], [0, 0]], [0, 0])
    xs = ys = np.linspace(-1, 1, 5)
    assert frontiers(over_plane(model, xs, ys), xs, ys) == []


# ---------------------------------------------------------------- jacobian


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


@pytest.mark.parametrize(("size", "value"), [(2, -0.0075941), (3, -0.0075941), (4, -0.0075941), (5, 0.25), (4, 1.0)])
def test_the_numbers_of_a_row_stand_apart_on_a_phone(size, value):
    names = {f"result[{at}]": 0.08714 for at in range(size)}
    spec = jacobian(np.full((size, size), value), np.ones((size, size), dtype=bool), names, names).spec
    label = spec["series"][0]["data"][0]["label"]
    cell = (328 - spec["grid"]["left"] - spec["grid"]["right"]) / size
    assert 0.52 * label["fontSize"] * len(label["formatter"]) + 4 <= cell


def test_what_is_not_finite_is_written():
    chart = jacobian(
        np.array([[np.inf, np.nan]]), np.ones((1, 2), dtype=bool), {"y": np.inf}, {"a": 1.0, "b": 2.0}, "dark"
    )
    assert chart.rows == [("y", "∞", "NaN")]


# ---------------------------------------------------------------- landscape


TRACKS = [
    Track("SGD", [(-1.0, 1.0), (0.5, 0.5)], (0.25, 0.25), "descending"),
    Track("Adam", [(-1.0, 1.0), (math.inf, math.nan)], None, "diverged"),
]


def test_paths_places_and_the_place_ahead():
    chart = landscape("Bowl", *SURFACES["bowl"].heights(), TRACKS, ("x", "y"), (0.0, 0.0))
    of = {name: [s for s in chart.spec["series"] if s.get("name") == name] for name in ("SGD", "Adam")}
    assert [series["data"] for series in of["SGD"]] == [
        [[-1.0, 1.0], [0.5, 0.5]],
        [[0.5, 0.5]],
        [[0.5, 0.5], [0.25, 0.25]],
        [[0.25, 0.25]],
    ]
    assert [series["data"] for series in of["Adam"]] == [[[-1.0, 1.0], [None, None]], [[None, None]]]
    assert of["SGD"][0]["symbol"] != of["Adam"][0]["symbol"]
    assert of["SGD"][0]["lineStyle"]["type"] != of["Adam"][0]["lineStyle"]["type"]
    assert chart.backdrop.startswith(b"\x89PNG")
    assert "SGD: descending, steps taken: 1, at x 0.5, y 0.5." in chart.alt
    assert chart.rows[0][-2:] == ("(0.25, 0.25)", "descending")
    assert chart.rows[1][-2:] == ("no next step", "diverged")


def test_a_flat_surface_is_drawn_too():
    heights, xs, ys = SURFACES["bowl"].heights()
    assert landscape("Flat", 0 * heights, xs, ys, TRACKS, ("x", "y")).spec["placing"]


def test_both_axes_have_the_same_scale():
    spec = landscape("Bowl", *SURFACES["bowl"].heights(), TRACKS, ("x", "y"), (0.0, 0.0)).spec
    (x,), (y,), grid = spec["xAxis"], spec["yAxis"], spec["grid"]
    assert spec["square"]
    assert grid["left"] + grid["right"] == grid["top"] + grid["bottom"]  # what is left of the square is square, too
    assert x["max"] - x["min"] == y["max"] - y["min"]


# ---------------------------------------------------------------- lines


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


@pytest.mark.parametrize(("points", "shown"), [(30, 30), (500, MAX_ROWS)])
def test_a_long_table_is_thinned_keeps_its_ends_and_tells_of_how_many_rows(points, shown):
    chart = lines("Squares", [Line("y", [(float(x), float(x * x)) for x in range(points)])], Axis("x"), Axis("y"))
    assert (len(chart.rows), chart.of) == (shown, points)
    assert (chart.rows[0][0], chart.rows[-1][0]) == ("0", f"{points - 1}")


def test_a_mark_far_below_one_is_not_rounded_away():
    assert lines("Error", [ERROR], Axis("h"), Axis("e")).spec["series"][0]["markLine"]["precision"] == -1


def test_a_long_logarithmic_axis_has_a_few_ticks_where_a_short_one_has_one_for_each_power():
    assert Axis("h", log=True, ends=(1e-17, 1e-1)).spec()["interval"] == 2
    assert Axis("h", log=True, ends=(1e-3, 1e-1)).spec()["interval"] == 1
    assert "interval" not in Axis("h", log=True).spec()


# ---------------------------------------------------------------- losses


def test_the_chart_is_strict_json_and_its_table_has_both_runs():
    for key in ("sign-flipped", "skip-unbroadcast", "wrong-order"):
        runs = train_with(BY_KEY[key].healthy, 0), train_with(BY_KEY[key].broken, 0)
        for theme in ("light", "dark"):
            chart = losses(*(run.losses for run in runs), theme)
            json.dumps(chart.spec, allow_nan=False)
            assert "healthy:" in chart.alt
            assert "broken:" in chart.alt
            assert chart.headers == ("epoch", "healthy", "broken")
            assert all(len(row) == 3 for row in chart.rows)
    assert losses(*(run.losses for run in runs), "light").spec["yAxis"]["type"] == "value"


def test_a_run_without_an_epoch_shows_where_it_began():
    healthy = train_with(BY_KEY["skip-unbroadcast"].healthy, 0)
    chart = losses(healthy.losses, LessonRun(healthy.initial, [], "ValueError: no.").losses, "light")
    assert chart.rows[0][2]
    assert {row[2] for row in chart.rows[1:]} == {""}
