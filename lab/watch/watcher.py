"""A listener that sees each operation of a script and records what the findings need.

Each operation is handled in operations.py (a result with a graph), cuts.py (one without), writes.py or backward.py;
calls of optimizers, which the patches report, in steps.py. What they record is a WatchedRun (run.py).

It changes nothing: each function gets its own operands, and all hooks and patches are removed at the end.
"""

import itertools
import weakref
from typing import Any

import torch

from lab.watch import backward, cuts, ending, errors, operations, writes
from lab.watch.finding import RunFinding
from lab.watch.onlooker import Args, Kwargs, Listener, Look, attribute_of, tensors_in
from lab.watch.patches import Patches
from lab.watch.records import (
    KEY,
    GraphNode,
    NodeOrigin,
    has_numbers,
    node_of,
    origin_of,
    packs_saved_tensors,
    storage_of,
    version_of,
)
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, site

Tensor = torch.Tensor
BACKWARD = (Tensor.backward, torch.autograd.backward)
MIN_RUNNING_SUM = 3  # iterations or rounds that a result must span
_watcher_numbers = itertools.count(1)


class Watcher(Listener):
    """Watches the code of a `with` block; `findings` then returns what it found."""

    def __init__(self) -> None:
        super().__init__()
        self.run = WatchedRun(next(_watcher_numbers), self.guarded)

    def install(self) -> None:
        super().install()
        Patches(self, self.run).install()

    # Findings

    def findings(self, error: BaseException | None = None) -> list[RunFinding]:
        """Return all findings; call it after the block, with the exception that ended it. Forgets every tensor."""
        self.active = not self.failure
        self.guarded(self.judge, error)
        self.active = False
        self.run.forget()
        return ending.without_consequences(list(self.run.found.values()))

    def judge(self, error: BaseException | None) -> None:
        if error is not None:
            errors.explain(self.run, error)
        ending.judge(self.run)

    def notes(self) -> list[str]:
        """Return notes on what was not watched."""
        notes = [
            f"{here.file}:{here.line}: what {kind} ran unwatched; this line is the first."
            for kind, here in self.unwatched.items()
        ]
        if self.failure:
            notes.append(f"lab.watch stopped watching after an error of its own, {self.failure}")
        return notes

    # Operations

    def look_at(self, name: str, function: Any, args: Args, kwargs: Kwargs) -> Look | None:
        if name == "__get__":
            return None if args[0].is_leaf else operations.read_gradient(self.run, args[0])
        if name == "__set__":
            return writes.assign(self.run, attribute_of(function), *args)
        if name == "_set_grad_enabled":
            cuts.note_grad_mode(self.run, *args)
            return None
        if function in BACKWARD:
            return backward.look_at_backward(self.run, function, args, kwargs)
        if function is torch.autograd.grad:
            return backward.look_at_grad(self.run, function, args, kwargs)
        return super().look_at(name, function, args, kwargs)

    def write(self, name: str, given: Args, operands: list[Tensor]) -> Look:
        """Look at an operation in place, and record the node that it made."""
        source = origin_of(node_of(operands[0])) if operands else None
        yield from writes.write_in_place(self.run, name, given, operands)
        tensor = operands[0] if operands else None
        node = None if tensor is None else node_of(tensor)
        if tensor is not None and node is not None and origin_of(node) is None:
            entry = self.new_entry(name, node, tensor)
            if source is not None:
                self.record_source(entry, source, tensor, tensor)
            if name == "relu_":
                operations.inspect(self.run, entry, [tensor], tensor, given)

    def operation(self, name: str, given: Args, operands: list[Tensor]) -> Look:
        """Record the results of an operation, and what it wrote to its operands."""
        versions = [version_of(operand) for operand in operands]
        try:
            result = yield
        except RuntimeError:
            whole = (self.run.origin(operand) for operand in operands if not operand.is_floating_point())
            self.run.tensors.refused = next((origin.site for origin in whole if origin is not None), NOWHERE)
            raise
        for operand, before in zip(operands, versions, strict=True):
            if version_of(operand) != before:
                writes.note_write(self.run, operand, before, site())
        for part in tensors_in((result,)):
            self.record_result(name, operands, part, given)
        if name in cuts.NUMBERS or name in cuts.ARRAYS:
            cuts.note_number(self.run, name, given[0], result)

    def new_entry(self, name: str, node: GraphNode, result: Tensor) -> NodeOrigin:
        """Return a new record of a graph node, which the node keeps."""
        clock = self.run.clock
        clock.forward_ran = True
        clock.nodes += 1
        clock.hidden_saves |= packs_saved_tensors()
        entry = node.metadata[KEY] = NodeOrigin(
            name,
            site(),
            clock.iteration,
            watcher_number=self.run.number,
            node_number=clock.nodes,
            storage=storage_of(result),
        )
        return entry

    def record_result(self, name: str, operands: list[Tensor], result: Tensor, given: Args) -> None:
        """Record the node or the cut behind a tensor that an operation returned."""
        if not has_numbers(result):
            return
        run, node = self.run, node_of(result)
        if node is None:
            known = result.requires_grad and result.is_leaf and id(result) in run.tensors.leaves
            if not known or name in cuts.FACTORIES:
                cuts.note_no_graph(run, name, operands, result, given)
            return
        if origin_of(node) is not None:
            return
        entry = self.new_entry(name, node, result)
        sources: list[NodeOrigin] = []
        for operand in operands:
            before = node_of(operand)
            if before is None:
                if id(operand) in run.tensors.origins:
                    cuts.note_use(run, entry, operand, operands)
                continue
            source = origin_of(before)
            if source is not None:
                if len(source.consumers) < 4:
                    source.consumers.append(entry.site)
                sources.append(source)
                self.record_source(entry, source, operand, result)
        if len(sources) > 2:  # it joins results
            entry.past_iterations = max(entry.past_iterations, len({source.iteration for source in sources}) - 1)
            self.record_chain(entry, result, sources[0].site)
        operations.inspect(run, entry, operands, result, given)

    def record_source(self, entry: NodeOrigin, source: NodeOrigin, operand: Tensor, result: Tensor) -> None:
        """Record what a node takes over from one before it: the iterations, or rounds of a loop, that it spans."""
        earlier = source.iteration < entry.iteration
        entry.past_iterations = max(entry.past_iterations, source.past_iterations)
        if not earlier and source.site != entry.site:
            if operand.numel() == 1 and result.numel() == 1:
                entry.chain = max(entry.chain, source.chain)
            return
        if operand.numel() == 1 and result.numel() == 1:
            entry.chain = max(entry.chain, source.chain + 1)
        if earlier and not entry.carry_site.line:
            entry.carry_site = source.site
            entry.past_iterations = max(entry.past_iterations, source.past_iterations + 1)
        self.record_chain(entry, result, entry.site)

    def record_chain(self, entry: NodeOrigin, result: Tensor, source: Site) -> None:
        """Record a result that spans several iterations or rounds, and the line of what it sums or joins."""
        spans = max(entry.chain, entry.past_iterations)
        if spans >= MIN_RUNNING_SUM:
            if self.run.clock.evaluating and self.run.clock.iteration:
                self.run.graphs.evaluation_sums.add(entry.site)
            self.run.graphs.chains[entry.site] = weakref.ref(result), source, spans, entry.past_iterations
