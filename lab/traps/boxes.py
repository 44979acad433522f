"""Names and the arrays they lead to, as a Graphviz drawing: two names for one array are two arrows into one box."""

from html import escape

import graphviz
import numpy as np

from lab.trace.dot import PALETTES
from lab.trace.recording import brief
from lab.traps.in_place import Box

WRITTEN_COLOUR = {"light": "#b3261e", "dark": "#ff8a80"}  # said in words and by an arrow too


def draw_boxes(boxes: list[Box], theme: str = "light") -> graphviz.Digraph:
    """Each name on the left, each array on the right, one cell per element; a changed element shows "old → new"."""
    colours = PALETTES[theme]
    dot = graphviz.Digraph("memory")
    dot.attr(rankdir="LR", bgcolor="transparent", ranksep="0.45", nodesep="0.15")
    font = {"fontname": "Source Sans Pro, sans-serif", "fontsize": "10", "fontcolor": colours["text"]}
    dot.attr("node", margin="0.1,0.05", **font)
    dot.attr("edge", color=colours["edge"], arrowsize="0.7")
    for number, box in enumerate(boxes):
        dot.node(f"array{number}", _cells(box, theme), id=f"array-{number}", shape="plain")
        for position, name in enumerate(box.names):
            node = f"name{number}.{position}"
            dot.node(
                node,
                f"<{escape(name)}>",
                id=f"name-{number}-{position}",
                shape="box",
                style="filled,rounded",
                fillcolor=colours["operation" if name.startswith("closure") else "leaf"],
                color=colours["edge"],
            )
            dot.edge(node, f"array{number}")
    return dot


def describe_boxes(boxes: list[Box]) -> str:
    """The same in a sentence for each array."""
    sentences = []
    for box in boxes:
        names = ("One name", "Two names", "Three names")[len(box.names) - 1]
        sentences.append(f"{names} for one array holding {brief(box.values)}: {', '.join(box.names)}.")
    return " ".join(sentences)


def _cells(box: Box, theme: str) -> str:
    colours, cells = PALETTES[theme], []
    for then, now in zip(np.ravel(box.before), np.ravel(box.values), strict=True):
        text, colour = escape(brief(now)), colours["text"]
        if then != now and not (np.isnan(then) and np.isnan(now)):
            text, colour = f"{escape(brief(then))} → <b>{text}</b>", WRITTEN_COLOUR[theme]
        cells.append(f'<td border="1" color="{colours["edge"]}"><font color="{colour}">{text}</font></td>')
    table = f'border="0" cellborder="0" cellspacing="0" cellpadding="5" bgcolor="{colours["output"]}"'
    return f"<<table {table}><tr>{''.join(cells)}</tr></table>>"
