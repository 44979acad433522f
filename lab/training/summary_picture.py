"""Draw the PNG of a run: loss, accuracy, gradient norms and weights.

Drawn with matplotlib's objects, not with pyplot: pyplot keeps every figure in a global list, which is not safe where
sessions share a process. Lines differ in style and marker as well as in colour.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from lab.training.base_trainer import BaseTrainer
from lab.training.config import describe
from lab.training.records import Record, column, is_regression, scores
from lab.training.run_folder import RunFolder, write_atomic

BLUE, ORANGE, GREEN, PINK, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
GREY = "#5F6368"
Style = tuple[str, Any, str]  # colour, dashes and marker of a line
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
LAYER_STYLES: list[Style] = list(zip((BLUE, RED, GREEN, PINK, SKY, ORANGE), _DASHES, "os^DvP", strict=True))
TRAINING = {True: "training", False: "training (nothing held out)"}
MIN_SPAN = 0.05  # of an axis, as a share of the values along it
MAX_MARKERS = 20  # along a line: more would hide it


def save_summary(run: RunFolder, trainer: BaseTrainer) -> None:
    """Draw summary.png, if the run has a complete epoch."""
    if records := run.records():
        title = describe(trainer.sizes, trainer.config)
        write_atomic(run.path / "summary.png", run_picture(records, title, trainer.config.val_fraction > 0))


def run_picture(records: Sequence[Record], title: str, held_out: bool = True) -> bytes:
    """Draw the PNG of a run from its records, at least one; the weight histograms are those of the last record.

    held_out: False if no samples were held out. The validation numbers then repeat the training numbers and are not
    drawn.
    """
    figure = Figure(figsize=(11, 7.5), dpi=120, layout="constrained")
    figure.suptitle(title, fontsize=12)
    axes = figure.subplots(2, 2)
    _draw_loss(axes[0, 0], records, held_out)
    _draw_scores(axes[0, 1], records, held_out)
    _draw_gradient_norms(axes[1, 0], records)
    _draw_weights(axes[1, 1], records[-1])
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#E4E4E4", linewidth=0.8)
        panel.set_axisbelow(True)
    for panel in (axes[0, 0], axes[0, 1], axes[1, 0]):
        panel.set_xlabel("epoch")
        panel.set_xlim(0.5, len(records) + 0.5)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _curve(panel: Axes, epochs: np.ndarray, values: np.ndarray, label: str, style: Style) -> None:
    colour, line, marker = style
    every = -(-len(epochs) // MAX_MARKERS)
    panel.plot(epochs, values, color=colour, linestyle=line, marker=marker, markersize=4, markevery=every, label=label)


def _draw_loss(panel: Axes, records: Sequence[Record], held_out: bool) -> None:
    epochs = column(records, "epoch")
    _curve(panel, epochs, column(records, "train_loss"), TRAINING[held_out], (BLUE, "-", "o"))
    if held_out:
        _curve(panel, epochs, column(records, "val_loss"), "validation", (RED, "--", "s"))
    _scale(panel)
    _head(panel, f"Loss ({'mean squared error' if is_regression(records[0]) else 'cross-entropy'})")


def _draw_scores(panel: Axes, records: Sequence[Record], held_out: bool) -> None:
    """Draw the accuracy, or a regression's R²."""
    epochs, train, val = column(records, "epoch"), scores(records, "train"), scores(records, "val")
    _curve(panel, epochs, train, TRAINING[held_out], (BLUE, "-", "o"))
    best, regression = max(record["epoch"] for record in records if record["best"]), is_regression(records[0])
    if held_out:
        _curve(panel, epochs, val, "validation", (RED, "--", "s"))
        gap = f"{train[-1] - val[-1]:+.3f}" if regression else f"{100 * (train[-1] - val[-1]):+.1f} points"
        panel.fill_between(epochs, train, val, color=GREY, alpha=0.18, linewidth=0, label=f"gap, {gap} at the end")
    label = f"best, {val[best - 1]:{'.3f' if regression else '.1%'}} in epoch {best}"
    panel.plot(best, val[best - 1], "*", markersize=13, color=RED, markeredgecolor="white", label=label)
    if not regression:
        panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    _head(panel, "R²: the share of the variance that is explained" if regression else "Accuracy")


def _draw_gradient_norms(panel: Axes, records: Sequence[Record]) -> None:
    epochs = column(records, "epoch")
    for index, layer in enumerate(records[0]["grad_norm"]):
        norms = np.array([record["grad_norm"][layer] for record in records], dtype=float)
        _curve(panel, epochs, norms, layer, LAYER_STYLES[index % len(LAYER_STYLES)])
    _scale(panel)
    _head(panel, "Gradient norm per layer (mean over the epoch)")


def _draw_weights(panel: Axes, last: Record) -> None:
    for index, (layer, histogram) in enumerate(last["weight_histogram"].items()):
        edges, counts = np.array(histogram["edges"]), np.array(histogram["counts"], dtype=float)
        outside = histogram["below"] + histogram["above"]
        density = counts / max(counts.sum() + outside, 1) / np.diff(edges)
        colour, line, _ = LAYER_STYLES[index % len(LAYER_STYLES)]
        label = f"{layer} ({outside:,} beyond)" if outside else layer
        panel.stairs(density, edges, color=colour, linestyle=line, linewidth=1.5, label=label)
    panel.set_xlabel("weight")
    panel.set_ylabel("density")
    _head(panel, f"Weights per layer after epoch {last['epoch']}")


def _head(panel: Axes, title: str) -> None:
    """Set the title and the legend."""
    panel.set_title(title, loc="left", fontweight="bold", fontsize=11)
    panel.legend(frameon=False, fontsize=9)


def _scale(panel: Axes) -> None:
    """Choose the y-axis: logarithmic where the values are positive and vary enough, linear otherwise."""
    values = np.concatenate([line.get_ydata() for line in panel.get_lines()])
    values = values[np.isfinite(values)]
    if not values.size:
        panel.text(0.5, 0.5, "not a number", transform=panel.transAxes, ha="center", color=GREY)
        panel.set_yticks([])
        return
    low, high = values.min(), values.max()
    if low > 0 and high > 3 * low:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_minor_formatter(NullFormatter())
    elif high - low < MIN_SPAN * high:  # a value that hardly changes should look flat
        panel.set_ylim(low - MIN_SPAN * high, high + MIN_SPAN * high)
    panel.yaxis.set_major_formatter("{x:g}")
