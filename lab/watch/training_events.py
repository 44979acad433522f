"""What a training loop does, as one sequence of events, each with what it touched. The questions of stale_gradients.py,
event_order.py, learning_rates.py and unreached_parameters.py are asked of this sequence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice, takewhile
from typing import Any, NamedTuple

import torch

from lab.watch.records import VIEWS, CutRecord, GraphNode, kind, leaves_of, origin_of, seen_nodes
from lab.watch.sites import Site

MAX_EVENTS = 30_000  # the first and the last of them are kept
MAX_LOOK_BACK = 1_000
TERMS = VIEWS | {"Add", "Sub", "Neg", "Mul", "Div"}  # what joins the terms of a loss
LOSING = frozenset(("step", "no_grad", "number", "numpy"))  # kinds of cuts that take a term its graph by mistake
MAX_TERMS = 12  # nodes at the end of a loss that are searched


class Act(Enum):
    BACKWARD = auto()
    STEP = auto()  # of an optimizer
    WRITE = auto()  # a step by hand
    ZERO_GRAD = auto()
    CLEAR = auto()  # of single gradients
    CLIP = auto()
    SCHEDULE = auto()


class LossTerm(NamedTuple):
    """A term of a loss: ids of the leaves that it reaches, and the cuts that its operands came through."""

    leaves: frozenset[int]
    cuts: list[CutRecord]


@dataclass(slots=True, eq=False)
class TrainingEvent:
    """An act of a training loop, with the clock as it was then."""

    act: Act
    site: Site
    touched: set[int] | frozenset[int]  # ids of the leaves that were reached, stepped, written to, cleared or clipped
    iteration: int  # backward passes that have run, with this one
    nodes: int  # graph nodes made
    cuts: int  # cuts of a graph
    forward_ran: bool  # since the last backward pass
    by: Any = None  # the record of the optimizer, or that of the line that calls backward()
    found: str = ""  # "nothing" to clear or to clip; gradients that a step has "used"; "uphill", along the gradient
    made: int = 0  # number of the graph node of the loss
    stale: Mapping[int, Site] = field(default_factory=dict)  # leaf -> backward() that added to its used gradient
    terms: Mapping[Site, LossTerm] = field(default_factory=dict)  # of the loss, by their lines, if they were searched


class EventLog(list[TrainingEvent]):
    """The sequence of events, the first of them first."""

    def add(self, event: TrainingEvent) -> None:
        """Add an event. The same act of a line on one leaf after the other is one event."""
        last = self[-1] if self and event.act in (Act.CLEAR, Act.WRITE) else None
        if last and (last.act, last.site, last.iteration) == (event.act, event.site, event.iteration):
            last.touched |= event.touched
            return
        self.append(event)
        if len(self) > MAX_EVENTS:
            del self[MAX_EVENTS // 2]

    def since_step(self, optimizer: Any) -> list[TrainingEvent]:
        """Return the events since the last step of an optimizer, the last of them first."""
        recent = islice(reversed(self), MAX_LOOK_BACK)
        return list(takewhile(lambda event: event.act is not Act.STEP or event.by is not optimizer, recent))

    def last(self, *acts: Act, of: int = 0, by: Any = None) -> TrainingEvent | None:
        """Return the last event of some kinds; `of`: that touched this leaf, `by`: of this optimizer or line."""
        recent = islice(reversed(self), MAX_LOOK_BACK)
        return next((e for e in recent if e.act in acts and (not of or of in e.touched) and by in (None, e.by)), None)


def terms_of(loss: torch.Tensor) -> dict[Site, LossTerm]:
    """Return the terms of a loss by their lines; the line of the cut for one that has lost its graph."""
    terms: dict[Site, LossTerm] = {}
    queue: list[GraphNode] = [loss.grad_fn]
    for node in queue:
        entry = origin_of(node)
        behind = [other for other, _ in node.next_functions if other is not None and not hasattr(other, "variable")]
        if kind(node) in TERMS and behind and len(queue) < MAX_TERMS:
            queue += behind
            if entry is not None and entry.cut is not None and entry.cut.kind in LOSING:
                terms[entry.cut.site] = LossTerm(frozenset(), [entry.cut])
        elif entry is not None:
            cuts_behind = [other.cut for _, other in seen_nodes(node) if other.cut is not None]
            terms[entry.site] = LossTerm(frozenset(map(id, leaves_of(node))), cuts_behind)
    return terms
