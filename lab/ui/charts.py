"""The training instruments as plain ECharts dictionaries, each with an alternative text and a table of its numbers.

Colour is never the only sign: lines differ in dashes and carry their name, classes differ in the shape of their points.
Gradients are orange and weights blue, as in the drawings of graphs; deeper layers are lighter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.boundary import frontiers
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
HEALTHY_NORM = (0.01, 5.0)
LARGE_NORM = 10.0
MARKERS = 30  # more of them than this along a line would hide it
ROWS = 24  # of a table: more are thinned out evenly
BUCKETS = 120  # of the losses of single batches


@dataclass(frozen=True)
class Chart:
    """A figure and its twins: the ECharts options, a text for screen readers, and the numbers as a table."""

    title: str
    spec: dict[str, Any]
    height: int
    alt: str
    headers: tuple[str, ...]
    rows: list[tuple[str, ...]]


# ---------------------------------------------------------------- by epoch


def loss(
    records: Sequence[Record],
    batch_losses: Sequence[float],
    steps_per_epoch: int,
    *,
    until: int,
    cursor: int | None = None,
    log: bool = False,
    theme: str = "light",
) -> Chart:
    """Training and validation loss, the gap between them shaded, the losses of single batches as a band behind them."""
    colours = COLOURS[theme]
    train, val = _column(records, "train_loss"), _column(records, "val_loss")
    series = [
        *_batch_band(batch_losses, steps_per_epoch, colours),
        *_gap(train, val, colours),
        _line("training", train, colours["train"], DASHES[0], SYMBOLS[0]),
        _line("validation", val, colours["validation"], DASHES[1], SYMBOLS[1]),
    ]
    _mark(series[-1], records, cursor, colours)
    spec = _by_epoch(series, until, theme, names=["training", "validation"])
    spec["xAxis"].append({"type": "value", "min": 0, "max": until, "show": False})
    if log:
        spec["yAxis"] |= {"type": "log", "axisLabel": {"formatter": "{value}"}}
    else:
        spec["yAxis"]["min"] = 0
    return Chart(
        "Loss" + (" (logarithmic)" if log else ""),
        spec,
        220,
        _curves_alt("Loss by epoch", records, "train_loss", "val_loss", lowest=True),
        ("epoch", "training loss", "validation loss", "validation − training"),
        [
            (
                str(r["epoch"]),
                _short(r["train_loss"]),
                _short(r["val_loss"]),
                _difference(r["val_loss"], r["train_loss"]),
            )
            for r in _thinned(records)
        ],
    )


def accuracy(records: Sequence[Record], *, until: int, cursor: int | None = None, theme: str = "light") -> Chart:
    """The share of samples classified correctly, in percent, with the gap shaded."""
    colours = COLOURS[theme]
    train, val = ([_percent(r[name]) for r in records] for name in ("train_accuracy", "val_accuracy"))
    series = [
        *_gap(train, val, colours),
        _line("training", train, colours["train"], DASHES[0], SYMBOLS[0]),
        _line("validation", val, colours["validation"], DASHES[1], SYMBOLS[1]),
    ]
    _mark(series[-1], records, cursor, colours)
    spec = _by_epoch(series, until, theme, names=["training", "validation"])
    lowest = min([*train, *val, 100.0])
    spec["yAxis"] |= {"max": 100, "min": 10 * math.floor(min(lowest, 90) / 10), "axisLabel": {"formatter": "{value} %"}}
    spec["tooltip"]["valueFormatter"] = "%.1f %%"
    return Chart(
        "Accuracy",
        spec,
        220,
        _curves_alt("Accuracy by epoch", records, "train_accuracy", "val_accuracy", lowest=False),
        ("epoch", "training", "validation", "gap in points"),
        [
            (str(r["epoch"]), f"{r['train_accuracy']:.1%}", f"{r['val_accuracy']:.1%}", f"{100 * r['gap']:+.1f}")
            for r in _thinned(records)
        ],
    )


def gradient_norms(
    records: Sequence[Record], layers: Sequence[str], *, until: int, cursor: int | None = None, theme: str = "light"
) -> Chart:
    """The norm of each layer's gradient on a logarithmic scale, over the band where training usually goes well."""
    colours = COLOURS[theme]
    columns = {layer: [r["grad_norm"][layer] for r in records] for layer in layers}
    series = [
        _line(_layer(layer), [value or None for value in columns[layer]], colour, _nth(DASHES, i), _nth(SYMBOLS, i))
        for i, (layer, colour) in enumerate(zip(layers, _ramp(colours["gradient"], len(layers)), strict=True))
    ]
    series[0]["markArea"] = {
        "silent": True,
        "itemStyle": {"color": colours["band"]},
        "label": {"position": "insideTopLeft", "color": colours["faint"], "fontSize": 11},
        "data": [[{"name": "healthy", "yAxis": HEALTHY_NORM[0]}, {"yAxis": HEALTHY_NORM[1]}]],
    }
    _mark(series[-1], records, cursor, colours)
    spec = _by_epoch(series, until, theme, names=[_layer(layer) for layer in layers])
    positive = [value for column in columns.values() for value in column if value]
    lowest, highest = min([*positive, HEALTHY_NORM[0]]), max([*positive, LARGE_NORM])
    spec["yAxis"] |= {
        "type": "log",
        "min": 10.0 ** math.floor(math.log10(lowest)),
        "max": 10.0 ** math.ceil(math.log10(highest)),
    }
    now = ", ".join(f"{_layer(layer)} {_short(column[-1])}" for layer, column in columns.items() if column)
    return Chart(
        "Gradient norm per layer",
        spec,
        220,
        f"Norm of the gradient per layer by epoch, logarithmic scale. {_at_epoch(records)}{now or 'Nothing yet'}. "
        f"The band from {HEALTHY_NORM[0]} to {HEALTHY_NORM[1]:g} is marked as healthy.",
        ("epoch", *map(_layer, layers)),
        [(str(r["epoch"]), *(_short(r["grad_norm"][layer]) for layer in layers)) for r in _thinned(records)],
    )


def _by_epoch(series: list[dict], until: int, theme: str, names: list[str]) -> dict[str, Any]:
    """Options of a chart whose horizontal axis is the epoch, 0 to `until`."""
    return {
        "animation": False,
        "legend": {"data": names, "top": 0, "left": 0, "itemWidth": 34, "icon": None},
        "grid": {"left": 46, "right": 20, "top": 48, "bottom": 44, "outerBoundsMode": "none"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": [
            {
                "type": "category",
                "data": [str(epoch) for epoch in range(until + 1)],
                "boundaryGap": False,
                "name": "epoch",
                "nameLocation": "middle",
                "nameGap": 26,
            }
        ],
        "yAxis": {"type": "value"},
        "series": series,
    }


def _line(name: str, values: Sequence[float | None], colour: str, dash: Any, symbol: str) -> dict[str, Any]:
    """A line whose first value belongs to epoch 1: epoch 0 has not been trained yet."""
    return {
        "type": "line",
        "name": name,
        "data": [None, *values],
        "color": colour,
        "lineStyle": {"type": dash, "width": 2},
        "symbol": symbol,
        "symbolSize": 7,
        "showSymbol": len(values) <= MARKERS,
        "z": 3,
    }


def _gap(one: Sequence[float | None], other: Sequence[float | None], colours: dict) -> list[dict[str, Any]]:
    """Two stacked areas, the lower one invisible: what shows is the space between two lines."""
    both = [(a, b) if a is not None and b is not None else None for a, b in zip(one, other, strict=True)]
    stack = {"type": "line", "stack": "gap", "symbol": "none", "lineStyle": {"opacity": 0}, "silent": True, "z": 1}
    hidden = {"tooltip": {"show": False}}
    return [
        {**stack, **hidden, "data": [None, *(min(pair) if pair else None for pair in both)]},
        {
            **stack,
            **hidden,
            "data": [None, *(abs(pair[0] - pair[1]) if pair else None for pair in both)],
            "areaStyle": {"color": colours["gap"]},
        },
    ]


def _batch_band(losses: Sequence[float], steps_per_epoch: int, colours: dict) -> list[dict[str, Any]]:
    """The losses of single batches, gathered in buckets: their mean as a thin line, their extremes as a band."""
    finite = np.asarray(losses, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return []
    buckets = np.array_split(finite, min(BUCKETS, len(finite)))
    ends = np.cumsum([len(bucket) for bucket in buckets]) / steps_per_epoch
    common = {"type": "line", "xAxisIndex": 1, "symbol": "none", "silent": True, "tooltip": {"show": False}}
    low, high, mean = (
        [[round(float(x), 4), float(f"{measure(bucket):.4g}")] for x, bucket in zip(ends, buckets, strict=True)]
        for measure in (np.min, np.max, np.mean)
    )
    thickness = [[x, top - bottom] for (x, bottom), (_, top) in zip(low, high, strict=True)]
    invisible = {"lineStyle": {"opacity": 0}}
    return [
        {**common, **invisible, "stack": "batches", "data": low},
        {**common, **invisible, "stack": "batches", "data": thickness, "areaStyle": {"color": colours["gap"]}},
        {**common, "data": mean, "lineStyle": {"color": colours["faint"], "width": 1}},
    ]


def _mark(line: dict[str, Any], records: Sequence[Record], cursor: int | None, colours: dict) -> None:
    """Vertical lines at the best epoch and at the epoch of the cursor."""
    marks = []
    best = [r["epoch"] for r in records if r["best"]]
    if best:
        marks.append(
            {"xAxis": str(best[-1]), "name": "best", "lineStyle": {"type": "dotted", "color": colours["faint"]}}
        )
    if cursor is not None:
        style = {"type": "solid", "width": 1.5, "color": colours["text"]}
        marks.append({"xAxis": str(cursor), "name": f"epoch {cursor}", "lineStyle": style})
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


def weight_histograms(record: Record, first: Record | None, layers: Sequence[str], theme: str = "light") -> Chart:
    """The weights of each layer in the bins that the run keeps, with the first epoch's as a dashed outline."""
    colours = COLOURS[theme]
    histograms = record["weight_histogram"]
    height, gap, top = 70, 44, 24
    spec: dict[str, Any] = {
        "animation": False,
        "tooltip": {"trigger": "axis", "valueFormatter": "%d"},
        "grid": [],
        "xAxis": [],
        "yAxis": [],
        "series": [],
        "title": [],
    }
    for i, (layer, colour) in enumerate(zip(layers, _ramp(colours["weight"], len(layers)), strict=True)):
        histogram = histograms[layer]
        offset = top + i * (height + gap)
        outside = histogram["below"] + histogram["above"]
        note = f", {outside} outside" if outside else ""
        spec["title"].append(
            {
                "text": _layer(layer) + note,
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
                "min": histogram["edges"][0],
                "max": histogram["edges"][-1],
                "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
                "splitLine": {"show": False},
            }
        )
        spec["yAxis"].append({"type": "value", "gridIndex": i, "show": False, "min": 0})
        spec["series"].append(
            _steps("weights", histogram, i, {"color": colour, "areaStyle": {"color": colour, "opacity": 0.45}})
        )
        if first is not None:
            outline = {"color": colours["faint"], "lineStyle": {"type": "dashed", "width": 1.5}}
            spec["series"].append(_steps("epoch 1", first["weight_histogram"][layer], i, outline))
    spread = [(layer, *_spread(histograms[layer])) for layer in layers]
    parts = "; ".join(
        f"{_layer(layer)}: mean {_short(mean)}, deviation {_short(std)}" for layer, mean, std, _ in spread
    )
    return Chart(
        f"Weights per layer, epoch {record['epoch']}",
        spec,
        top + len(layers) * (height + gap),
        f"Histogram of the weights of each layer after epoch {record['epoch']}. {parts}.",
        ("layer", "weights", "mean", "standard deviation", "outside the bins"),
        [
            (
                _layer(layer),
                str(count),
                _short(mean),
                _short(std),
                str(histograms[layer]["below"] + histograms[layer]["above"]),
            )
            for layer, mean, std, count in spread
        ],
    )


def _steps(name: str, histogram: dict, index: int, style: dict) -> dict[str, Any]:
    """A histogram as a line that steps from bin to bin."""
    points = [[edge, count] for edge, count in zip(histogram["edges"], [*histogram["counts"], 0], strict=True)]
    return {
        "type": "line",
        "name": name,
        "step": "end",
        "symbol": "none",
        "xAxisIndex": index,
        "yAxisIndex": index,
        "data": points,
        "lineStyle": {"width": 1},
        **style,
    }


def _spread(histogram: dict) -> tuple[float, float, int]:
    """Mean, deviation and number of the weights, as far as the bins tell."""
    counts, edges = np.array(histogram["counts"], dtype=float), np.array(histogram["edges"])
    total = int(counts.sum()) + histogram["below"] + histogram["above"]
    if not counts.sum():
        return math.nan, math.nan, total
    centres = (edges[:-1] + edges[1:]) / 2
    mean = float((centres * counts).sum() / counts.sum())
    return mean, math.sqrt(float((counts * (centres - mean) ** 2).sum() / counts.sum())), total


# ---------------------------------------------------------------- the plane


def boundary(
    answers: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    points: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    *,
    title: str,
    theme: str = "light",
) -> Chart:
    """Probabilities over the plane as bands of colour, the lines where the likeliest class changes, and the samples.

    answers (rows, columns, classes); points (n, 2) and labels (n,) are the samples to show.
    """
    colours = COLOURS[theme]
    count = len(classes)
    winner = answers.argmax(axis=-1)
    confidence = np.nan_to_num(answers.max(axis=-1), nan=1 / count)
    # One number for both: class + confidence between 0 (undecided) and 1 (certain), so that one scale colours all.
    share = np.clip((confidence - 1 / count) / (1 - 1 / count), 0, 0.999)
    code = (winner + share).round(3)
    cells = [[j, i, code[i, j].item()] for i in range(len(ys)) for j in range(len(xs))]
    reach_x, reach_y = (xs[1] - xs[0]) / 2, (ys[1] - ys[0]) / 2
    plane_x = {"min": float(xs[0] - reach_x), "max": float(xs[-1] + reach_x)}
    plane_y = {"min": float(ys[0] - reach_y), "max": float(ys[-1] + reach_y)}
    line = [value for a, b in frontiers(answers, xs, ys) for value in (list(a), list(b), [None, None])]
    plain = {"type": "value", "splitLine": {"show": False}, "axisLabel": {"showMinLabel": False, "showMaxLabel": False}}
    spec = {
        "animation": False,
        "grid": {"left": 26, "right": 4, "top": 34, "bottom": 24, "outerBoundsMode": "none"},
        "legend": {"top": 0, "left": 0, "data": [f"class {name}" for name in classes]},
        "xAxis": [
            {"type": "category", "data": [""] * len(xs), "show": False},
            {**plain, **plane_x, "position": "bottom"},
        ],
        "yAxis": [
            {"type": "category", "data": [""] * len(ys), "show": False},
            {**plain, **plane_y, "position": "left"},
        ],
        "visualMap": {
            "type": "piecewise",
            "show": False,
            "seriesIndex": 0,
            "dimension": 2,
            "pieces": [
                {
                    "gte": c + k / 5,
                    "lt": c + (k + 1) / 5,
                    "color": _mix(colours["paper"], colours["classes"][c % len(colours["classes"])], 0.08 + 0.14 * k),
                }
                for c in range(count)
                for k in range(5)
            ],
        },
        "series": [
            {"type": "heatmap", "data": cells, "silent": True, "itemStyle": {"borderWidth": 0}},
            {
                "type": "line",
                "xAxisIndex": 1,
                "yAxisIndex": 1,
                "data": line,
                "symbol": "none",
                "silent": True,
                "lineStyle": {"color": colours["text"], "width": 2},
            },
            *(
                {
                    "type": "scatter",
                    "name": f"class {name}",
                    "xAxisIndex": 1,
                    "yAxisIndex": 1,
                    "symbol": _nth(SYMBOLS, c),
                    "symbolSize": 7,
                    "color": _nth(colours["classes"], c),
                    "itemStyle": {"borderColor": colours["paper"], "borderWidth": 1},
                    "data": points[labels == c].round(3).tolist(),
                    "silent": True,
                }
                for c, name in enumerate(classes)
            ),
        ],
    }
    shares = [float(np.mean(winner == c)) for c in range(count)]
    unsure = float(np.mean(share < 0.6))
    middle = answers[len(ys) // 2, len(xs) // 2]
    return Chart(
        title,
        spec,
        420,
        f"{title}. The plane of the inputs, coloured by the likeliest class: "
        + ", ".join(f"class {name} holds {part:.0%}" for name, part in zip(classes, shares, strict=True))
        + f". The network is unsure over {unsure:.0%} of the plane.",
        ("class", "share of the plane", "probability at the centre"),
        [(name, f"{part:.1%}", _percent_text(p)) for name, part, p in zip(classes, shares, middle, strict=True)],
    )


# ---------------------------------------------------------------- numbers, names and colours


def horizon(epoch: int, epochs: int) -> int:
    """Where the epoch axis ends: in a few jumps up to the whole run, so that the first epochs are not squeezed."""
    return min(epochs, next((end for end in (10, 20, 40, 80, 160) if epoch <= end), epochs))


def _column(records: Sequence[Record], name: str) -> list[float | None]:
    return [record[name] for record in records]


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _percent_text(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "not a number"


def _short(value: float | None) -> str:
    return "not a number" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _difference(a: float | None, b: float | None) -> str:
    return "not a number" if a is None or b is None else f"{a - b:+.3g}"


def _layer(name: str) -> str:
    return name.replace("layer", "layer ")


def _nth(choices: Sequence[Any], index: int) -> Any:
    return choices[index % len(choices)]


def _thinned(records: Sequence[Record]) -> list[Record]:
    """At most ROWS of them, evenly, with the first and the last."""
    if len(records) <= ROWS:
        return list(records)
    return [records[round(i)] for i in np.linspace(0, len(records) - 1, ROWS)]


def _at_epoch(records: Sequence[Record]) -> str:
    return f"Epoch {records[-1]['epoch']}: " if records else ""


def _curves_alt(what: str, records: Sequence[Record], train: str, val: str, lowest: bool) -> str:
    if not records:
        return f"{what}: nothing yet."
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
