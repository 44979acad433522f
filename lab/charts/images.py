"""Charts of images with a network's predictions, of probabilities, and the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.charts.chart import COLOURS, SHADES, Chart, heat_cells, heat_palette, mix, percent
from lab.text import percent_text, short

MAX_TILES = 5  # images side by side
LETTER, MAX_NAME = 7, 84  # pixels: of a letter, and of a class's name beside the confusion matrix
MATRIX = 280  # pixels: width of the matrix itself, about
MAX_LARGE_NAMES = 12  # classes: with more, letters are small, so that every class is named


# ---------------------------------------------------------------- images


def samples(
    images: np.ndarray,
    labels: np.ndarray,
    answers: np.ndarray,
    classes: Sequence[str],
    theme: str = "light",
    part: str = "validation",
) -> Chart:
    """Draw images (n, height, width) from 0 to 1 with the predicted classes; answers: probabilities (n, classes).

    part: the part of the data that they are from, "training" or "validation".
    """
    colours = COLOURS[theme]
    count, height, width = images.shape
    across = min(MAX_TILES, count)
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
        "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
        "xAxis": [
            {"type": "category", "data": [""] * extent[0], **hidden},
            {"type": "value", "min": -0.5, "max": extent[0] - 0.5, **hidden},
        ],
        "yAxis": [
            {"type": "category", "data": [""] * extent[1], **hidden},
            {"type": "value", "min": -0.5, "max": extent[1] - 0.5, **hidden},
        ],
        "visualMap": heat_palette([mix(colours["paper"], colours["text"], k / SHADES) for k in range(SHADES + 1)]),
        "series": [
            {"type": "heatmap", "data": [cell for cell in heat_cells(codes) if cell[2]], "silent": True},
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
        "Samples and answers, mistakes first",
        spec,
        8 * codes.shape[0],
        f"{count} images of the {part} samples; the network names {hits} of them correctly.",
        ("image", "is", "taken for", "probability of that"),
        [
            (str(k + 1), classes[labels[k]], classes[predicted[k]], percent_text(float(answers[k].max()), 1))
            for k in range(count)
        ],
    )


def drawing(image: np.ndarray, theme: str = "light") -> Chart:
    """Draw an image (height, width) with values from 0 to 1."""
    colours = COLOURS[theme]
    height, width = image.shape
    palette = [mix(colours["paper"], colours["text"], k / SHADES) for k in range(SHADES + 1)]
    hidden = {"type": "category", "show": False}
    return Chart(
        "What the network sees",
        {
            "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
            "xAxis": {**hidden, "data": [""] * width},
            "yAxis": {**hidden, "data": [""] * height},
            "visualMap": heat_palette(palette),
            "series": [
                {"type": "heatmap", "data": heat_cells(np.rint(SHADES * image[::-1]).astype(int)), "silent": True}
            ],
        },
        190,
        f"The drawing as {height} by {width} pixels.",
        ("row", *(f"ink {j + 1}" for j in range(width))),
        [(str(i + 1), *map(short, image[i])) for i in range(height)],
    )


def likelihoods(answer: np.ndarray, classes: Sequence[str], theme: str = "light") -> Chart:
    """Draw the probability of each class for one input; answer: (classes,)."""
    colours = COLOURS[theme]
    best = int(answer.argmax())
    label = {"show": True, "position": "right", "formatter": "{c} %", "color": colours["text"]}
    bars = [
        {"value": percent(p), "itemStyle": {"color": colours["train"] if c == best else colours["faint"]}}
        for c, p in enumerate(answer)
    ]
    return Chart(
        "Probabilities",
        {
            "grid": {"left": 24, "right": 60, "top": 4, "bottom": 4},
            "xAxis": {"type": "value", "min": 0, "max": 100, "show": False},
            "yAxis": {"type": "category", "data": list(classes), "inverse": True, "axisTick": {"show": False}},
            "series": [{"type": "bar", "data": bars, "label": label, "barWidth": "70%", "silent": True}],
        },
        24 * len(classes) + 8,
        f"Probabilities of the classes: most likely {classes[best]} with {percent_text(float(answer[best]), 1)}.",
        ("class", "probability"),
        [(name, percent_text(float(p), 1)) for name, p in zip(classes, answer, strict=True)],
    )


def confusion_matrix(
    counts: np.ndarray, classes: Sequence[str], theme: str = "light", part: str = "validation"
) -> Chart:
    """Draw how often a sample of one class (row) was predicted as another (column); counts (classes, classes).

    part: the part of the data that the samples are from, "training" or "validation".
    """
    colours = COLOURS[theme]
    diagonal = np.eye(len(classes), dtype=bool)
    series, maps = [], []
    # Two series with shades of their own: a few mistakes stay visible next to many correct answers.
    for kind, (chosen, colour) in enumerate(((diagonal, colours["train"]), (~diagonal, colours["validation"]))):
        cells = [[j, i, int(counts[i, j])] for i, j in np.argwhere(chosen & (counts > 0)).tolist()]
        label = {"show": True, "color": colours["text"], "fontWeight": "normal" if kind == 0 else "bold"}
        label |= {"fontSize": 10} if len(classes) > MAX_LARGE_NAMES else {}
        series.append({"type": "heatmap", "data": cells, "label": label, "silent": True})
        maps.append(
            {
                "show": False,
                "seriesIndex": kind,
                "dimension": 2,
                "min": 0,
                "max": max(1, int(counts[chosen].max(initial=0))),
                "inRange": {"color": [mix(colours["paper"], colour, share) for share in (0.1, 0.4)]},
            }
        )
    axis = {"type": "category", "data": list(classes), "splitArea": {"show": False}, "nameLocation": "middle"}
    label = {"interval": 0, "overflow": "truncate"} | ({"fontSize": 10} if len(classes) > MAX_LARGE_NAMES else {})
    room = min(8 + LETTER * max(map(len, classes)), MAX_NAME)  # pixels for the names of classes left of the matrix
    right, total = int(counts.trace()), int(counts.sum())
    wrong = np.where(diagonal, 0, counts)
    i, j = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
    most = f" Most often {classes[i]} was taken for {classes[j]}: {wrong[i, j]} times." if wrong.any() else ""
    return Chart(
        "Confusion matrix",
        {
            "grid": {"left": room + 24, "right": 4, "top": 4, "bottom": 44},
            "xAxis": {
                **axis,
                "name": "taken for",
                "nameGap": 26,
                "axisLabel": label | {"width": MATRIX // len(classes)},
            },
            "yAxis": {**axis, "name": "is", "nameGap": room + 6, "inverse": True, "axisLabel": label | {"width": room}},
            "visualMap": maps,
            "series": series,
        },
        340,
        f"Confusion matrix of the {part} samples: {right} of {total} are correct.{most}",
        ("is", *(f"taken for {name}" for name in classes)),
        [(name, *map(str, row)) for name, row in zip(classes, counts.tolist(), strict=True)],
    )
