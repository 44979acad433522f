"""A surface from above with paths: what is drawn, how it is told apart without colour, and its words."""

import math

from lab.charts import Track, landscape
from lab.training.descent.surfaces import SURFACES

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
