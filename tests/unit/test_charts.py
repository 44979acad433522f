"""The charts' dictionaries: what is in them is what the records say, and it can always be sent to a browser."""

import json

import numpy as np
import pytest

from lab.boundary import grid, over_plane
from lab.live import LiveRun
from lab.ui import charts
from train import Config


@pytest.fixture(scope="module")
def run():
    run = LiveRun(Config(data="moons", hidden=(8, 4), lr=0.01, epochs=5))
    run.advance(seconds=60)
    return run


def all_charts(run, theme="light"):
    records, trainer = run.records, run.trainer
    until = charts.horizon(trainer.epoch, run.config.epochs)
    made = [
        charts.loss(records, run.batch_losses, trainer.steps_per_epoch, until=until, theme=theme),
        charts.loss(records, run.batch_losses, trainer.steps_per_epoch, until=until, log=True, cursor=1, theme=theme),
        charts.accuracy(records, until=until, theme=theme),
        charts.gradient_norms(records, trainer.layer_names, until=until, theme=theme),
    ]
    if records:
        made.append(charts.weight_histograms(records[-1], records[0], trainer.layer_names, theme))
    xs, ys = grid(trainer.dataset.train_x, 12)
    answers = over_plane(trainer.model, xs, ys)
    points, labels = trainer.dataset.val_x, trainer.dataset.val_y
    made.append(charts.boundary(answers, xs, ys, points, labels, trainer.dataset.classes, title="Plane", theme=theme))
    return made


def series(chart, name):
    return next(s for s in chart.spec["series"] if s.get("name") == name)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_json_and_has_its_twins(run, theme):
    for chart in all_charts(run, theme):
        json.dumps(chart.spec, allow_nan=False)
        assert chart.title
        assert len(chart.alt) > 40
        assert chart.rows
        assert all(len(row) == len(chart.headers) for row in chart.rows)
        assert all(isinstance(cell, str) for row in chart.rows for cell in row)


def test_before_the_first_epoch_there_is_nothing_to_see_and_nothing_fails():
    run = LiveRun(Config(data="blobs", hidden=()))
    for chart in all_charts(run):
        json.dumps(chart.spec, allow_nan=False)
    run.step()
    loss = all_charts(run)[0]
    assert [x for x, _ in loss.spec["series"][2]["data"]] == [1 / run.trainer.steps_per_epoch]


def test_a_run_that_diverges_is_drawn_too():
    run = LiveRun(Config(data="moons", hidden=(8,), optimizer="sgd", lr=1e30, epochs=3))
    run.advance(seconds=60)
    assert run.trainer.diverged
    made = all_charts(run)
    for chart in made:
        json.dumps(chart.spec, allow_nan=False)
    assert "not a number" in made[0].alt


def test_gradients_of_zero_do_not_break_the_logarithmic_axis():
    run = LiveRun(Config(data="moons", hidden=(8,), init="zeros", epochs=2))
    run.advance(seconds=60)
    chart = charts.gradient_norms(run.records, run.trainer.layer_names, until=2)
    assert series(chart, "layer 1")["data"] == [None, None, None]
    assert chart.rows[0][1] == "0"
    assert chart.spec["yAxis"]["min"] > 0


def test_the_lines_hold_the_records(run):
    loss, _, accuracy, norms = all_charts(run)[:4]
    assert series(loss, "training")["data"] == [None, *(r["train_loss"] for r in run.records)]
    assert series(loss, "validation")["data"] == [None, *(r["val_loss"] for r in run.records)]
    shown = series(accuracy, "validation")["data"][1:]
    assert np.allclose(shown, [100 * r["val_accuracy"] for r in run.records], atol=0.01)
    assert series(norms, "layer 2")["data"][1:] == [r["grad_norm"]["layer2"] for r in run.records]


def test_the_gap_is_the_space_between_the_lines(run):
    low, thickness = all_charts(run)[2].spec["series"][:2]
    for record, bottom, height in zip(run.records, low["data"][1:], thickness["data"][1:], strict=True):
        edges = sorted((100 * record["train_accuracy"], 100 * record["val_accuracy"]))
        assert np.allclose([bottom, bottom + height], edges, atol=0.02)


def test_the_band_of_the_batches_keeps_the_extremes():
    losses = [1.0] * 5000
    losses[1234], losses[4321] = 50.0, 0.001
    low, thickness, mean = charts.loss([], losses, 100, until=50).spec["series"][:3]
    tops = [bottom + height for (_, bottom), (_, height) in zip(low["data"], thickness["data"], strict=True)]
    assert max(tops) == 50
    assert min(bottom for _, bottom in low["data"]) == 0.001
    assert mean["data"][-1][0] == 50
    assert len(mean["data"]) <= charts.BUCKETS


def test_lines_are_told_apart_without_colour(run):
    for chart in all_charts(run)[:4]:
        named = [s for s in chart.spec["series"] if s.get("name")]
        assert len({str(s["lineStyle"]["type"]) for s in named}) == len(named)
        assert len({s["symbol"] for s in named}) == len(named)
    plane = all_charts(run)[-1]
    points = [s for s in plane.spec["series"] if s["type"] == "scatter"]
    assert len({s["symbol"] for s in points}) == len(points) == 2


def test_tables_are_thinned_with_the_first_and_the_last():
    run = LiveRun(Config(data="blobs", hidden=(), epochs=100, batch_size=512))
    run.advance(seconds=60)
    rows = charts.accuracy(run.records, until=100).rows
    assert len(rows) == charts.ROWS
    assert (rows[0][0], rows[-1][0]) == ("1", "100")


def test_the_colours_of_the_plane_follow_class_and_confidence():
    answers = np.array([[[1.0, 0.0], [0.55, 0.45]], [[0.3, 0.7], [0.0, 1.0]]])
    chart = charts.boundary(
        answers, np.arange(2.0), np.arange(2.0), np.zeros((1, 2)), np.zeros(1, int), ("a", "b"), title="Plane"
    )
    cells = {(x, y): code for x, y, code in chart.spec["series"][0]["data"]}
    assert cells == {(0, 0): 0.999, (1, 0): pytest.approx(0.1), (0, 1): pytest.approx(1.4), (1, 1): 1.999}
    pieces = chart.spec["visualMap"]["pieces"]
    for code in cells.values():
        assert sum(piece["gte"] <= code < piece["lt"] for piece in pieces) == 1


def contrast(one, other):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_line_can_be_seen_on_the_paper(theme):
    colours = charts.COLOURS[theme]
    lines = [colours["train"], colours["validation"], colours["faint"], *colours["gradient"], *colours["weight"]]
    for colour in [*lines, *colours["classes"]]:
        assert contrast(colour, colours["paper"]) >= 3, colour
