"""What is known of a script's run: six records, and the findings made of them."""

import sys
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_stack
from types import CodeType, FrameType
from typing import TypeAlias

import torch
from torch import Tensor

from lab.watch import graph, records
from lab.watch.finding import RunFinding
from lab.watch.records import BackwardCall, CutRecord, InPlaceWrite, Leaf, NodeOrigin, TensorOrigin, WatchedOptimizer
from lab.watch.sites import NOWHERE, Site, site, user_frames
from lab.watch.training_events import Act, EventLog, TrainingEvent

Report: TypeAlias = tuple[int, Site, str, str]  # arguments of WatchedRun.report
MODEL_CALL = torch.nn.Module.__call__.__code__
MAX_CALLS_HELD = 2  # of one function: what is called more often is a step, or an epoch


@dataclass
class Clock:
    """Counters, and where the script is."""

    iteration: int = 0  # backward passes that have run
    nodes: int = 0  # graph nodes seen
    cuts: int = 0
    evaluating: bool = False  # a model is in eval mode
    forward_ran: bool = False  # since the last backward pass
    inspect_closely: bool = True  # whether this iteration gets the expensive checks
    hidden_saves: bool = False  # hooks of the script pack what nodes save: reading it would run them


@dataclass
class TensorRecords:
    """Where tensors without a graph were made, leaves, modules and writes."""

    origins: dict[int, TensorOrigin] = field(default_factory=dict)
    leaves: dict[int, Leaf] = field(default_factory=dict)  # loop over a copy: a leaf that dies goes, at any time
    leaf_ids: dict[int, int] = field(default_factory=dict)  # address of its values -> id of the leaf
    modules: "weakref.WeakKeyDictionary[torch.nn.Module, Site]" = field(default_factory=weakref.WeakKeyDictionary)
    refused: Site = NOWHERE  # the line that made whole numbers for the last operation that failed
    writes: deque[InPlaceWrite] = field(default_factory=partial(deque, maxlen=4096))


@dataclass
class Cuts:
    """Where values left the graph."""

    lines: dict[tuple[Site, str], CutRecord] = field(default_factory=dict)  # line and kind -> its cut
    numbers: deque[tuple[float, CutRecord]] = field(default_factory=partial(deque, maxlen=256))  # the last of them
    last_numpy: CutRecord | None = None
    switched_off: tuple[Site, str] = NOWHERE, ""  # the last line that did it to gradients, and PyTorch's own function
    inference_site: Site = NOWHERE  # the last line that entered inference_mode
    freeze_site: Site = NOWHERE  # the last line that set requires_grad to False


@dataclass
class TrainingRecords:
    """Backward passes, steps, and what clears gradients."""

    optimizers: list[WatchedOptimizer] = field(default_factory=list)
    calls: dict[Site, BackwardCall] = field(default_factory=dict)
    # the last line that read the gradient of a leaf and got None, and why
    missing_gradient: tuple[Site, Report] = NOWHERE, (0, NOWHERE, "", "")
    # line that makes parameters in a forward pass -> the iterations in which new ones got their first gradient
    made_in_forward: dict[Site, set[int]] = field(default_factory=dict)
    gradients_scaled: bool = False  # the script multiplies or divides gradients by hand
    uses_grad_scaler: bool = False  # it may skip steps


@dataclass
class Graphs:
    """Graphs that outlive the iteration in which they were made."""

    # line -> its last result, the line of what it joins, its node, and the iterations or rounds it spans
    chains: dict[Site, tuple["weakref.ref[Tensor]", Site, NodeOrigin, int]] = field(default_factory=dict)
    evaluation_sums: set[Site] = field(default_factory=set)  # those in eval mode, after a training step
    passed: set[Site] = field(default_factory=set)  # lines whose nodes a backward pass went through
    passed_later: set[Site] = field(default_factory=set)  # those that a later pass than the next one went through
    # line that ran a model in eval mode, first after a backward pass -> number of that pass, for each time
    evaluations: dict[Site, set[int]] = field(default_factory=dict)


@dataclass
class Danger:
    """A value at which an operation has no finite result or slope."""

    name: str
    entry: NodeOrigin | None
    site: Site
    iteration: int
    evidence: str
    masked_at: Site = NOWHERE  # the line that selects other values instead


@dataclass
class Numbers:
    """What the numbers of a run look like."""

    dangers: deque[Danger] = field(default_factory=partial(deque, maxlen=64))
    pairs: dict[Site, str] = field(default_factory=dict)  # line that broadcast (N, 1) with (N,) -> both shapes
    # relu -> for each iteration, the share of its units that are 0 for a whole batch
    dead_shares: dict[Site, dict[int, float]] = field(default_factory=dict)
    constant_weights: dict[int, Leaf] = field(default_factory=dict)
    faded: list[tuple[float, Site, str]] = field(default_factory=list)  # ratio of two gradients, line, evidence


class WatchedRun:
    """The six records of a run, and its events. Its methods find and make the entries of single tensors, and add
    findings."""

    def __init__(self, number: int, guarded: Callable[..., None]) -> None:
        self.number = number  # of the watcher, which nodes of the graph carry
        self.guarded = guarded  # runs own code where the script runs, without harm to it
        self.clock, self.tensors, self.cuts = Clock(), TensorRecords(), Cuts()
        self.training, self.graphs, self.numbers = TrainingRecords(), Graphs(), Numbers()
        self.events = EventLog()
        self.found: dict[tuple[int, str, int], RunFinding] = {}
        self.pending: dict[str, Report] = {}  # text of an error -> what it is explained by
        self.held_frames: dict[CodeType, FrameType] = {}
        self.calls_seen = Counter[CodeType]()  # function -> calls of it in which a backward pass ran

    def report(self, failure: int, where: Site, evidence: str, advice: str = "") -> None:
        """Add a finding, unless the same failure was already found in this line."""
        iteration = self.clock.iteration + self.clock.forward_ran  # after a forward operation, the next pass
        found = RunFinding(failure, where.file, where.line, evidence, iteration, advice)
        self.found.setdefault((failure, where.file, where.line), found)

    def record(
        self, act: Act, here: Site, touched: Iterable[int], found: str = "", opt: WatchedOptimizer | None = None
    ) -> TrainingEvent:
        """Add an event to the sequence, with the clock as it is now."""
        clock, ids = self.clock, touched if isinstance(touched, set) else self.events.shared(frozenset(touched))
        iteration = clock.iteration + (act is Act.BACKWARD)
        event = TrainingEvent(act, here, ids, iteration, clock.nodes, clock.cuts, clock.forward_ran, found, opt)
        self.events.add(event)
        return event

    def forget(self) -> None:
        """Forget everything that refers to a tensor, even weakly."""
        self.tensors, self.cuts, self.training = TensorRecords(), Cuts(), TrainingRecords()
        self.graphs, self.numbers = Graphs(), Numbers()
        self.events.clear()
        self.pending.clear()
        self.held_frames.clear()

    def hold_variables(self) -> None:
        """Keep the variables of the functions that are running until the findings are made, as the script's own are
        kept: in many scripts all is made in a function `main`. What is called again and again keeps nothing, and in a
        script with weak references nothing does: it may look when its objects go."""
        for frame in user_frames():
            code = frame.f_code
            known = code.co_name == "<module>" or self.held_frames.get(code) is frame
            if known or any(value is weakref for value in frame.f_globals.values()):
                continue
            self.calls_seen[code] += 1
            if self.calls_seen[code] <= MAX_CALLS_HELD:
                self.held_frames[code] = frame
            else:
                self.held_frames.pop(code, None)

    def origin(self, tensor: Tensor) -> TensorOrigin | None:
        """Return where a tensor without a graph was made, or None if that was not seen."""
        known = self.tensors.origins.get(id(tensor))
        return known if known is not None and known.ref() is tensor else None

    def remember_origin(self, tensor: Tensor, here: Site, cut: CutRecord | None, name: str = "") -> None:
        """Remember where a tensor without a graph was made."""
        if self.origin(tensor) is None:
            key, store = id(tensor), self.tensors.origins
            store[key] = TensorOrigin(weakref.ref(tensor, partial(store.pop, key)), here, cut, name)

    def leaf(self, tensor: Tensor, here: Site = NOWHERE) -> Leaf:
        """Return the record of a leaf; create it if there is none."""
        key, store = id(tensor), self.tensors.leaves
        found = store.get(key)
        if found is not None and found.ref() is tensor:
            return found
        if not here and (origin := self.origin(tensor)) is not None:
            here = origin.site
        found = store[key] = Leaf(
            weakref.ref(tensor, partial(store.pop, key)),
            here,
            tuple(tensor.shape) if records.has_numbers(tensor) else (),
            is_parameter=isinstance(tensor, torch.nn.Parameter),
        )
        if address := records.address_of(tensor):
            self.tensors.leaf_ids[address] = key
        return found

    def new_entry(self, name: str, node: graph.GraphNode) -> NodeOrigin:
        """Return a new record of a graph node, which the node keeps."""
        clock = self.clock
        clock.nodes += 1
        clock.hidden_saves |= records.packs_saved_tensors()
        entry = NodeOrigin(name, site(), clock.iteration, self.number, clock.nodes)
        if clock.evaluating and not clock.forward_ran and self.runs_trained_model():
            self.graphs.evaluations.setdefault(entry.site.whole_line, set()).add(clock.iteration)
        clock.forward_ran = True
        node.metadata[graph.KEY] = entry
        return entry

    def runs_trained_model(self) -> bool:
        """Return whether a module is running whose parameters have had gradients."""
        modules = running_modules()[:1]
        known = (self.tensors.leaves.get(id(parameter)) for module in modules for parameter in module.parameters())
        return any(leaf is not None and leaf.backward_count for leaf in known)

    def cut_of_number(self, value: float) -> CutRecord | None:
        """Return the cut that last gave this number, or None."""
        return next((cut for number, cut in reversed(self.cuts.numbers) if number == value), None)


def running_modules() -> list[torch.nn.Module]:
    """Return the modules whose forward pass is running, the innermost first."""
    return [frame.f_locals["self"] for frame, _ in walk_stack(sys._getframe()) if frame.f_code is MODEL_CALL]
