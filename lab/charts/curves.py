"""Charts by epoch: loss, accuracy, R², gradient norms, updates, saturation and dead units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lab.charts.chart import (
    COLOURS,
    DASHES,
    SYMBOLS,
    Chart,
    Colours,
    nth,
    percent,
    ramp,
    signed,
    thinned,
    undrawn_line,
)
from lab.text import layer_name, percent_text, short
from lab.training.doctor import BAND, HIGH_NORM
from lab.training.records import Curve, LayerCurve, Record, is_comparable, is_regression, score, scores

MAX_MARKERS = 30  # along a line: more would hide it
HEIGHT, TICKS = 230, 6  # pixels of a chart; steps between the labels of a logarithmic axis, at most
BUCKETS = 120  # groups into which the losses of single batches are gathered


@dataclass(frozen=True)
class CurveOptions:
    """What the charts by epoch have in common.

    until     the end of the epoch axis
    cursor    the epoch that a line marks, or None
    held_out  False if no samples were held out: the validation numbers repeat the training numbers and are not drawn
    others    names and records of earlier runs, whose validation is drawn for comparison
    """

    until: int
    cursor: int | None = None
    theme: str = "light"
    held_out: bool = True
    others: Sequence[tuple[str, Sequence[Record]]] = ()

    @property
    def colours(self) -> Colours:
        return COLOURS[self.theme]


# ---------------------------------------------------------------- by epoch


def loss(
    records: Sequence[Record],
    batch_losses: np.ndarray,
    batch_epochs: np.ndarray,
    options: CurveOptions,
    *,
    log: bool = False,
) -> Chart:
    """Draw training and validation loss, the gap between them shaded, over a band of the single batches' losses.

    batch_epochs: the position of each of the batch_losses on the epoch axis.
    """
    train, val = _column(records, "train_loss"), _column(records, "val_loss")
    series = [
        *_batch_band(batch_losses, batch_epochs, options.colours),
        *_parts(train, val, _others(lambda run: _column(run, "val_loss"), records, options), options),
    ]
    _mark(series[-1], records, options)
    spec = _by_epoch(series, options.until)
    own_axis = {"type": "value", "min": 0, "max": options.until, "show": False, "axisPointer": {"show": False}}
    spec["xAxis"].append(own_axis)
    spec["yAxis"] |= {"type": "log"} if log else {"min": 0}
    cells = [
        (short(r["train_loss"]), short(r["val_loss"]), _difference(r["val_loss"], r["train_loss"]))
        for r in thinned(records)
    ]
    alt = _curves_alt("Loss by epoch", records, "train_loss", "val_loss", options, lowest=True)
    headers = ("training loss", "validation loss", "validation − training")
    return _of_both_parts("Loss", spec, alt, headers, records, cells, options)


def accuracy(records: Sequence[Record], options: CurveOptions) -> Chart:
    """Draw training and validation accuracy in percent, the gap between them shaded."""
    train, val = (_percents(_column(records, name)) for name in ("train_accuracy", "val_accuracy"))
    compared = _others(lambda run: _percents(_column(run, "val_accuracy")), records, options)
    spec, lowest = _scores_spec(train, val, compared, records, options)
    spec["yAxis"] |= {"max": 100, "min": 10 * math.floor(min(lowest, 90) / 10), "axisLabel": {"formatter": "{value} %"}}
    spec["tooltip"]["valueFormatter"] = "%.1f %%"
    cells = [
        (
            percent_text(r["train_accuracy"], 1),
            percent_text(r["val_accuracy"], 1),
            signed(100 * (score(r, "train") - score(r, "val")), ".1f"),
        )
        for r in thinned(records)
    ]
    alt = _curves_alt("Accuracy by epoch", records, "train_accuracy", "val_accuracy", options, lowest=False)
    return _of_both_parts("Accuracy", spec, alt, ("training", "validation", "gap in points"), records, cells, options)


def r_squared(records: Sequence[Record], options: CurveOptions) -> Chart:
    """Draw a regression's R², the share of the variance that it explains, for training and validation."""
    train, val = (_scores(records, part) for part in ("train", "val"))
    compared = _others(lambda run: _scores(run, "val"), records, options)
    spec, lowest = _scores_spec(train, val, compared, records, options)
    spec["yAxis"] |= {"max": 1, "min": max(-1, math.floor(2 * min(lowest, 0.5)) / 2)}
    both = (scores(thinned(records), part).tolist() for part in ("train", "val"))
    cells = [(short(one), short(other), _difference(one, other)) for one, other in zip(*both, strict=True)]
    validation = f", validation {short(val[-1])}" if options.held_out else ""
    title = "R², the share of the variance explained"
    alt = f"R² by epoch. {_at_epoch(records)}training {short(train[-1])}{validation}."
    return _of_both_parts(title, spec, alt, ("training", "validation", "gap"), records, cells, options)


def _scores_spec(
    train: Sequence[float | None],
    val: Sequence[float | None],
    compared: list[dict[str, Any]],
    records: Sequence[Record],
    options: CurveOptions,
) -> tuple[dict[str, Any], float]:
    """Make the options of a score chart for both parts, over the lines of other runs; return the lowest value, too."""
    series = _parts(train, val, compared, options)
    _mark(series[-1], records, options)
    named = (line for line in series if "name" in line)
    lowest = min([value for line in named for value in line["data"] if value is not None] or [0])
    return _by_epoch(series, options.until), lowest


def _parts(
    train: Sequence[float | None], val: Sequence[float | None], compared: list[dict[str, Any]], options: CurveOptions
) -> list[dict[str, Any]]:
    """Make the lines of both parts over the shaded gap and the lines of other runs, or of training alone."""
    colours = options.colours
    line = _line("training", train, colours["train"], DASHES[0], SYMBOLS[0])
    if not options.held_out:
        return [*compared, line]
    validation = _line("validation", val, colours["validation"], DASHES[1], SYMBOLS[1])
    return [*_gap(train, val, colours), *compared, line, validation]


def _of_both_parts(
    title: str,
    spec: dict[str, Any],
    alt: str,
    headers: tuple[str, ...],
    records: Sequence[Record],
    cells: Sequence[tuple[str, ...]],
    options: CurveOptions,
) -> Chart:
    """Make a chart whose table has the columns epoch and training, and the others if samples were held out.

    cells: a row for each of the thinned records, without its epoch.
    """
    columns = len(headers) if options.held_out else 1
    rows = [(str(r["epoch"]), *row[:columns]) for r, row in zip(thinned(records), cells, strict=True)]
    return Chart(title, spec, HEIGHT, alt, ("epoch", *headers[:columns]), rows, of=len(records))


def gradient_norms(records: Sequence[Record], layers: Sequence[str], options: CurveOptions) -> Chart:
    """Draw the norm of each layer's gradient, for a classifier over the band where it usually lies while it learns."""
    chart = _per_layer("Gradient norm per layer", "grad_norm", "gradient", records, layers, options)
    if is_regression(records[0]):
        _logarithmic(chart.spec, *BAND)
        title, remark = chart.title, "Squared errors have no usual norm."
    else:
        _usual_norms(chart.spec, options)
        title = f"{chart.title}; shaded: usual norms"
        remark = (
            f"{BAND[0]:g} to {BAND[1]:g} is usual while a network learns; more than {HIGH_NORM:g} is large, which "
            "matters only if the loss does not fall."
        )
    if clipped := records[-1].get("clipped", 0):
        title += f", {clipped:.0%} of the steps then clipped"
    return replace(chart, title=title, alt=f"{chart.alt} Logarithmic scale. {remark}")


def _usual_norms(spec: dict[str, Any], options: CurveOptions) -> None:
    """Shade the band of usual norms, and mark where a norm counts as large."""
    colours = options.colours
    _logarithmic(spec, *BAND, HIGH_NORM)
    spec["series"][0]["markArea"] = {
        "silent": True,
        "itemStyle": {"color": colours["band"]},
        "data": [[{"yAxis": BAND[0]}, {"yAxis": BAND[1]}]],
    }
    spec["series"][0]["markLine"] = {
        "silent": True,
        "symbol": "none",
        "label": {  # below the line: the marks of epochs are above it
            "formatter": "large",
            "position": "insideStartBottom",
            "color": colours["text"],
            "fontSize": 12,
        },
        "lineStyle": {"type": "dashed", "color": colours["faint"]},
        "data": [{"yAxis": HIGH_NORM}],
    }


def norms_and_updates(records: Sequence[Record], layers: Sequence[str], options: CurveOptions) -> Chart:
    """Draw `gradient_norms` and, thinner, on the right axis, the size of each epoch's last update over the weights'."""
    norms = gradient_norms(records, layers, options)
    updates = _per_layer("Update over weights per layer", "update_ratio", "weight", records, layers, options)
    _logarithmic(updates.spec, 0.0001, 0.01)
    spec, zero = norms.spec, updates.spec.get("zero")
    for i, line in enumerate(updates.spec["series"]):
        line.pop("markLine", None)
        line["data"] = [None if value == zero else value for value in line["data"]]
        line |= {
            "yAxisIndex": 1,
            "symbol": nth(SYMBOLS, i + 3),
            "symbolSize": 5,
            "lineStyle": {"type": nth(DASHES, i + 3), "width": 1},
        }
        line["name"] += ", update"
    spec["series"] += updates.spec["series"]
    first, *others = spec["xAxis"]
    spec["xAxis"] = [first | {"name": ""}, *others]  # the numbers of the right axis take the name's place
    spec["yAxis"] = [spec["yAxis"], updates.spec["yAxis"] | {"position": "right", "splitLine": {"show": False}}]
    return replace(
        norms,
        title=norms.title.replace("Gradient norm per layer", "Gradient norms; thin lines: updates, right axis"),
        alt=f"{norms.alt} {updates.alt} An update of 0.001 is usual.",
        headers=(*norms.headers, *(f"{layer}, update" for layer in updates.headers[1:])),
        rows=[(*norm, *update[1:]) for norm, update in zip(norms.rows, updates.rows, strict=True)],
    )


def saturation(records: Sequence[Record], layers: Sequence[str], options: CurveOptions) -> Chart:
    """Draw the share of outputs per hidden layer in the flat ends of tanh or sigmoid, in percent."""
    return _in_percent(_per_layer("Saturated outputs per layer", "saturated", "weight", records, layers, options))


def dead_units(records: Sequence[Record], layers: Sequence[str], options: CurveOptions) -> Chart:
    """Draw the share of units per hidden layer whose output is the same for every sample, in percent."""
    return _in_percent(_per_layer("Dead units per layer", "dead_units", "weight", records, layers, options))


def _in_percent(chart: Chart) -> Chart:
    for line in chart.spec["series"]:
        line["data"] = _percents(line["data"])
    chart.spec["yAxis"] |= {"min": 0, "max": 100, "axisLabel": {"formatter": "{value} %"}}
    chart.spec["tooltip"]["valueFormatter"] = "%.0f %%"
    return chart


def _per_layer(
    title: str,
    name: LayerCurve,
    colour: Literal["gradient", "weight"],
    records: Sequence[Record],
    layers: Sequence[str],
    options: CurveOptions,
) -> Chart:
    """Draw one line per layer for a field that the records give per layer."""
    columns = {layer: _of_layer(records, name, layer) for layer in layers}
    series = [
        _line(layer_name(layer), columns[layer], shade, nth(DASHES, i), nth(SYMBOLS, i))
        for i, (layer, shade) in enumerate(zip(layers, ramp(options.colours[colour], len(layers)), strict=True))
    ]
    _mark(series[-1], records, options)
    last_values = ", ".join(f"{layer_name(layer)} {short(column[-1])}" for layer, column in columns.items())
    known = [r for r in records if name in r]
    if not known:
        last_values = "nothing yet"
    return Chart(
        title,
        _by_epoch(series, options.until),
        HEIGHT,
        f"{title} by epoch. {_at_epoch(records)}{last_values}.",
        ("epoch", *map(layer_name, layers)),
        [(str(r["epoch"]), *(short(r[name][layer]) for layer in layers)) for r in thinned(known)],
        of=len(known),
    )


def _logarithmic(spec: dict[str, Any], *always: float) -> None:
    """Make the vertical axis logarithmic, over whole decades that include the values `always`.

    A logarithmic axis has no 0, yet 0 is the most telling value: it is drawn on the lowest line, which is labelled 0.
    """
    values = [value for line in spec["series"] for value in line["data"] if value is not None]
    seen = [*always, *filter(None, values)] or [1.0]
    ends = math.floor(math.log10(min(seen))), math.ceil(math.log10(max(seen)))
    step = math.ceil((ends[1] - ends[0] + (0 in values)) / TICKS)  # decades between two labels, which begin at its ends
    low, high = 10.0 ** (ends[0] // step * step), 10.0 ** (-(-ends[1] // step) * step)
    if 0 in values:
        low /= 10.0**step
        spec["zero"] = low
        for line in spec["series"]:
            line["data"] = [low if value == 0 else value for value in line["data"]]
    spec["yAxis"] |= {"type": "log", "min": low, "max": high, "interval": step}


def _by_epoch(series: list[dict[str, Any]], until: int) -> dict[str, Any]:
    """Make the options of a chart whose horizontal axis is the epoch, 0 to `until`; the legend has the named lines."""
    step = next((step for step in (1, 2, 5, 10, 20, 50) if until <= 10 * step), 100)
    return {
        "legend": {
            "data": [line["name"] for line in series if "name" in line],
            "type": "scroll",  # one row, however many names there are
            "top": 0,
            "left": 0,
            "itemWidth": 34,
        },
        "grid": {"left": 54, "right": 52, "top": 36, "bottom": 24},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": [
            {
                "type": "category",
                "data": [str(epoch) for epoch in range(until + 1)],
                "boundaryGap": False,
                "axisLabel": {"interval": step - 1},
                "name": "epoch",
                "nameLocation": "end",
                "nameGap": 6,
                "axisPointer": {"label": {"formatter": "epoch {value}"}},
            }
        ],
        "yAxis": {"type": "value"},
        "series": series,
    }


def _line(name: str, values: Sequence[float | None], colour: str, dash: Any, symbol: str) -> dict[str, Any]:
    """Make a line with one value for each epoch from 0, the untrained network."""
    return {
        "type": "line",
        "name": name,
        "data": list(values),
        "color": colour,
        "lineStyle": {"type": dash, "width": 2},
        "symbol": symbol,
        "symbolSize": 7,
        "showSymbol": len(values) <= MAX_MARKERS,
        "z": 3,
    }


def _others(
    values: Callable[[Sequence[Record]], Sequence[float | None]], records: Sequence[Record], options: CurveOptions
) -> list[dict[str, Any]]:
    """Make the lines of earlier runs to compare with: thinner, each with its own colour and dashes.

    values: returns a run's measure by epoch. A classification is not drawn next to a regression, nor the reverse: their
    losses and scores measure different things.
    """
    lines = []
    for i, (name, run) in enumerate(options.others):
        if not is_comparable(run, records):
            continue
        line = _line(
            name,
            values(run[: options.until]),
            nth(options.colours["classes"][2:], i),
            nth(DASHES, i + 2),
            nth(SYMBOLS, i + 2),
        )
        line["lineStyle"]["width"] = 1.5
        lines.append(line)
    return lines


def _gap(one: Sequence[float | None], other: Sequence[float | None], colours: Colours) -> list[dict[str, Any]]:
    """Shade the space between two lines, by two stacked areas of which the lower one is invisible."""
    both = [(a, b) if a is not None and b is not None else None for a, b in zip(one, other, strict=True)]
    low = [min(pair) if pair else None for pair in both]
    thickness = [abs(pair[0] - pair[1]) if pair else None for pair in both]
    return [undrawn_line(low, "gap"), undrawn_line(thickness, "gap", colours["gap"])]


def _batch_band(losses: np.ndarray, epochs: np.ndarray, colours: Colours) -> list[dict[str, Any]]:
    """Make a band of the single batches' losses, gathered in buckets: their mean as a thin line, between extremes."""
    epochs, finite = epochs[np.isfinite(losses)], losses[np.isfinite(losses)]
    if not len(finite):
        return []
    starts = np.linspace(0, len(finite), min(BUCKETS, len(finite)) + 1).astype(int)
    counts = np.diff(starts)
    lows, highs, totals = (measure.reduceat(finite, starts[:-1]) for measure in (np.minimum, np.maximum, np.add))
    ends = epochs[starts[1:] - 1].round(4).tolist()
    low, high, mean = ([float(f"{value:.4g}") for value in values] for values in (lows, highs, totals / counts))
    thickness = [top - bottom for bottom, top in zip(low, high, strict=True)]
    band = [
        undrawn_line(list(zip(ends, low, strict=True)), "batches"),
        undrawn_line(list(zip(ends, thickness, strict=True)), "batches", colours["gap"]),
    ]
    line = {
        **undrawn_line(list(zip(ends, mean, strict=True)), None),
        "lineStyle": {"color": colours["faint"], "width": 1},
    }
    return [{**part, "xAxisIndex": 1} for part in (*band, line)]


def _mark(line: dict[str, Any], records: Sequence[Record], options: CurveOptions) -> None:
    """Add labelled vertical lines where settings changed, at the best epoch, where the run diverged, at the cursor."""
    colours = options.colours
    marks: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    best = [r for r in records if r.get("best") and not r.get("diverged")]
    if best:
        name = "best loss" if best[-1].get("train_accuracy") is None else "best accuracy"
        dotted = {"type": "dotted", "width": 1.5, "color": colours["faint"]}
        marks.setdefault(best[-1]["epoch"], []).append((name, dotted))
    if records and records[-1].get("diverged"):
        end = {"type": "dashed", "width": 2, "color": colours["validation"]}
        marks.setdefault(records[-1]["epoch"], []).append(("no longer a number", end))
    for record in records:
        for name, value in record.get("changed", {}).items():
            words = f"{name.replace('_', ' ')} {'none' if value is None else f'{value:g}'}"
            made = {"type": "solid", "width": 1, "color": colours["faint"]}
            marks.setdefault(record["epoch"] - 1, []).append((words, made))
    if options.cursor is not None:
        marks.setdefault(options.cursor, []).append(("", {"type": "solid", "width": 1.5, "color": colours["text"]}))
    said = {epoch: ", ".join(name for name, _ in found if name) for epoch, found in marks.items()}
    data = [
        {
            "xAxis": str(epoch),
            "name": said[epoch],
            "lineStyle": found[-1][1],
            "label": {"align": _side(epoch, [other for other in said if said[other]], options.until)},
        }
        for epoch, found in marks.items()
    ]
    label = {
        "formatter": "{b}",
        "position": "end",
        "rotate": 0,
        "distance": 2,
        "color": colours["text"],
        "fontSize": 12,
    }
    line["markLine"] = {"silent": True, "symbol": "none", "label": label, "data": data}


def _side(epoch: int, marked: Sequence[int], until: int) -> str:
    """Choose the alignment of a mark's words: away from a mark that is near, or else towards the middle."""
    near = min((other - epoch for other in marked if other != epoch), key=abs, default=until)
    away = -near if 8 * abs(near) < until else until - 2 * epoch
    return "left" if away > 0 else "right"


# ---------------------------------------------------------------- numbers, names and colours


def horizon(epoch: int, epochs: int) -> int:
    """Choose the end of the epoch axis: it grows in a few jumps, so that the first epochs are not squeezed."""
    return min(epochs, next((end for end in (10, 20, 40, 80, 160) if epoch <= end), epochs))


def _column(records: Sequence[Record], name: Curve) -> list[float | None]:
    """Collect a field by epoch from 0, padded with None: records of the command line begin with epoch 1."""
    first = records[0]["epoch"] if records else 0
    return [*[None] * first, *(record[name] for record in records)]


def _of_layer(records: Sequence[Record], name: LayerCurve, layer: str) -> list[float | None]:
    """Collect a layer's field by epoch from 0, padded with None: the untrained network has no gradients."""
    before = [None] * records[0]["epoch"]
    return [*before, *(record[name][layer] if name in record else None for record in records)]


def _scores(records: Sequence[Record], part: Literal["train", "val"]) -> list[float | None]:
    """Collect the scores by epoch from 0, padded with None."""
    known = scores(records, part).tolist()
    return [*[None] * (records[0]["epoch"] if records else 0), *(None if math.isnan(one) else one for one in known)]


def _percents(shares: Sequence[float | None]) -> list[float | None]:
    return [None if share is None else percent(share) for share in shares]


def _difference(a: float | None, b: float | None) -> str:
    difference = math.nan if a is None or b is None else a - b
    return "not a number" if math.isnan(difference) else signed(difference)


def _at_epoch(records: Sequence[Record]) -> str:
    return f"Epoch {records[-1]['epoch']}: "


def _curves_alt(
    what: str, records: Sequence[Record], train: Curve, val: Curve, options: CurveOptions, *, lowest: bool
) -> str:
    known = [(value, r["epoch"]) for r in records if (value := r[val]) is not None]
    text = f"{what}. {_at_epoch(records)}training {short(records[-1][train])}"
    text += f", validation {short(records[-1][val])}." if options.held_out else "."
    if known and options.held_out:
        best, epoch = (min if lowest else max)(known, key=lambda pair: pair[0])
        text += f" {'Lowest' if lowest else 'Highest'} validation {short(best)} in epoch {epoch}."
    return text
