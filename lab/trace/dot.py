"""Draw a trace with Graphviz.

Leaves, constants, operations and the output differ in shape as well as in colour; a gradient that was not computed
is a dash, never 0. Every text is escaped, so a label cannot become markup.
"""

from html import escape

import graphviz

from lab.text import brief
from lab.trace.derivation import kind_of
from lab.trace.recording import Trace, describe

# Text colours have a contrast of at least 4.5 to 1 on their fill, in both themes.
PALETTES = {
    "light": {
        "text": "#1a1a1a",
        "edge": "#5f6b7a",
        "gradient": "#a34300",  # of leaves: orange in every picture
        "faint": "#5f6b7a",
        "leaf": "#fff3e0",
        "operation": "#e3f0fa",
        "output": "#e2f4ec",
        "constant": "#f2f2f2",
    },
    "dark": {
        "text": "#f2f2f2",
        "edge": "#9aa7b5",
        "gradient": "#ffb066",
        "faint": "#a9b4c0",
        "leaf": "#3d2b12",
        "operation": "#12304a",
        "output": "#123b2c",
        "constant": "#333333",
    },
}
SHAPES = {"leaf": "box", "operation": "ellipse", "output": "box", "constant": "note"}


def blank(name: str, theme: str, **graph: str) -> graphviz.Digraph:
    """Return an empty drawing in the app's font and colours. graph: Graphviz layout attributes, such as rankdir."""
    colours = PALETTES[theme]
    dot = graphviz.Digraph(name)
    dot.attr(bgcolor="transparent", **graph)
    font = {"fontname": "Source Sans Pro, sans-serif", "fontsize": "10"}
    node = {"color": colours["edge"], "fontcolor": colours["text"], **font}
    dot.attr("node", shape="box", margin="0.12,0.06", penwidth="1.2", **node)
    dot.attr("edge", color=colours["edge"], fontcolor=colours["text"], arrowsize="0.7", **font)
    return dot


def draw(trace: Trace, theme: str = "light") -> graphviz.Digraph:
    """Draw the graph after the pass.

    Node n has the id `node-n`. The edge to operand i of node n has the id `edge-n-i` and shows the message that went
    along it. A reused operand has one edge for each use.
    """
    colours = PALETTES[theme]
    gradients = trace.gradients_after()
    sent = {(e["node"], e["operand"]): e["contribution"] for e in trace.events if e["kind"] == "message"}

    dot = blank("graph", theme, rankdir="TB", ordering="in", ranksep="0.35", nodesep="0.25")
    for node in trace.nodes:
        number, kind = node["id"], kind_of(trace, node)
        rows = [f"<b>{escape(describe(node))}</b>", escape(brief(node["value"]))]
        if not node["requires_grad"]:
            rows += [] if kind == "constant" else [_coloured("no gradient", colours["faint"])]
        elif number in gradients:
            colour = colours["gradient" if kind == "leaf" else "text"]
            rows.append(_coloured(f"grad {brief(gradients[number])}", colour))
        else:
            rows.append(_coloured("grad –", colours["faint"]))
        dot.node(
            f"n{number}",
            f"<{'<br/>'.join(rows)}>",
            id=f"node-{number}",
            shape=SHAPES[kind],
            peripheries="2" if kind == "output" else "1",
            style="filled,rounded" if kind == "leaf" else "filled",
            fillcolor=colours[kind],
            color=colours["gradient" if kind == "leaf" else "edge"],
            tooltip=graphviz.escape(f"{describe(node)}, shape {tuple(node['shape'])}"),
        )
    for node in trace.nodes:
        for operand, child in enumerate(node["children"]):
            message = sent.get((node["id"], operand))
            label = "" if message is None else escape(brief(message))
            dot.edge(f"n{child}", f"n{node['id']}", label=label, id=f"edge-{node['id']}-{operand}")
    return dot


def _coloured(text: str, colour: str) -> str:
    return f'<font color="{colour}">{escape(text)}</font>'
