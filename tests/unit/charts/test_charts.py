"""The charts' dictionaries: what is in them is what the records say, and it can always be sent to a browser."""

import copy
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from lab import charts
from lab.charts.chart import COLOURS, ROWS, SHADES
from lab.charts.curves import BUCKETS
from lab.charts.weights import RIDGES
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.predictions import (
    PlaneGrid,
    answers,
    confusion,
    grid,
    layer_maps,
    over_plane,
    probabilities,
)


@pytest.fixture(scope="module")
def run():
    run = LiveRun(Config(data="moons", hidden=(8, 4), lr=0.01, epochs=5))
    run.advance(None)
    return run


def all_charts(run, theme="light"):
    history, trainer, hidden = run.history, run.trainer, run.config.hidden
    layers = trainer.layer_names
    options = charts.CurveOptions(charts.horizon(trainer.epoch, run.config.epochs), theme=theme)
    compared = [("before", run.records)]
    losses, ends = run.losses(), run.loss_epochs()
    made = {
        "loss": charts.loss(history, losses, ends, options),
        "log": charts.loss(history, losses, ends, replace(options, cursor=1, others=compared), log=True),
        "accuracy": charts.accuracy(history, replace(options, cursor=2, others=compared)),
        "norms": charts.gradient_norms(history, layers, options),
        "updates": charts.norms_and_updates(history, layers, options),
        "ridges": charts.ridges(history, "layer1", "weight", theme),
    }
    if hidden:
        made["dead"] = charts.dead_units(history, layers[:-1], options)
        made["saturation"] = charts.saturation(history, layers[:-1], options)
    if run.records:
        made["gradients"] = charts.ridges(run.records, "layer1", "gradient", theme)
    xs, ys = grid(trainer.dataset.train_x, 12)
    data = trainer.dataset
    plane = charts.Plane(xs, ys, data.val_x, data.val_y, data.classes, theme)
    made["plane"] = charts.boundary(over_plane(trainer.model, xs, ys), plane)
    if hidden:
        maps = layer_maps(trainer.model, PlaneGrid(xs, ys))[0]
        made["unit"] = charts.unit(maps[..., 1], "layer 1, unit 2", plane)
    return made


def series(chart, name):
    return next(s for s in chart.spec["series"] if s.get("name") == name)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_json_and_has_its_twins(run, theme):
    for chart in all_charts(run, theme).values():
        json.dumps(chart.spec, allow_nan=False)
        assert chart.title
        assert len(chart.alt) > 40
        assert chart.rows or not run.records
        assert all(len(row) == len(chart.headers) for row in chart.rows)
        assert all(isinstance(cell, str) for row in chart.rows for cell in row)


def test_before_the_first_epoch_there_is_nothing_to_see_and_nothing_fails():
    run = LiveRun(Config(data="blobs", hidden=()))
    for chart in all_charts(run).values():
        json.dumps(chart.spec, allow_nan=False)
    run.advance()
    loss = all_charts(run)["loss"]
    assert [x for x, _ in loss.spec["series"][2]["data"]] == [1 / run.trainer.steps_per_epoch]


def test_a_run_that_diverges_is_drawn_too():
    run = LiveRun(Config(data="moons", hidden=(8,), optimizer="sgd", lr=1e30, epochs=3))
    run.advance(None)
    assert run.trainer.diverged
    made = all_charts(run)
    for chart in made.values():
        json.dumps(chart.spec, allow_nan=False)
    assert "not a number" in made["loss"].alt


def test_gradients_of_zero_do_not_break_the_logarithmic_axis():
    run = LiveRun(Config(data="moons", hidden=(8,), init="zeros", epochs=2))
    run.advance(None)
    chart = charts.gradient_norms(run.history, run.trainer.layer_names, charts.CurveOptions(2))
    zero = chart.spec["zero"]
    assert series(chart, "layer 1")["data"] == [None, zero, zero]  # drawn, on a line of its own
    assert zero == chart.spec["yAxis"]["min"] < min(series(chart, "layer 2")["data"][1:])
    assert chart.rows[0][1] == "0"
    assert "zero" not in charts.gradient_norms(run.history[:1], run.trainer.layer_names, charts.CurveOptions(2)).spec


@pytest.mark.parametrize("low", [1e-3, 2e-7, 3e-13, 0])
def test_a_logarithmic_axis_has_at_most_six_steps_and_holds_all_values(low):
    one = {"epoch": 1, "train_accuracy": 0.5, "grad_norm": {"layer1": low}, "update_ratio": {"layer1": low}}
    chart = charts.norms_and_updates([one], ["layer1"], charts.CurveOptions(2))
    for axis in chart.spec["yAxis"]:
        assert axis["min"] <= (low or axis["max"]) <= axis["max"]
        low_end, high_end = (round(np.log10(axis[end])) / axis["interval"] for end in ("min", "max"))
        assert low_end % 1 == high_end % 1 == 0, "a label at each end is one of the row"
        assert high_end - low_end <= 6


def test_where_a_run_broke_off_there_is_a_mark_on_every_curve():
    run = LiveRun(Config(data="moons", hidden=(8,), optimizer="sgd", lr=1e30, epochs=3))
    run.advance(None)
    made = all_charts(run)
    for name in ("loss", "accuracy", "norms", "updates", "dead"):
        marks = [mark for line in made[name].spec["series"] for mark in line.get("markLine", {}).get("data", [])]
        broken = [mark for mark in marks if "no longer a number" in mark.get("name", "")]
        assert [mark["xAxis"] for mark in broken] == ["1"], name
        assert broken[0]["label"]["align"] == "left", "near the left edge its words would be cut"
        assert broken[0]["name"] == "no longer a number", "an epoch that ends in nan is no best one"
    threshold = series(made["norms"], "layer 1")["markLine"]["label"]
    assert threshold["position"] == "insideStartBottom", "above the line stand the marks of the first epochs"


def test_the_norms_say_how_many_steps_were_clipped():
    run = LiveRun(Config(data="moons", hidden=(8,), clip=0.01, epochs=2))
    run.advance(None)
    chart = charts.gradient_norms(run.history, run.trainer.layer_names, charts.CurveOptions(2))
    assert f"{run.records[-1]['clipped']:.0%} of the steps" in chart.title
    assert run.records[-1]["clipped"] > 0.5
    assert "shaded: usual norms" in chart.title
    assert "label" not in series(chart, "layer 1")["markArea"], "words in the band would lie on the lines"


@pytest.mark.parametrize(("data", "band"), [("moons", True), ("sine", False)])
def test_a_regression_has_no_usual_norm(data, band):
    run = LiveRun(Config(data=data, hidden=(8,), epochs=1))
    run.advance(None)
    chart = charts.gradient_norms(run.history, run.trainer.layer_names, charts.CurveOptions(1))
    assert ("markArea" in series(chart, "layer 1")) is band
    assert ("shaded" in chart.title) is band
    assert "too large" not in json.dumps(chart.spec) + chart.alt  # a healthy run may lie above the line


def test_the_lines_hold_the_records(run):
    made = all_charts(run)
    loss, accuracy, norms = made["loss"], made["accuracy"], made["norms"]
    assert series(loss, "training")["data"] == [r["train_loss"] for r in run.history]
    assert series(loss, "validation")["data"] == [r["val_loss"] for r in run.history]
    shown = series(accuracy, "validation")["data"]
    assert np.allclose(shown, [100 * r["val_accuracy"] for r in run.history], atol=0.01)
    assert series(norms, "layer 2")["data"] == [None, *(r["grad_norm"]["layer2"] for r in run.records)]
    compared = series(accuracy, "before")["data"]
    assert np.allclose(compared[1:], shown[1:])
    assert compared[0] is None


def test_the_gap_is_the_space_between_the_lines(run):
    low, thickness = all_charts(run)["accuracy"].spec["series"][:2]
    for record, bottom, height in zip(run.history, low["data"], thickness["data"], strict=True):
        edges = sorted((100 * record["train_accuracy"], 100 * record["val_accuracy"]))
        assert np.allclose([bottom, bottom + height], edges, atol=0.02)


def test_the_band_of_the_batches_keeps_the_extremes(run):
    losses = np.ones(5000)
    losses[1234], losses[4321] = 50.0, 0.001
    low, thickness, mean = charts.loss(run.history[:1], losses, np.arange(1, 5001) / 100, charts.CurveOptions(50)).spec[
        "series"
    ][:3]
    tops = [bottom + height for (_, bottom), (_, height) in zip(low["data"], thickness["data"], strict=True)]
    assert max(tops) == 50
    assert min(bottom for _, bottom in low["data"]) == 0.001
    assert mean["data"][-1][0] == 50
    assert len(mean["data"]) <= BUCKETS


def test_lines_are_told_apart_without_colour(run):
    for name in ("loss", "log", "accuracy", "norms", "updates", "dead", "saturation"):
        named = [s for s in all_charts(run)[name].spec["series"] if s.get("name")]
        assert len({str(s["lineStyle"]["type"]) for s in named}) == len(named)
        assert len({s["symbol"] for s in named}) == len(named)
    plane = all_charts(run)["plane"]
    points = [s for s in plane.spec["series"] if s["type"] == "scatter"]
    assert len({s["symbol"] for s in points}) == len(points) == 2


def test_tables_are_thinned_with_the_first_and_the_last():
    run = LiveRun(Config(data="blobs", hidden=(), epochs=100, batch_size=512))
    run.advance(None)
    chart = charts.accuracy(run.history, charts.CurveOptions(100))
    assert (len(chart.rows), chart.of) == (ROWS, 101)
    assert (chart.rows[0][0], chart.rows[-1][0]) == ("0", "100")


TWO_BY_TWO = charts.Plane(np.arange(2.0), np.arange(2.0), np.zeros((1, 2)), np.zeros(1, int), ("a", "b"))


def test_the_colours_of_the_plane_follow_class_and_confidence():
    answers = np.array([[[1.0, 0.0], [0.55, 0.45]], [[0.25, 0.75], [0.0, 1.0]]])
    chart = charts.boundary(answers, TWO_BY_TWO)
    picture = Image.open(io.BytesIO(chart.backdrop))
    codes = np.asarray(picture)
    assert codes.tolist() == [[7, 9], [4, 0]]  # 0 to 4: class a, 5 to 9: class b; the first row of answers is below
    assert len({tuple(picture.getpalette()[3 * code : 3 * code + 3]) for code in range(10)}) == 10
    assert chart.rows == [("a", "50.0%", "1", "1"), ("b", "50.0%", "0", "0")]


def test_a_unit_is_blue_above_zero_and_pink_below():
    outputs = np.array([[-2.0, 0.0], [1.0, 2.0]])
    chart = charts.unit(outputs, "unit", TWO_BY_TWO)
    codes = np.asarray(Image.open(io.BytesIO(chart.backdrop)))
    assert codes[1].tolist() == [0, 5]  # the first row of outputs is below
    assert codes[0, 1] == 10
    assert chart.alt.count("2") >= 2
    assert chart.rows[0] == ("bottom left", "−2")


@pytest.fixture(scope="module")
def digits():
    run = LiveRun(Config(data="digits", hidden=(16,), lr=0.01, epochs=2))
    run.advance(None)
    return run


def test_samples_show_the_image_and_the_answer(digits):
    data = digits.trainer.dataset
    answers = probabilities(digits.network(), data.val_x[:7])
    images = np.zeros((7, 8, 8))
    images[0, 0, 0] = 1.0  # the top left pixel of the first image
    chart = charts.samples(images, data.val_y[:7], answers, data.classes)
    json.dumps(chart.spec, allow_nan=False)
    (pixel,) = chart.spec["series"][0]["data"]
    assert pixel == [0, 23, 5]  # two rows of images, 12 cells each; the first column, the top
    words = [item["label"]["formatter"] for item in chart.spec["series"][1]["data"]]
    for word, label, answer in zip(words, data.val_y, answers, strict=False):
        taken = data.classes[answer.argmax()]
        assert word == (f"{taken} ✓" if answer.argmax() == label else f"{taken} ✗ is {data.classes[label]}")
    assert len(chart.rows) == 7


def test_the_confusion_matrix_separates_right_from_wrong(digits):
    data = digits.trainer.dataset
    predicted = probabilities(digits.network(), data.val_x).argmax(axis=1)
    counts = confusion(data.val_y, predicted, 10)
    chart = charts.confusion_matrix(counts, data.classes)
    json.dumps(chart.spec, allow_nan=False)
    right, wrong = (series["data"] for series in chart.spec["series"])
    assert sum(count for _, _, count in right) == int((predicted == data.val_y).sum())
    assert sum(count for _, _, count in wrong) == int((predicted != data.val_y).sum())
    assert all(x == y for x, y, _ in right)
    assert [int(row[1 + k]) for k, row in enumerate(chart.rows)] == counts.diagonal().tolist()


def test_ridges_show_the_first_and_the_last_epoch_and_the_latest_in_front():
    run = LiveRun(Config(data="blobs", hidden=(), epochs=40, batch_size=512))
    run.advance(None)
    chart = charts.ridges(run.history, "layer1", "weight")
    ridges = chart.spec["series"]
    assert len(ridges) == RIDGES
    assert (ridges[0]["name"], ridges[-1]["name"]) == ("epoch 0", "epoch 40")
    for of in (
        "weight",
        "gradient",
    ):  # the labels, at the outlines' ends, are one row apart, whatever the last bin holds
        records = copy.deepcopy(run.records)
        records[-1][f"{of}_histogram"]["layer1"]["counts"][-1] = 9
        outlines = [ridge["data"] for ridge in charts.ridges(records, "layer1", of).spec["series"]]
        assert [outline[-1][1] for outline in outlines] == list(range(len(outlines)))[::-1]
    assert [ridge["z"] for ridge in ridges] == sorted(ridge["z"] for ridge in ridges)
    assert min(height for _, height in ridges[-1]["data"]) == 0
    quartiles = np.quantile(run.trainer.model.layers[0].weight.numpy(), [0.25, 0.5, 0.75])
    edges = run.records[0]["weight_histogram"]["layer1"]["edges"]
    assert np.allclose(
        [float(cell.replace("−", "-")) for cell in chart.rows[-1][1:]], quartiles, atol=2 * (edges[1] - edges[0])
    )


def contrast(one, other):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_line_can_be_seen_on_the_paper(theme):
    colours = COLOURS[theme]
    lines = [colours["train"], colours["validation"], colours["faint"], *colours["gradient"], *colours["weight"]]
    for colour in [*lines, *colours["classes"]]:
        assert contrast(colour, colours["paper"]) >= 3, colour


def test_a_drawing_stands_upright():
    image = np.zeros((8, 8))
    image[0, 1] = 1.0
    chart = charts.drawing(image)
    json.dumps(chart.spec, allow_nan=False)
    codes = {(x, y): code for x, y, code in chart.spec["series"][0]["data"]}
    assert codes[1, 7] == SHADES  # the first row is at the top
    assert chart.rows[0][2] == "1"


def test_likelihoods_name_the_most_likely():
    chart = charts.likelihoods(np.array([0.1, 0.7, 0.2]), ("a", "b", "c"))
    json.dumps(chart.spec, allow_nan=False)
    assert "most likely b with 70.0%" in chart.alt
    assert [bar["value"] for bar in chart.spec["series"][0]["data"]] == [10.0, 70.0, 20.0]


def test_the_ticks_of_gradient_ridges_are_few_and_named_after_powers_of_ten(run):
    labels = [label for label in charts.ridges(run.records, "layer1", "gradient").spec["xAxis"]["data"] if label]
    assert labels == ["−1", "−0.01", "−0.0001", "0", "0.0001", "0.01", "1"]


@pytest.fixture(scope="module")
def regression():
    run = LiveRun(Config(data="sine", hidden=(8,), lr=0.01, epochs=3))
    run.advance(None)
    return run


def test_a_regression_is_drawn_as_its_curve_and_as_the_share_that_it_explains(regression):
    data, network = regression.trainer.dataset, regression.network()
    xs = np.linspace(-2, 2, 50)[:, np.newaxis]
    said = data.in_units(answers(network, xs))
    chart = charts.curve(xs[:, 0], said, data.val_x[:, 0], data.in_units(data.val_y))
    points, line = chart.spec["series"]
    assert len(points["data"]) == len(data.val_x)
    np.testing.assert_allclose([y for _, y in line["data"]], said, atol=1e-4)
    assert len(chart.rows) == 13
    side = charts.answers_against_targets(said, said + 0.5, "dark")
    assert "error: 0.5." in side.alt
    explained = charts.r_squared(regression.history, charts.CurveOptions(3))
    of_the_mean = regression.trainer.origin["baseline_val_loss"]
    line = next(one for one in explained.spec["series"] if one.get("name") == "validation")
    np.testing.assert_allclose(line["data"], [1 - record["val_loss"] / of_the_mean for record in regression.history])
    assert explained.headers == ("epoch", "training", "validation", "gap")
    for one in (chart, side, explained):
        json.dumps(one.spec, allow_nan=False)
        assert one.alt
        assert all(len(row) == len(one.headers) for row in one.rows)
    broken = charts.curve(xs[:, 0], np.full(50, np.nan), data.val_x[:, 0], data.val_y)
    json.dumps(broken.spec, allow_nan=False)


def test_a_compared_run_is_measured_as_the_run_itself_and_only_if_it_is_of_its_kind(run, regression):
    others = [("a classification", run.records), ("a regression", regression.records), ("nothing yet", [])]
    options = charts.CurveOptions(5, others=others)
    drawn = {
        "a classification": [
            charts.loss(run.history, *(np.empty(0),) * 2, options),
            charts.accuracy(run.history, options),
        ],
        "a regression": [
            charts.loss(regression.history, *(np.empty(0),) * 2, options),
            charts.r_squared(regression.history, options),
        ],
    }
    for name, figures in drawn.items():
        for figure in figures:
            names = {line["name"] for line in figure.spec["series"] if "name" in line}
            assert names == {"training", "validation", name}, figure.title
            assert series(figure, name)["data"][1:] == series(figure, "validation")["data"][1:], figure.title


def test_the_gap_of_r_squared_is_a_difference_of_r_squared(regression):
    for row in charts.r_squared(regression.history, charts.CurveOptions(3)).rows:
        train, val, gap = (float(cell.replace("−", "-")) for cell in row[1:])
        assert gap == pytest.approx(train - val, abs=0.002)
