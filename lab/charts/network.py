"""The network as a picture: units as tiles that show what each computes, joined by lines for the weights.

static/network/ draws it as one of the charts.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.charts.decision_boundary import signed_shades
from lab.text import layer_name, short
from lab.training.features import FEATURES, NAMES, PLAIN, of_inputs
from lab.training.predictions import PlaneGrid, layer_maps
from nn import MLP

if TYPE_CHECKING:
    from lab.training.live import LiveRun

DIGITS = np.array(list(string.digits + string.ascii_uppercase))  # base 36: one digit for each shade
MAX_UNITS = 8  # units of a layer whose lines are drawn one by one
MAX_TILES = 64  # tiles of a layer
MANY_LAYERS = 3  # a network with more hidden layers shows only MAX_UNITS tiles of each
MAX_WEIGHT = 1e39  # larger than any float32
LINES = ("weights", "gradients")


@dataclass(frozen=True)
class Column:
    """A column of the picture: the inputs, a hidden layer, or the outputs.

    maps         pictures of the units, of shape (rows, columns, units), or None
    layer        see `NetworkColumn` in types.d.ts
    on, keys     for features: which ones the network uses, and their names in a Config
    words        text on the tiles; by default the number of a tile without a picture
    """

    name: str
    count: int
    maps: np.ndarray | None
    names: Sequence[str]
    places: Sequence[str]
    layer: int | None = None
    on: Sequence[bool] = ()
    keys: Sequence[str] = ()
    words: Sequence[str] = ()

    def shown(self, theme: str, most: int) -> dict[str, Any]:
        tiles = min(len(self.names), most)
        codes = ["" if self.maps is None else _coded(self.maps[:, :, k], theme) for k in range(tiles)]
        return {
            "name": self.name,
            "tiles": [
                {
                    "key": self.keys[k] if self.keys else "",
                    "name": self.names[k],
                    "place": self.places[k] if self.places else "",
                    "map": codes[k],
                    "word": self.words[k] if self.words else "" if codes[k] else str(k + 1),
                    "on": self.on[k] if self.on else None,
                }
                for k in range(tiles)
            ],
            "more": len(self.names) - tiles,
            "side": 0 if self.maps is None else self.maps.shape[1],
            "layer": self.layer,
        }


def _coded(values: np.ndarray, theme: str) -> str:
    shades, _ = signed_shades(values, theme)
    return "".join(DIGITS[shades].flat)


def network(
    run: LiveRun, model: MLP, plane: PlaneGrid | None, *, lines: str, height: str, theme: str, note: str = ""
) -> dict[str, Any]:
    """Return the picture of the network for the chart host.

    plane: grid on which units are drawn, or None; lines: of LINES.
    """
    columns = [_inputs(run, plane), *_layers(run, model, plane)]
    matrices = [layer.weight.numpy() for layer in model.layers]
    if lines == "gradients":
        matrices = run.trainer.gradients(model)
    matrices = [_drawable(matrix) for matrix in matrices]
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]  # the features that are on, not all tiles
    layers = ", ".join(f"{column.name} {size}" for column, size in zip(columns, sizes, strict=True))
    wires = [
        _wires(matrix, _few(before), _few(after))
        for matrix, (before, after) in zip(matrices, pairwise(columns), strict=True)
    ]
    _, palette = signed_shades(np.zeros((1, 1)), theme)
    hidden = run.config.hidden
    return {
        "columns": [column.shown(theme, MAX_TILES if len(hidden) <= MANY_LAYERS else MAX_UNITS) for column in columns],
        "wires": wires,
        "hidden": list(hidden),
        "palette": palette,
        "height": height,
        "note": note,
        "label": f"The network: {layers}. The lines are its {lines}; dashed ones are below 0.",
        "headers": ("layer", "weights", "lowest", "highest", "norm"),
        "rows": [
            (
                layer_name(name),
                f"{matrix.shape[0]} × {matrix.shape[1]}",
                *(short(float(value)) for value in (matrix.min(), matrix.max(), np.linalg.norm(matrix))),
            )
            for name, matrix in zip(run.trainer.layer_names, matrices, strict=True)
        ],
    }


def _drawable(matrix: np.ndarray) -> np.ndarray:
    """Replace nan and inf, as in a network that has diverged, by numbers whose squares do not overflow."""
    return np.nan_to_num(matrix.astype(float), nan=0.0, posinf=MAX_WEIGHT, neginf=-MAX_WEIGHT)


def _few(column: Column) -> bool:
    return column.count <= MAX_UNITS


def _wires(matrix: np.ndarray, few_from: bool, few_to: bool) -> list[list[float]]:
    """Return a number for each line; a line from or to a whole large column gets the norm of its weights."""
    drawn = matrix
    if not few_from:
        drawn = np.linalg.norm(drawn, axis=0, keepdims=True)
    if not few_to:
        drawn = np.linalg.norm(drawn, axis=1, keepdims=True)
    rows: list[list[float]] = drawn.round(4).tolist()
    return rows


def _inputs(run: LiveRun, plane: PlaneGrid | None) -> Column:
    data = run.trainer.dataset
    count = data.train_x.shape[1]
    if plane is not None:
        maps = of_inputs(plane.points, tuple(FEATURES)).reshape(*plane.shape, -1)[::-1]
        chosen = run.config.features or PLAIN
        return Column(
            "inputs",
            len(FEATURES),
            maps,
            [f"Feature {NAMES[name]}" for name in FEATURES],
            [f"0.{k + 1}" for k in range(len(FEATURES))],
            on=[name in chosen for name in FEATURES],
            keys=list(FEATURES),
            words=list(NAMES.values()),
        )
    if count > MAX_UNITS:
        return Column("inputs", count, None, [f"{count} inputs"], (), words=[str(count)])
    return Column("inputs", count, None, [f"Input {name}" for name in data.columns], (), words=data.columns)


def _layers(run: LiveRun, network: MLP, plane: PlaneGrid | None) -> list[Column]:
    """Return the columns of the hidden layers, with pictures of what their units compute, and of the outputs."""
    data, hidden = run.trainer.dataset, run.config.hidden
    maps: list[np.ndarray | None] = [None] * (len(hidden) + 1)
    if plane is not None:
        maps = [found[::-1] for found in layer_maps(network, plane)]
    elif data.image_shape and hidden:  # the weights of a unit in the first layer form an image
        maps[0] = network.layers[0].weight.numpy().reshape(*data.image_shape, -1)
    columns = [
        Column(
            f"layer {at + 1}",
            width,
            maps[at],
            [f"Layer {at + 1}, unit {k + 1}" for k in range(width)],
            [f"{at + 1}.{k + 1}" for k in range(width)] if plane is not None else (),
            at,
        )
        for at, width in enumerate(hidden)
    ]
    names = [f"Class {name}" for name in data.classes] or ["Target"]
    words = [] if plane is not None else data.classes or ("out",)
    return [*columns, Column("outputs", data.outputs, maps[-1], names, (), words=words)]
