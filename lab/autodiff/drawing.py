"""A pass as a drawing: which nodes have their derivative or gradient already."""

from html import escape

import graphviz

from lab.autodiff.passes import Graph, Step
from lab.text import brief
from lab.trace.dot import PALETTES, blank


def kind_of(graph: Graph, node: int) -> str:
    """ "output", "operation", "leaf" or "constant"."""
    if node == graph.result:
        return "output"
    return "operation" if graph.operands[node] else "leaf" if graph.differentiable[node] else "constant"


def arrived(graph: Graph, step: Step, node: int) -> str:
    """What a node holds after a step, in a few characters."""
    held = step.held[node]
    if not graph.differentiable[node]:
        return "constant"
    return "–" if held is None else brief(held)


def draw_pass(graph: Graph, step: Step, word: str, theme: str = "light") -> graphviz.Digraph:
    """The graph after a step. word: what the numbers that have arrived are, such as "grad"."""
    colours = PALETTES[theme]
    dot = blank("pass", theme, rankdir="LR", ordering="in", ranksep="0.3", nodesep="0.2")
    for node, title in enumerate(graph.titles):
        kind = kind_of(graph, node)
        rows = [f"<b>{escape(title)}</b>"]
        if kind != "constant":
            rows.append(escape(brief(graph.values[node])))
            colour = colours["faint" if step.held[node] is None else "gradient" if kind == "leaf" else "text"]
            said = escape(f"{word} {arrived(graph, step, node)}")
            rows.append(f'<font color="{colour}">{said}</font>')
        now = node == step.node
        dot.node(
            f"n{node}",
            f"<{'<br/>'.join(rows)}>",
            id=f"node-{node}",
            style="filled",
            fillcolor=colours[kind],
            color=colours["text" if now else "edge"],
            peripheries="2" if now else "1",
        )
    for node, operands in enumerate(graph.operands):
        for operand in operands:
            dot.edge(f"n{operand}", f"n{node}")
    return dot


def told(graph: Graph, step: Step, *, down: bool) -> str:
    """One sentence: what this step did."""
    if step.node is None:
        if down:
            return "The start: this input changes with speed 1, all others stand still."
        return "The start: the upstream gradient stands at the result."
    title = graph.titles[step.node]
    operands = [operand for operand in dict.fromkeys(graph.operands[step.node]) if graph.differentiable[operand]]
    if down:
        names = " and ".join(graph.names[operand] for operand in operands)
        count = "derivative" if len(operands) == 1 else "derivatives"
        return f"{title}: takes the {count} of {names}, and has now its own, {arrived(graph, step, step.node)}."
    held = " and ".join(
        f"{graph.names[operand]}, which now has {arrived(graph, step, operand)}" for operand in operands
    )
    return f"{title}: sends its gradient up to {held}."
