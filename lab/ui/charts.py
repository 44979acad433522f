"""The training instruments as plain ECharts dictionaries, each with an alternative text and a table of its numbers.

Colour is never the only sign: lines differ in dashes and carry their name, classes differ in the shape of their points.
Gradients are orange and weights blue, as in the drawings of graphs; deeper layers are lighter.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lab.answers import Segment, contour, frontiers
from lab.diagnose import BAND, HIGH_NORM
from lab.runs import Record

COLOURS = {
    "light": {
        "train": "#0069A5",
        "validation": "#AA3377",
        "faint": "#7a8794",
        "band": "rgba(0, 130, 90, 0.10)",
        "gap": "rgba(110, 120, 130, 0.22)",
        "paper": "#ffffff",
        "text": "#31333F",
        "gradient": ("#6b2c00", "#d9771a"),
        "weight": ("#003f66", "#3d9bd6"),
        "classes": ("#0072B2", "#AA3377", "#00805d", "#8a6d00", "#555555", "#D55E00"),
    },
    "dark": {
        "train": "#56B4E9",
        "validation": "#F08FC4",
        "faint": "#8b98a5",
        "band": "rgba(60, 200, 150, 0.12)",
        "gap": "rgba(190, 200, 210, 0.20)",
        "paper": "#0e1117",
        "text": "#fafafa",
        "gradient": ("#c25e08", "#ffd9b0"),
        "weight": ("#2f86c1", "#c4e6fb"),
        "classes": ("#56B4E9", "#F08FC4", "#2FBF91", "#F0E442", "#bbbbbb", "#FF8A4C"),
    },
}
DASHES: tuple[Any, ...] = ("solid", [7, 4], [2, 3], [10, 3, 2, 3], [1, 5], [14, 4])
SYMBOLS = ("circle", "triangle", "diamond", "rect", "pin", "arrow")
MARKERS = 30  # more of them than this along a line would hide it
ROWS = 24  # of a table: more are thinned out evenly
BUCKETS = 120  # of the losses of single batches
RIDGES = 9  # epochs in a picture of ridges
SHADES = 5  # of a class in the plane: from undecided to certain
TILES = 6  # images side by side
MANY = 100  # samples are drawn as one shape, without a border each
PLANE = (26, 30, 4, 24)  # pixels around the grid of the plane: left, top, right, bottom


@dataclass(frozen=True)
class Chart:
    """A figure and its twins: the ECharts options, a text for screen readers, and the numbers as a table."""

    title: str
    spec: dict[str, Any]
    height: int
    alt: str
    headers: tuple[str, ...]
    rows: list[tuple[str, ...]]
    backdrop: bytes = b""  # a picture in PNG that fills the grid of the plane, behind everything that is drawn


def _nothing(title: str, sentence: str, theme: str) -> Chart:
    """A chart that has nothing to show yet, and says so."""
    style = {"color": COLOURS[theme]["text"], "fontSize": 14, "fontWeight": "normal"}
    return Chart(
        title, {"title": {"text": sentence, "left": 0, "textStyle": style}}, 60, sentence, (title,), [(sentence,)]
    )


# ---------------------------------------------------------------- by epoch


def loss(
    records: Sequence[Record],
    batch_losses: np.ndarray,
    steps_per_epoch: int,
    *,
    until: int,
    cursor: int | None = None,
    log: bool = False,
    others: Sequence[tuple[str, Sequence[Record]]] = (),
    theme: str = "light",
) -> Chart:
    """Training and validation loss, the gap between them shaded, the losses of single batches as a band behind them.

    others: names and records of earlier runs, whose validation loss is drawn too, to compare.
    """
    colours = COLOURS[theme]
    train, val = _column(records, "train_loss"), _column(records, "val_loss")
    series = [
        *_batch_band(batch_losses, steps_per_epoch, colours),
        *_gap(train, val, colours),
        *_others(others, "val_loss", until, colours),
        _line("training", train, colours["train"], DASHES[0], SYMBOLS[0]),
        _line("validation", val, colours["validation"], DASHES[1], SYMBOLS[1]),
    ]
    _mark(series[-1], records, cursor, colours)
    spec = _by_epoch(series, until)
    spec["xAxis"].append({"type": "value", "min": 0, "max": until, "show": False})
    spec["yAxis"] |= {"type": "log"} if log else {"min": 0}
    rows = [
        (
            str(r["epoch"]),
            _short(r["train_loss"]),
            _short(r["val_loss"]),
            _difference(r["val_loss"], r["train_loss"]),
        )
        for r in _thinned(records)
    ]
    return Chart(
        "Loss",
        spec,
        230,
        _curves_alt("Loss by epoch", records, "train_loss", "val_loss", lowest=True),
        ("epoch", "training loss", "validation loss", "validation − training"),
        rows,
    )


def accuracy(
    records: Sequence[Record],
    *,
    until: int,
    cursor: int | None = None,
    others: Sequence[tuple[str, Sequence[Record]]] = (),
    theme: str = "light",
) -> Chart:
    """The share of samples classified correctly, in percent, with the gap shaded."""
    colours = COLOURS[theme]
    train, val = (_percents(_column(records, name)) for name in ("train_accuracy", "val_accuracy"))
    compared = _others(others, "val_accuracy", until, colours)
    for line in compared:
        line["data"] = _percents(line["data"])
    series = [
        *_gap(train, val, colours),
        *compared,
        _line("training", train, colours["train"], DASHES[0], SYMBOLS[0]),
        _line("validation", val, colours["validation"], DASHES[1], SYMBOLS[1]),
    ]
    _mark(series[-1], records, cursor, colours)
    spec = _by_epoch(series, until)
    # An untrained network would stretch the axis, and what follows could not be told apart.
    trained = [value for line in series[2:] for value in line["data"][1:] if value is not None]
    lowest = min(trained or [0])
    spec["yAxis"] |= {"max": 100, "min": 10 * math.floor(min(lowest, 90) / 10), "axisLabel": {"formatter": "{value} %"}}
    spec["tooltip"]["valueFormatter"] = "%.1f %%"
    return Chart(
        "Accuracy",
        spec,
        230,
        _curves_alt("Accuracy by epoch", records, "train_accuracy", "val_accuracy", lowest=False),
        ("epoch", "training", "validation", "gap in points"),
        [
            (
                str(r["epoch"]),
                f"{r['train_accuracy']:.1%}",
                f"{r['val_accuracy']:.1%}",
                f"{100 * (r['train_accuracy'] - r['val_accuracy']):+.1f}",
            )
            for r in _thinned(records)
        ],
    )


def gradient_norms(
    records: Sequence[Record], layers: Sequence[str], *, until: int, cursor: int | None = None, theme: str = "light"
) -> Chart:
    """The norm of each layer's gradient on a logarithmic scale, over the band where training usually goes well."""
    chart = _per_layer(
        "Gradient norm per layer", "grad_norm", "gradient", records, layers, until=until, cursor=cursor, theme=theme
    )
    colours, spec = COLOURS[theme], chart.spec
    _logarithmic(spec, *BAND, HIGH_NORM)
    spec["series"][0]["markArea"] = {
        "silent": True,
        "itemStyle": {"color": colours["band"]},
        "label": {"position": "insideTopLeft", "color": colours["faint"], "fontSize": 11},
        "data": [[{"name": "healthy", "yAxis": BAND[0]}, {"yAxis": BAND[1]}]],
    }
    spec["series"][0]["markLine"] = {
        "silent": True,
        "symbol": "none",
        "label": {"formatter": "too large", "position": "insideStartTop", "color": colours["faint"], "fontSize": 11},
        "lineStyle": {"type": "dashed", "color": colours["faint"]},
        "data": [{"yAxis": HIGH_NORM}],
    }
    remark = f"The band from {BAND[0]:g} to {BAND[1]:g} is marked as healthy, {HIGH_NORM:g} as too large."
    return replace(chart, alt=f"{chart.alt} Logarithmic scale. {remark}")


def update_ratios(
    records: Sequence[Record], layers: Sequence[str], *, until: int, cursor: int | None = None, theme: str = "light"
) -> Chart:
    """How far the last step of each epoch moved the weights of a layer, over their norm; about 0.001 is usual."""
    chart = _per_layer(
        "Update over weights per layer", "update_ratio", "weight", records, layers,
        until=until, cursor=cursor, theme=theme,
    )  # fmt: skip
    _logarithmic(chart.spec, 0.0001, 0.01)
    return chart


def saturation(
    records: Sequence[Record], layers: Sequence[str], *, until: int, cursor: int | None = None, theme: str = "light"
) -> Chart:
    """The share of outputs per hidden layer in the flat ends of tanh or sigmoid, in percent."""
    chart = _per_layer(
        "Saturated outputs per layer", "saturated", "weight", records, layers, until=until, cursor=cursor, theme=theme
    )
    return _in_percent(chart)


def dead_units(
    records: Sequence[Record], layers: Sequence[str], *, until: int, cursor: int | None = None, theme: str = "light"
) -> Chart:
    """The share of units per hidden layer whose output is the same for every sample, in percent."""
    chart = _per_layer(
        "Dead units per layer", "dead_units", "weight", records, layers, until=until, cursor=cursor, theme=theme
    )
    return _in_percent(chart)


def _in_percent(chart: Chart) -> Chart:
    for line in chart.spec["series"]:
        line["data"] = _percents(line["data"])
    chart.spec["yAxis"] |= {"min": 0, "max": 100, "axisLabel": {"formatter": "{value} %"}}
    chart.spec["tooltip"]["valueFormatter"] = "%.0f %%"
    return chart


def _per_layer(
    title: str,
    name: str,
    colour: str,
    records: Sequence[Record],
    layers: Sequence[str],
    *,
    until: int,
    cursor: int | None,
    theme: str,
) -> Chart:
    """One line per layer for a number that the records give per layer."""
    colours = COLOURS[theme]
    columns = {layer: _of_layer(records, name, layer) for layer in layers}
    series = [
        _line(layer_name(layer), columns[layer], shade, _nth(DASHES, i), _nth(SYMBOLS, i))
        for i, (layer, shade) in enumerate(zip(layers, _ramp(colours[colour], len(layers)), strict=True))
    ]
    _mark(series[-1], records, cursor, colours)
    now = ", ".join(f"{layer_name(layer)} {_short(column[-1])}" for layer, column in columns.items())
    if len(records) == 1 and name not in records[0]:
        now = "nothing yet"
    return Chart(
        title,
        _by_epoch(series, until),
        230,
        f"{title} by epoch. {_at_epoch(records)}{now}.",
        ("epoch", *map(layer_name, layers)),
        [
            (str(r["epoch"]), *(_short(r[name][layer]) for layer in layers))
            for r in _thinned([r for r in records if name in r])
        ],
    )


def _logarithmic(spec: dict[str, Any], *always: float) -> None:
    """Make the vertical axis logarithmic, over whole decades that hold these values. 0 has no place on it: a gap."""
    for line in spec["series"]:
        line["data"] = [value or None for value in line["data"]]
    seen = [*always, *(value for line in spec["series"] for value in line["data"] if value)]
    low, high = (10.0 ** end(math.log10(value)) for end, value in ((math.floor, min(seen)), (math.ceil, max(seen))))
    spec["yAxis"] |= {"type": "log", "min": low, "max": high}


def _by_epoch(series: list[dict[str, Any]], until: int) -> dict[str, Any]:
    """Options of a chart whose horizontal axis is the epoch, 0 to `until`; the named lines are in its legend."""
    step = next((step for step in (1, 2, 5, 10, 20, 50) if until <= 10 * step), 100)
    return {
        "animation": False,
        "legend": {"data": [line["name"] for line in series if "name" in line], "top": 0, "left": 0, "itemWidth": 34},
        "grid": {"left": 46, "right": 20, "top": 46, "bottom": 36, "outerBoundsMode": "none"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": [
            {
                "type": "category",
                "data": [str(epoch) for epoch in range(until + 1)],
                "boundaryGap": False,
                "axisLabel": {"interval": step - 1},
                "name": "epoch",
                "nameLocation": "middle",
                "nameGap": 22,
            }
        ],
        "yAxis": {"type": "value"},
        "series": series,
    }


def _line(name: str, values: Sequence[float | None], colour: str, dash: Any, symbol: str) -> dict[str, Any]:
    """A line with one value for each epoch from 0, which is before the training."""
    return {
        "type": "line",
        "name": name,
        "data": list(values),
        "color": colour,
        "lineStyle": {"type": dash, "width": 2},
        "symbol": symbol,
        "symbolSize": 7,
        "showSymbol": len(values) <= MARKERS,
        "z": 3,
    }


def _others(
    others: Sequence[tuple[str, Sequence[Record]]], name: str, until: int, colours: dict[str, Any]
) -> list[dict[str, Any]]:
    """Earlier runs to compare with, thinner and without a colour of their own."""
    lines = []
    for i, (run, records) in enumerate(others):
        values = _column(records[:until], name)
        line = _line(run, values, colours["faint"], _nth(DASHES, i + 2), _nth(SYMBOLS, i + 2))
        line["lineStyle"]["width"] = 1.5
        lines.append(line)
    return lines


def _gap(one: Sequence[float | None], other: Sequence[float | None], colours: dict[str, Any]) -> list[dict[str, Any]]:
    """Two stacked areas, the lower one invisible: what shows is the space between two lines."""
    both = [(a, b) if a is not None and b is not None else None for a, b in zip(one, other, strict=True)]
    low = [min(pair) if pair else None for pair in both]
    thickness = [abs(pair[0] - pair[1]) if pair else None for pair in both]
    return [_invisible(low, "gap"), _invisible(thickness, "gap", colours["gap"])]


def _batch_band(losses: np.ndarray, steps_per_epoch: int, colours: dict[str, Any]) -> list[dict[str, Any]]:
    """The losses of single batches, gathered in buckets: their mean as a thin line, their extremes as a band."""
    finite = losses[np.isfinite(losses)]
    if not len(finite):
        return []
    starts = np.linspace(0, len(finite), min(BUCKETS, len(finite)) + 1).astype(int)
    counts = np.diff(starts)
    low, high, total = (measure.reduceat(finite, starts[:-1]) for measure in (np.minimum, np.maximum, np.add))
    ends = (starts[1:] / steps_per_epoch).round(4).tolist()
    low, high, mean = ([float(f"{value:.4g}") for value in values] for values in (low, high, total / counts))
    thickness = [top - bottom for bottom, top in zip(low, high, strict=True)]
    band = [
        _invisible(list(zip(ends, low, strict=True)), "batches"),
        _invisible(list(zip(ends, thickness, strict=True)), "batches", colours["gap"]),
    ]
    line = {
        **_invisible(list(zip(ends, mean, strict=True)), None),
        "lineStyle": {"color": colours["faint"], "width": 1},
    }
    return [{**part, "xAxisIndex": 1} for part in (*band, line)]


def _invisible(data: list[Any], stack: str | None, fill: str | None = None) -> dict[str, Any]:
    """A line that is not drawn, is in no legend or tooltip, and may be filled down to the one it is stacked on."""
    return {
        "type": "line",
        "data": data,
        "symbol": "none",
        "silent": True,
        "tooltip": {"show": False},
        "lineStyle": {"opacity": 0},
        "z": 1,
        **({"stack": stack} if stack else {}),
        **({"areaStyle": {"color": fill}} if fill else {}),
    }


def _mark(line: dict[str, Any], records: Sequence[Record], cursor: int | None, colours: dict[str, Any]) -> None:
    """Vertical lines at the epoch with the best validation, where one would have stopped, and at the cursor."""
    marks = []
    best = [r["epoch"] for r in records if r.get("best")]
    if best:
        style = {"type": "dotted", "width": 1.5, "color": colours["faint"]}
        marks.append({"xAxis": str(best[-1]), "name": "best", "lineStyle": style})
    if cursor is not None:
        style = {"type": "solid", "width": 1.5, "color": colours["text"]}
        marks.append({"xAxis": str(cursor), "name": "best" if best and best[-1] == cursor else "", "lineStyle": style})
    label = {
        "formatter": "{b}",
        "position": "end",
        "rotate": 0,
        "distance": 2,
        "color": colours["text"],
        "fontSize": 11,
    }
    line["markLine"] = {"silent": True, "symbol": "none", "label": label, "data": marks}


# ---------------------------------------------------------------- weights


def weight_histograms(record: Record, initial: Record, layers: Sequence[str], theme: str = "light") -> Chart:
    """The weights of each layer in the bins that the run keeps, with those of the record `initial` as an outline."""
    colours = COLOURS[theme]
    histograms = record["weight_histogram"]
    start = f"after epoch {initial['epoch']}" if initial["epoch"] else "before training"
    height, gap, top = 62, 44, 24
    spec: dict[str, Any] = {
        "animation": False,
        "tooltip": {"trigger": "axis", "valueFormatter": "%d"},
        "grid": [],
        "xAxis": [],
        "yAxis": [],
        "series": [],
        "title": [],
    }
    shades = _ramp(colours["weight"], len(layers))
    for i, (layer, shade) in enumerate(zip(layers, shades, strict=True)):
        histogram, before = histograms[layer], initial["weight_histogram"][layer]
        edges = histogram["edges"]
        offset = top + i * (height + gap)
        outside = histogram["below"] + histogram["above"]
        spec["title"].append(
            {
                "text": layer_name(layer) + (f", {outside} outside" if outside else ""),
                "left": 4,
                "top": offset - 20,
                "textStyle": {"fontSize": 12, "fontWeight": "normal", "color": colours["text"]},
            }
        )
        spec["grid"].append({"left": 8, "right": 8, "top": offset, "height": height, "outerBoundsMode": "none"})
        spec["xAxis"].append(
            {
                "type": "value",
                "gridIndex": i,
                "min": edges[0],
                "max": edges[-1],
                "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
                "splitLine": {"show": False},
            }
        )
        spec["yAxis"].append({"type": "value", "gridIndex": i, "show": False, "min": 0})
        fill = {"color": shade, "areaStyle": {"color": shade, "opacity": 0.45}}
        spec["series"].append(_steps("now", edges, histogram["counts"], i, fill))
        outline = {"color": colours["faint"], "lineStyle": {"type": "dashed", "width": 1.5}}
        spec["series"].append(_steps(start, edges, before["counts"], i, outline))
    spread = [(layer, *_spread(histograms[layer])) for layer in layers]
    parts = "; ".join(
        f"{layer_name(layer)}: mean {_short(mean)}, deviation {_short(std)}" for layer, mean, std, _ in spread
    )
    return Chart(
        "Weights per layer",
        spec,
        top + len(layers) * (height + gap) - 10,
        f"Histogram of the weights of each layer after epoch {record['epoch']}. {parts}.",
        ("layer", "weights", "mean", "standard deviation", start, "outside the bins"),
        [
            (
                layer_name(layer),
                str(count),
                _short(mean),
                _short(std),
                _short(_spread(initial["weight_histogram"][layer])[1]),
                str(histograms[layer]["below"] + histograms[layer]["above"]),
            )
            for layer, mean, std, count in spread
        ],
    )


def _steps(name: str, edges: Sequence[float], counts: Sequence[int], index: int, style: dict) -> dict[str, Any]:
    """A histogram as a line that steps from bin to bin."""
    return {
        "type": "line",
        "name": name,
        "step": "end",
        "symbol": "none",
        "xAxisIndex": index,
        "yAxisIndex": index,
        "data": list(zip(edges, [*counts, 0], strict=True)),
        "lineStyle": {"width": 1},
        **style,
    }


def _spread(histogram: dict[str, Any]) -> tuple[float, float, int]:
    """Mean, deviation and number of the weights, as far as the bins tell."""
    counts, edges = np.array(histogram["counts"], dtype=float), np.array(histogram["edges"])
    total = int(counts.sum()) + histogram["below"] + histogram["above"]
    if not counts.sum():
        return math.nan, math.nan, total
    centres = (edges[:-1] + edges[1:]) / 2
    mean = float((centres * counts).sum() / counts.sum())
    return mean, math.sqrt(float((counts * (centres - mean) ** 2).sum() / counts.sum())), total


def ridges(records: Sequence[Record], layer: str, of: str, theme: str = "light") -> Chart:
    """The histogram of a layer's weights or gradients at several epochs, one behind the other, the latest in front.

    of: "weight" or "gradient". Gradients range over powers of ten, and so do their bins: each is one step wide.
    """
    title = f"{of.capitalize()}s over the epochs"
    if not records:
        return _nothing(title, "Gradients are counted from the first epoch on.", theme)
    colours = COLOURS[theme]
    shown = _thinned(records, RIDGES)
    histograms = [record[f"{of}_histogram"][layer] for record in shown]
    edges = histograms[0]["edges"]
    names = [_edge(edge) for edge in edges[:-1]]
    series = []
    for i, (record, histogram) in enumerate(zip(shown, histograms, strict=True)):
        shade = _ramp(colours[of][::-1], len(shown))[i]
        base = len(shown) - 1 - i
        heights = base + 1.7 * np.array(histogram["counts"]) / max(1, *histogram["counts"])
        series.append(
            {
                "type": "line",
                "name": f"epoch {record['epoch']}",
                "data": heights.round(3).tolist(),
                "symbol": "none",
                "silent": True,
                "color": shade,
                "lineStyle": {"width": 1.5},
                "areaStyle": {"color": _mix(colours["paper"], shade, 0.3), "opacity": 0.9, "origin": base},
                "endLabel": {"show": True, "formatter": "{a}", "color": colours["text"], "fontSize": 11},
                "z": i + 2,
            }
        )
    rows = [
        (str(record["epoch"]), *map(_short, _percentiles(histogram)))
        for record, histogram in zip(shown, histograms, strict=True)
    ]
    return Chart(
        title,
        {
            "animation": False,
            "grid": {"left": 8, "right": 66, "top": 8, "bottom": 24, "outerBoundsMode": "none"},
            "xAxis": {"type": "category", "data": names, "boundaryGap": False, "axisTick": {"show": False}},
            "yAxis": {"type": "value", "show": False, "min": 0, "max": len(shown) + 0.8},
            "series": series,
        },
        90 + 28 * len(shown),
        f"Histograms of the {of}s of {layer_name(layer)} at {len(shown)} epochs. The middle half lies between "
        f"{rows[0][1]} and {rows[0][3]} in epoch {rows[0][0]}, and between {rows[-1][1]} and {rows[-1][3]} in epoch "
        f"{rows[-1][0]}.",
        ("epoch", "a quarter is below", "half is below", "three quarters are below"),
        rows,
    )


def _edge(value: float) -> str:
    """A short name for the edge of a bin: "0.25", "-1e-04"."""
    return f"{value:.2g}" if value == 0 or abs(value) >= 0.01 else f"{value:.0e}"


def _percentiles(histogram: dict[str, Any]) -> list[float]:
    """The quartiles of what a histogram counts, to within a bin."""
    counts = np.array([histogram["below"], *histogram["counts"], histogram["above"]], dtype=float)
    edges = np.array([histogram["edges"][0], *histogram["edges"], histogram["edges"][-1]])
    if not counts.sum():
        return [math.nan] * 3
    share = np.concatenate([[0], counts.cumsum() / counts.sum()])
    return np.interp([0.25, 0.5, 0.75], share, edges).tolist()


# ---------------------------------------------------------------- the plane of two inputs


def boundary(
    answers: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    points: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    theme: str = "light",
) -> Chart:
    """Probabilities over the plane as shades, the lines where the likeliest class changes, and samples.

    answers (rows, columns, classes) over the grid ys x xs; points (n, 2) and labels (n,).
    """
    colours = COLOURS[theme]
    count = len(classes)
    winner = answers.argmax(axis=-1)
    certainty = (np.nan_to_num(answers.max(axis=-1), nan=1 / count) - 1 / count) / (1 - 1 / count)
    shade = np.clip(SHADES * certainty, 0, SHADES - 1).astype(int)
    palette = [
        _mix(colours["paper"], _nth(colours["classes"], c), 0.1 + 0.14 * k) for c in range(count) for k in range(SHADES)
    ]
    spec = _plane(frontiers(answers, xs, ys), xs, ys, points, labels, classes, colours)
    shares = [float(np.mean(winner == c)) for c in range(count)]
    parts = ", ".join(f"class {name} holds {part:.0%}" for name, part in zip(classes, shares, strict=True))
    unsure = float(np.mean(certainty < 0.8))
    right = np.array([_cell(xs, point[0]) for point in points]), np.array([_cell(ys, point[1]) for point in points])
    hits = winner[right[1], right[0]] == labels
    return Chart(
        "Decision boundary",
        spec,
        410,
        f"The plane of the two inputs, coloured by the likeliest class: {parts}. "
        f"The network is less than 80 % on the way from undecided to certain over {unsure:.0%} of the plane.",
        ("class", "share of the plane", "samples shown", "on ground of their class"),
        [
            (name, f"{part:.1%}", str(int(np.sum(labels == c))), str(int(hits[labels == c].sum())))
            for c, (name, part) in enumerate(zip(classes, shares, strict=True))
        ],
        _png(winner * SHADES + shade, palette),
    )


def unit(
    outputs: np.ndarray,
    name: str,
    xs: np.ndarray,
    ys: np.ndarray,
    points: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    theme: str = "light",
) -> Chart:
    """What one hidden unit puts out (rows, columns) over the plane: blue above 0, pink below, a line at 0."""
    colours = COLOURS[theme]
    codes, palette = signed_shades(outputs, theme)
    spec = _plane(contour(outputs, xs, ys), xs, ys, points, labels, classes, colours)
    low, high = float(np.min(outputs)), float(np.max(outputs))
    corners = [("bottom left", 0, 0), ("bottom right", 0, -1), ("top left", -1, 0), ("top right", -1, -1)]
    return Chart(
        f"Output of {name}",
        spec,
        410,
        f"The output of {name} over the plane of the two inputs, from {_short(low)} to {_short(high)}; "
        f"it is above 0 over {np.mean(outputs > 0):.0%} of the plane.",
        ("corner", f"output of {name}"),
        [(corner, _short(float(outputs[i, j]))) for corner, i, j in corners],
        _png(codes, palette),
    )


def signed_shades(outputs: np.ndarray, theme: str) -> tuple[np.ndarray, list[str]]:
    """Shades for values of either sign, as integers like the outputs, and the colours that they stand for."""
    colours = COLOURS[theme]
    reach = float(np.nanmax(np.abs(outputs), initial=0)) or 1.0
    with np.errstate(invalid="ignore"):
        codes = np.nan_to_num(np.rint(SHADES * outputs / reach)).clip(-SHADES, SHADES).astype(int) + SHADES
    palette = [
        _mix(colours["paper"], colours["classes"][0 if k > 0 else 1], 0.05 + 0.15 * abs(k))
        for k in range(-SHADES, SHADES + 1)
    ]
    return codes, palette


def _png(codes: np.ndarray, palette: Sequence[str]) -> bytes:
    """A picture of (rows, columns) with the k-th colour for code k, the first row at the bottom.

    As an image it costs the browser a hundredth of what a chart of so many cells does.
    """
    from PIL import Image  # here, because a page without this picture is faster without it

    picture = Image.fromarray(np.ascontiguousarray(codes[::-1], dtype=np.uint8), "P")
    picture.putpalette(bytes.fromhex("".join(colour.removeprefix("#") for colour in palette)))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _plane(
    lines: Sequence[Segment],
    xs: np.ndarray,
    ys: np.ndarray,
    points: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    colours: dict[str, Any],
) -> dict[str, Any]:
    """Lines and samples over the plane: the options of all its pictures."""
    reach = float(xs[1] - xs[0]) / 2, float(ys[1] - ys[0]) / 2
    number = {
        "type": "value",
        "splitLine": {"show": False},
        "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
    }
    path: list[Any] = []
    for begin, end in lines:
        path += [begin, end, (None, None)]
    scatter = [
        {
            "type": "scatter",
            "name": f"class {name}",
            "symbol": _nth(SYMBOLS, c),
            "symbolSize": 7,
            "color": _nth(colours["classes"], c),
            "itemStyle": {"borderColor": colours["paper"], "borderWidth": 1},
            "data": points[labels == c].round(3).tolist(),
            "large": len(points) > MANY,
            "largeThreshold": 0,
            "silent": True,
        }
        for c, name in enumerate(classes)
    ]
    return {
        "animation": False,
        "grid": dict(zip(("left", "top", "right", "bottom"), PLANE, strict=True)) | {"outerBoundsMode": "none"},
        "legend": {"top": 0, "left": 0, "data": [line["name"] for line in scatter]},
        "xAxis": [{**number, "min": float(xs[0]) - reach[0], "max": float(xs[-1]) + reach[0]}],
        "yAxis": [{**number, "min": float(ys[0]) - reach[1], "max": float(ys[-1]) + reach[1]}],
        "series": [{**_invisible(path, None), "lineStyle": {"color": colours["text"], "width": 2.5}, "z": 3}, *scatter],
    }


def _cells(codes: np.ndarray) -> list[list[int]]:
    """The data of a heatmap: [column, row, code]."""
    rows, columns = np.indices(codes.shape)
    return np.stack([columns, rows, codes], axis=-1).reshape(-1, 3).tolist()


def _palette(colours: Sequence[str], series: int) -> dict[str, Any]:
    """Code k of a heatmap has the k-th colour."""
    pieces = [{"value": code, "color": colour} for code, colour in enumerate(colours)]
    return {"type": "piecewise", "show": False, "seriesIndex": series, "dimension": 2, "pieces": pieces}


def _cell(centres: np.ndarray, value: float) -> int:
    return int(np.abs(centres - value).argmin())


def board(
    points: Sequence[tuple[float, float, int]], classes: Sequence[str], reach: float, cells: int, theme: str = "light"
) -> Chart:
    """An empty plane from -reach to reach whose cells can be clicked, and the points that were placed on it."""
    colours = COLOURS[theme]
    centres = np.linspace(-reach, reach, cells)
    places = np.array([(x, y) for x, y, _ in points], dtype=float).reshape(-1, 2)
    labels = np.array([c for _, _, c in points], dtype=int)
    spec = _plane([], centres, centres, places, labels, classes, colours)
    faint = {"itemStyle": {"color": colours["gap"]}}
    for axis in ("xAxis", "yAxis"):
        spec[axis].append({"type": "category", "data": [""] * cells, "show": False})
    blank = {
        "type": "heatmap",
        "xAxisIndex": 1,
        "yAxisIndex": 1,
        "data": _cells(np.zeros((cells, cells), dtype=int)),
        "selectedMode": "single",
        "emphasis": faint,
        "select": faint,
    }
    spec["series"][0] = blank  # there are no lines
    spec["visualMap"] = _palette([colours["paper"]], 0)
    counts = [int((labels == c).sum()) for c in range(len(classes))]
    said = ", ".join(f"{count} of class {name}" for name, count in zip(classes, counts, strict=True))
    return Chart(
        "Your points",
        spec,
        340,
        f"The plane with your points: {said}.",
        ("x", "y", "class"),
        [(f"{x:g}", f"{y:g}", classes[c]) for x, y, c in points],
    )


def unit_table(maps: np.ndarray) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers and rows: what the outputs (rows, columns, units) of a layer's units over the plane are like."""
    active = [float(np.mean(maps[..., k] > 0)) for k in range(maps.shape[-1])]
    return ("unit", "above 0 over", "lowest", "highest"), [
        (str(k + 1), f"{share:.0%}", _short(float(maps[..., k].min())), _short(float(maps[..., k].max())))
        for k, share in enumerate(active)
    ]


# ---------------------------------------------------------------- images


def samples(
    images: np.ndarray, labels: np.ndarray, answers: np.ndarray, classes: Sequence[str], theme: str = "light"
) -> Chart:
    """Images with what the network takes them for: images (n, height, width) from 0 to 1, answers (n, classes)."""
    colours = COLOURS[theme]
    if not len(images):
        return _nothing("Samples and answers", "No mistakes among the validation samples.", theme)
    count, height, width = images.shape
    across = min(TILES, count)
    down = math.ceil(count / across)
    tall = height + 4  # room for the words below each image
    codes = np.zeros((down * tall, across * (width + 1)), dtype=int)
    predicted = answers.argmax(axis=1)
    words = []
    for k, image in enumerate(images):
        row, column = down - 1 - k // across, k % across
        codes[row * tall + 4 : row * tall + tall, column * (width + 1) : (column + 1) * (width + 1) - 1] = np.rint(
            SHADES * image[::-1]
        ).astype(int)
        right = predicted[k] == labels[k]
        text = classes[predicted[k]] + (" ✓" if right else f" ✗ is {classes[labels[k]]}")
        words.append(
            {
                "value": [column * (width + 1) + (width - 1) / 2, row * tall + 1.6],
                "label": {"formatter": text, "fontWeight": "normal" if right else "bold"},
            }
        )
    label = {"show": True, "position": "inside", "color": colours["text"], "fontSize": 12}
    extent = codes.shape[1], codes.shape[0]
    hidden = {"show": False}
    spec = {
        "animation": False,
        "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0, "outerBoundsMode": "none"},
        "xAxis": [
            {"type": "category", "data": [""] * extent[0], **hidden},
            {"type": "value", "min": -0.5, "max": extent[0] - 0.5, **hidden},
        ],
        "yAxis": [
            {"type": "category", "data": [""] * extent[1], **hidden},
            {"type": "value", "min": -0.5, "max": extent[1] - 0.5, **hidden},
        ],
        "visualMap": _palette([_mix(colours["paper"], colours["text"], k / SHADES) for k in range(SHADES + 1)], 0),
        "series": [
            {"type": "heatmap", "data": [cell for cell in _cells(codes) if cell[2]], "silent": True},
            {
                "type": "scatter",
                "xAxisIndex": 1,
                "yAxisIndex": 1,
                "symbolSize": 0,
                "label": label,
                "data": words,
                "silent": True,
            },
        ],
    }
    hits = int(np.sum(predicted == labels))
    return Chart(
        "Samples and answers",
        spec,
        8 * codes.shape[0],
        f"{count} images of the validation samples; the network names {hits} of them correctly.",
        ("image", "is", "taken for", "probability of that"),
        [
            (str(k + 1), classes[labels[k]], classes[predicted[k]], _percent_text(float(answers[k].max())))
            for k in range(count)
        ],
    )


def drawing(image: np.ndarray, slopes: np.ndarray, taken_for: str, theme: str = "light") -> Chart:
    """A drawn image (height, width) from 0 to 1 and, beside it, the size of the gradient at each of its pixels."""
    colours = COLOURS[theme]
    height, width = image.shape
    sizes = np.abs(slopes) / (np.abs(slopes).max() or 1)
    codes = np.zeros((height, 2 * width + 1), dtype=int)
    codes[:, :width] = np.rint(SHADES * image[::-1])
    codes[:, width + 1 :] = SHADES + 1 + np.rint(SHADES * sizes[::-1])
    palette = [
        _mix(colours["paper"], colours[ink] if ink == "text" else colours[ink][1], k / SHADES)
        for ink in ("text", "gradient")
        for k in range(SHADES + 1)
    ]
    hidden = {"type": "category", "show": False}
    row, column = np.unravel_index(sizes.argmax(), sizes.shape)
    return Chart(
        "What the network sees, and which pixels matter",
        {
            "animation": False,
            "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0, "outerBoundsMode": "none"},
            "xAxis": {**hidden, "data": [""] * codes.shape[1]},
            "yAxis": {**hidden, "data": [""] * height},
            "visualMap": _palette(palette, 0),
            "series": [{"type": "heatmap", "data": _cells(codes), "silent": True}],
        },
        190,
        f"Left the drawing as {height} by {width} pixels, right the size of the gradient of the answer {taken_for} at "
        f"each pixel; it is largest in row {row + 1}, column {column + 1}.",
        ("row", *(f"ink {j + 1}" for j in range(width)), *(f"gradient {j + 1}" for j in range(width))),
        [(str(i + 1), *map(_short, image[i]), *map(_short, slopes[i])) for i in range(height)],
    )


def likelihoods(answer: np.ndarray, classes: Sequence[str], theme: str = "light") -> Chart:
    """The probability of each class for one input: answer (classes,)."""
    colours = COLOURS[theme]
    best = int(answer.argmax())
    label = {"show": True, "position": "right", "formatter": "{c} %", "color": colours["text"]}
    bars = [
        {"value": _percent(p), "itemStyle": {"color": colours["train"] if c == best else colours["faint"]}}
        for c, p in enumerate(answer)
    ]
    return Chart(
        "Probabilities",
        {
            "animation": False,
            "grid": {"left": 24, "right": 60, "top": 4, "bottom": 4, "outerBoundsMode": "none"},
            "xAxis": {"type": "value", "min": 0, "max": 100, "show": False},
            "yAxis": {"type": "category", "data": list(classes), "inverse": True, "axisTick": {"show": False}},
            "series": [{"type": "bar", "data": bars, "label": label, "barWidth": "70%", "silent": True}],
        },
        24 * len(classes) + 8,
        f"Probabilities of the classes: most likely {classes[best]} with {_percent_text(float(answer[best]))}.",
        ("class", "probability"),
        [(name, _percent_text(float(p))) for name, p in zip(classes, answer, strict=True)],
    )


def confusion_matrix(counts: np.ndarray, classes: Sequence[str], theme: str = "light") -> Chart:
    """How often a sample of one class (row) was taken for another (column): counts (classes, classes)."""
    colours = COLOURS[theme]
    diagonal = np.eye(len(classes), dtype=bool)
    series, maps = [], []
    # Two series, so that a few mistakes are not lost beside many correct answers. Neither shade hides its number.
    for kind, (chosen, colour) in enumerate(((diagonal, colours["train"]), (~diagonal, colours["validation"]))):
        cells = [[j, i, int(counts[i, j])] for i, j in np.argwhere(chosen & (counts > 0)).tolist()]
        label = {"show": True, "color": colours["text"], "fontWeight": "normal" if kind == 0 else "bold"}
        series.append({"type": "heatmap", "data": cells, "label": label, "silent": True})
        maps.append(
            {
                "show": False,
                "seriesIndex": kind,
                "dimension": 2,
                "min": 0,
                "max": max(1, int(counts[chosen].max(initial=0))),
                "inRange": {"color": [_mix(colours["paper"], colour, share) for share in (0.1, 0.4)]},
            }
        )
    axis = {"type": "category", "data": list(classes), "splitArea": {"show": False}, "nameLocation": "middle"}
    right, total = int(counts.trace()), int(counts.sum())
    wrong = np.where(diagonal, 0, counts)
    i, j = np.unravel_index(wrong.argmax(), wrong.shape)
    most = f" Most often {classes[i]} was taken for {classes[j]}: {wrong[i, j]} times." if wrong.any() else ""
    return Chart(
        "Confusion matrix",
        {
            "animation": False,
            "grid": {"left": 44, "right": 4, "top": 4, "bottom": 44, "outerBoundsMode": "none"},
            "xAxis": {**axis, "name": "taken for", "nameGap": 26},
            "yAxis": {**axis, "name": "is", "nameGap": 26, "inverse": True},
            "visualMap": maps,
            "series": series,
        },
        340,
        f"Confusion matrix of the validation samples: {right} of {total} are correct.{most}",
        ("is", *(f"taken for {name}" for name in classes)),
        [(name, *map(str, row)) for name, row in zip(classes, counts.tolist(), strict=True)],
    )


# ---------------------------------------------------------------- numbers, names and colours


def horizon(epoch: int, epochs: int) -> int:
    """Where the epoch axis ends: in a few jumps up to the whole run, so that the first epochs are not squeezed."""
    return min(epochs, next((end for end in (10, 20, 40, 80, 160) if epoch <= end), epochs))


def _column(records: Sequence[Record], name: str) -> list[float | None]:
    """A number that the records have, by epoch from 0: what the command line records begins with epoch 1."""
    first = records[0]["epoch"] if records else 0
    return [None] * first + [record[name] for record in records]


def _of_layer(records: Sequence[Record], name: str, layer: str) -> list[float | None]:
    """A number that the records have per layer, by epoch from 0, which has none that belongs to gradients."""
    return [None] * records[0]["epoch"] + [record[name][layer] if name in record else None for record in records]


def _percents(shares: Sequence[float | None]) -> list[float | None]:
    return [None if share is None else _percent(share) for share in shares]


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _percent_text(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "not a number"


def _short(value: float | None) -> str:
    return "not a number" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _difference(a: float | None, b: float | None) -> str:
    return "not a number" if a is None or b is None else f"{a - b:+.3g}"


def layer_name(name: str) -> str:
    return name.replace("layer", "layer ")


def _nth(choices: Sequence[Any], index: int) -> Any:
    return choices[index % len(choices)]


def _thinned(records: Sequence[Record], most: int = ROWS) -> list[Record]:
    """At most so many of them, evenly, with the first and the last."""
    if len(records) <= most:
        return list(records)
    return [records[round(i)] for i in np.linspace(0, len(records) - 1, most)]


def _at_epoch(records: Sequence[Record]) -> str:
    return f"Epoch {records[-1]['epoch']}: "


def _curves_alt(what: str, records: Sequence[Record], train: str, val: str, lowest: bool) -> str:
    known = [r for r in records if r[val] is not None]
    text = f"{what}. {_at_epoch(records)}training {_short(records[-1][train])}, validation {_short(records[-1][val])}."
    if known:
        best = (min if lowest else max)(known, key=lambda r: r[val])
        text += f" {'Lowest' if lowest else 'Highest'} validation {_short(best[val])} in epoch {best['epoch']}."
    return text


def _mix(one: str, other: str, share: float) -> str:
    """The colour that is `share` of the way from one to the other, both as #rrggbb."""
    a, b = (np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (one, other))
    return "#" + "".join(f"{round(value):02x}" for value in a + share * (b - a))


def _ramp(ends: tuple[str, str], count: int) -> list[str]:
    return [_mix(*ends, i / max(count - 1, 1)) for i in range(count)]
