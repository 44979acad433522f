"""Histograms of weights and gradients over the epochs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lab.charts.chart import COLOURS, Chart, mix, ramp, thinned
from lab.text import layer_name, numeral, short
from lab.training.records import Counted, Histogram, Record

RIDGES = 9  # number of epochs in a ridge chart


def ridges(records: Sequence[Record], layer: str, of: str, theme: str = "light") -> Chart:
    """Draw the histograms of a layer's weights or gradients at several epochs, one behind the other, latest in front.

    of: "weight" or "gradient". The bins of gradients are powers of ten, all drawn with the same width.
    """
    title = f"{of.capitalize()}s of {layer_name(layer)} over the epochs"
    colours = COLOURS[theme]
    if not records:
        sentence = "Gradients are counted from the first epoch on."
        style = {"color": colours["text"], "fontSize": 14, "fontWeight": "normal"}
        spec = {"title": {"text": sentence, "left": 0, "textStyle": style}}
        return Chart(title, spec, 60, sentence, (title,), [(sentence,)])
    shown = thinned(records, RIDGES)
    counted: Counted = "weight_histogram" if of == "weight" else "gradient_histogram"
    histograms = [record[counted][layer] for record in shown]
    edges = histograms[0]["edges"]
    centres = [round((low + high) / 2, 6) for low, high in pairwise(edges)]
    ends = edges[0], edges[-1]
    along: dict[str, Any] = {"type": "value", "min": edges[0], "max": edges[-1], "splitLine": {"show": False}}
    labels: dict[str, Any] = {"showMinLabel": False, "showMaxLabel": False}
    if of == "gradient":  # the bins are powers of ten of either sign
        along = {"type": "category", "data": _every_hundredfold(edges), "boundaryGap": False}
        centres, labels = list(range(len(centres))), {"interval": 0}
        ends = centres[0], centres[-1]
    first, last = colours["weight" if of == "weight" else "gradient"]
    shades = ramp((last, first), len(shown))
    series = []
    for i, (record, histogram) in enumerate(zip(shown, histograms, strict=True)):
        shade = shades[i]
        base = len(shown) - 1 - i
        heights = base + 1.7 * np.array(histogram["counts"]) / max(1, *histogram["counts"])
        series.append(
            {
                "type": "line",
                "name": f"epoch {record['epoch']}",
                # Each outline ends on its own base, and its label stands there, clear of the next one's
                "data": [(ends[0], base), *zip(centres, heights.round(3).tolist(), strict=True), (ends[1], base)],
                "symbol": "none",
                "silent": True,
                "color": shade,
                "lineStyle": {"width": 1.5},
                "areaStyle": {"color": mix(colours["paper"], shade, 0.3), "opacity": 0.9, "origin": base},
                "endLabel": {"show": True, "formatter": "{a}", "color": colours["text"], "fontSize": 12},
                "z": i + 2,
            }
        )
    rows = [
        (str(record["epoch"]), *map(short, _percentiles(histogram)))
        for record, histogram in zip(shown, histograms, strict=True)
    ]
    return Chart(
        title,
        {
            "grid": {"left": 8, "right": 66, "top": 8, "bottom": 24},
            "xAxis": along | {"axisTick": {"show": False}, "axisLabel": labels},
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


def _every_hundredfold(edges: Sequence[float]) -> list[str]:
    """Label only the bins that end at 0.01, 1, ... and the bin of 0: more labels would overlap."""
    names = []
    for low, high in pairwise(edges):
        end = low if high <= 0 else high if low >= 0 else 0.0  # the edge farther from 0
        power = math.log10(abs(end)) if end else 0.0
        named = end == 0 or (abs(power / 2 - round(power / 2)) < 1e-6 and abs(end) > 1.5 * min(map(abs, edges)))
        names.append(numeral(end) if named else "")
    return names


def _percentiles(histogram: Histogram) -> list[float]:
    """Estimate the quartiles of the values that a histogram counts, to within a bin."""
    counts = np.array([histogram["below"], *histogram["counts"], histogram["above"]], dtype=float)
    edges = np.array([histogram["edges"][0], *histogram["edges"], histogram["edges"][-1]])
    if not counts.sum():
        return [math.nan] * 3
    share = np.concatenate([[0], counts.cumsum() / counts.sum()])
    return np.interp([0.25, 0.5, 0.75], share, edges).tolist()
