"""A graph while it is sorted: which tensors are on the stack, seen, and placed."""

from html import escape

import graphviz

from lab.designs.order import Sort
from lab.trace.dot import PALETTES, blank

STATES = ("not seen", "on the stack", "seen", "in the list")


def state_of(sort: Sort, tensor: int, count: int) -> str:
    """One of STATES, of a tensor after the first `count` events."""
    if not count:
        return STATES[0]
    event = sort.events[count - 1]
    if tensor in event.order:
        return STATES[3]
    if tensor in event.seen:
        return STATES[2]
    return STATES[1] if tensor in event.stack else STATES[0]


def draw_sort(sort: Sort, count: int, theme: str = "light") -> graphviz.Digraph:
    """The graph after the first `count` events: what is in the list has its two numbers, forward and backward."""
    colours = PALETTES[theme]
    fills = dict(zip(STATES, ("constant", "leaf", "operation", "output"), strict=True))
    dot = blank("sort", theme, rankdir="LR", ordering="in", ranksep="0.22", nodesep="0.2")
    about = sort.events[count - 1].tensor if count else None
    for tensor, name in enumerate(sort.names):
        state = state_of(sort, tensor, count)
        rows = [f"<b>{escape(name)}</b>", escape(state)]
        if state == STATES[3]:
            turn = sort.backward.get(tensor)
            rows[1] = f"forward {sort.forward[tensor]}" + (f", backward {turn}" if turn else ", a leaf")
        dot.node(
            f"n{tensor}",
            f"<{'<br/>'.join(rows)}>",
            id=f"node-{tensor}",
            style="filled",
            fillcolor=colours[fills[state]],
            color=colours["text" if tensor == about else "edge"],
            peripheries="2" if tensor == about else "1",
        )
    for tensor, operands in enumerate(sort.operands):
        for operand in operands:
            dot.edge(f"n{operand}", f"n{tensor}")
    return dot
