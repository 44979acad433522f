"""What a training loop does, as one sequence of events, each with what it touched. The questions of event_order.py,
learning_rates.py and unreached_parameters.py are asked of this sequence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice, takewhile

from lab.watch.records import NUMBERS, BackwardCall, Leaf, LossTerm, WatchedOptimizer
from lab.watch.sites import Site

MAX_EVENTS = 30_000  # the first and the last of them are kept
MAX_LOOK_BACK = 1_000
MAX_SETS = 100  # of ids that are shared


class Act(Enum):
    BACKWARD = auto()
    STEP = auto()  # of an optimizer
    WRITE = auto()  # a step by hand
    ZERO_GRAD = auto()
    CLEAR = auto()  # of single gradients
    CLIP = auto()
    SCHEDULE = auto()


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
    found: str = ""  # "nothing" to clear, or to clip for a step; "uphill", along the gradient
    opt: WatchedOptimizer | None = None  # that steps, or whose schedule does
    call: BackwardCall | None = None  # the line that calls backward()
    read: bool = False  # the script has read a gradient since, up to the next pass
    made: int = 0  # number of the graph node of the loss
    stale: Mapping[int, Site] = field(default_factory=dict)  # leaf -> backward() that added to its used gradient
    terms: Mapping[Site, LossTerm] = field(default_factory=dict)  # of the loss, by their lines, if they were searched
    number: int = field(default_factory=NUMBERS.__next__)


class EventLog(list[TrainingEvent]):
    """The sequence of events, the first of them first. Events that touched the same leaves share one set of ids."""

    def __init__(self) -> None:
        super().__init__()
        self.sets: dict[frozenset[int], frozenset[int]] = {}

    def shared(self, ids: frozenset[int]) -> frozenset[int]:
        """Return the set of an earlier event that is equal to this one, or this one."""
        if len(self.sets) > MAX_SETS:
            self.sets.clear()
        return self.sets.setdefault(ids, ids)

    def add(self, event: TrainingEvent) -> None:
        """Add an event. The same act of a line on one leaf after the other is one event."""
        last = self[-1] if self and event.act in (Act.CLEAR, Act.WRITE) else None
        if last and (last.act, last.site, last.iteration) == (event.act, event.site, event.iteration):
            last.touched |= event.touched
            return
        self.append(event)
        if len(self) > MAX_EVENTS:
            del self[MAX_EVENTS // 2]

    def since(self, made: Leaf | WatchedOptimizer | None) -> Iterator[TrainingEvent]:
        """Yield the events since a leaf or an optimizer was made, the last of them first: before that, its id was that
        of another object."""
        recent, first = islice(reversed(self), MAX_LOOK_BACK), -1 if made is None else made.number
        return takewhile(lambda event: event.number > first, recent)

    def passes_since_step(self, opt: WatchedOptimizer) -> list[TrainingEvent]:
        """Return the backward passes since the last step of an optimizer, the last of them first."""
        after = takewhile(lambda event: event.act is not Act.STEP or event.opt is not opt, self.since(opt))
        return [event for event in after if event.act is Act.BACKWARD]

    def last(self, *acts: Act, of: Leaf | None = None, opt: WatchedOptimizer | None = None) -> TrainingEvent | None:
        """Return the last event of some kinds, which touched a leaf, or is of an optimizer."""
        recent, key = self.since(of), 0 if of is None else id(of.ref())
        recent = (event for event in recent if event.act in acts and opt in (None, event.opt))
        return next((event for event in recent if not key or key in event.touched), None)
