"""Compare two traces: find the first event in which the pass of a broken engine differs from the right one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.trace.recording import Trace
from lab.trace.schema import Event


@dataclass(frozen=True)
class Departure:
    """The first event in which the pass of a broken engine departs from the right one.

    event  its index in the broken pass
    line   the right engine's source line for the same event, if it differs; else ""
    """

    event: int
    line: str


def is_same_graph(one: Trace, other: Trace) -> bool:
    """Return whether two traces have the same operations in the same order, each with the same operands."""
    return [(node["op"], node["children"]) for node in one.nodes] == [
        (node["op"], node["children"]) for node in other.nodes
    ]


def departure(right: Trace, broken: Trace) -> Departure | None:
    """Find where a broken pass departs from the right pass over the same graph; None if it does not.

    A pass that comes to the same gradients does not: another order of the same messages is as right.
    """
    index = None if _comes_to_the_same(right, broken) else first_difference(right, broken)
    if index is None:
        return None
    event = broken.events[index]
    same = [i for i in range(len(right.events)) if _about(right, i) == _about(broken, index)]
    before = sum(_about(broken, i) == _about(broken, index) for i in range(index))
    if before >= len(same):
        return Departure(index, "")
    lines = _line(right, right.events[same[before]]), _line(broken, event)
    return Departure(index, "" if lines[0] == lines[1] else lines[0])


def _comes_to_the_same(right: Trace, broken: Trace) -> bool:
    if broken.error:
        return False
    for name, due in right.gradients.items():
        found = broken.gradients.get(name)
        if found is None or due is None:
            if found is not due:
                return False
        elif not np.allclose(found, due, 1e-9, 0, equal_nan=True):
            return False
    return True


def _about(trace: Trace, index: int) -> tuple[Any, ...]:
    """Identify an event by its kind, its node, and the edge of its message."""
    event = trace.events[index]
    sent = trace.events[index - 1] if event["kind"] == "accumulate" and index else event
    edge = (sent["node"], sent["operand"]) if sent["kind"] == "message" else ()
    return event["kind"], event["node"], edge


def _line(trace: Trace, event: Event) -> str:
    source = trace.sources[event["source"]]
    return source["lines"][event["line"] - source["first"]].strip()


def first_difference(healthy: Trace, broken: Trace) -> int | None:
    """Return the index of the first event of the broken pass that the healthy one lacks, or has less often.

    None if it has them all. Two events are the same if their numbers are; the graphs may differ.
    """
    known = Counter(_fingerprint(healthy, event) for event in healthy.events)
    for index, event in enumerate(broken.events):
        fingerprint = _fingerprint(broken, event)
        if not known[fingerprint]:
            return index
        known[fingerprint] -= 1
    return None


def _fingerprint(trace: Trace, event: Event) -> str:
    """Write the numbers of an event and of its nodes as text, to compare events of different graphs."""
    numbers = [event.get(name) for name in ("grad", "upstream", "contribution", "before", "message", "after")]
    about = [event["node"], event["child"]] if event["kind"] == "message" else [event["node"]]
    values = [trace.nodes[number]["value"] for number in about]
    return repr((event["kind"], numbers, values))  # as text, nan equals nan
