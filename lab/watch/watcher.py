"""A listener that sees each operation of a script and records what the findings need.

Each operation is handled in operations.py (a result with a graph), cuts.py (one without), updates.py (a write, a step)
or backward_passes.py. What they record is a WatchedRun (run.py).

It changes nothing: each function gets its own operands, and all hooks and patches are removed at the end.
"""

import itertools
import weakref
from collections.abc import Iterator
from functools import partial
from types import GeneratorType

import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from lab.watch import (
    backward_passes,
    cuts,
    errors,
    event_order,
    gradient_sizes,
    kept_graphs,
    learning_rates,
    operations,
    unreached_parameters,
    updates,
)
from lab.watch.finding import RunFinding, without_consequences
from lab.watch.graph import kind, node_of, origin_of
from lab.watch.onlooker import Args, Function, Kwargs, Listener, Look, arguments, attribute_of, outside, tensors_in
from lab.watch.records import NodeOrigin, has_numbers, version_of
from lab.watch.run import WatchedRun, running_modules
from lab.watch.sites import NOWHERE, Site, outer_frame, site
from lab.watch.training_events import Act

BACKWARD = (Tensor.backward, torch.autograd.backward)
MIN_RUNNING_SUM = 3  # iterations or rounds that a result must span
_watcher_numbers = itertools.count(1)


class Watcher(Listener):
    """Watches the code of a `with` block; `findings` then returns what it found."""

    def __init__(self) -> None:
        super().__init__()
        self.run = WatchedRun(next(_watcher_numbers), self.guarded)

    def install(self) -> None:
        self.hook(register_optimizer_step_pre_hook, partial(updates.before_step, self.run))
        self.hook(register_optimizer_step_post_hook, partial(updates.after_step, self.run))
        self.patch(
            (torch.nn.Parameter, "__new__", self.new_parameter),
            (torch.optim.Optimizer, "__init__", self.optimizer_init),
            (torch.nn.Module, "__init__", self.module_init),
            (torch.optim.Optimizer, "zero_grad", self.zero_grad),
            (torch.nn.Module, "zero_grad", self.zero_grad),
            (torch.nn.Module, "train", self.train),
            (torch.optim.lr_scheduler.LRScheduler, "step", self.scheduler_step),
            (torch.autograd, "gradcheck", self.gradcheck),
            (torch.autograd, "gradgradcheck", self.gradcheck),
            (torch.nn.utils, "clip_grad_norm_", self.clip),
            (torch.nn.utils, "clip_grad_value_", self.clip),
            (torch.amp.GradScaler, "scale", self.scale),
            (torch, "compile", self.torch_compile),
            (torch.inference_mode, "__enter__", self.enter_inference),
        )
        # Some layers choose a faster kernel if nobody looks on
        self.replace(torch.overrides, "has_torch_function", outside(torch.overrides.has_torch_function))

    def findings(self, error: BaseException | None = None) -> list[RunFinding]:
        """Return all findings; call it after the block, with the exception that ended it. Forgets every tensor."""
        self.active = not self.failure
        self.guarded(self.judge, error)
        self.active = False
        self.run.forget()
        return without_consequences(list(self.run.found.values()))

    def judge(self, error: BaseException | None) -> None:
        """Add the findings that need the whole run, and that of the exception that ended it."""
        if error is not None:
            errors.explain(self.run, error)
        if error is None or self.run.clock.iteration:  # else its first backward() may have been still to come
            kept_graphs.judge(self.run)
        for room in (unreached_parameters, event_order, learning_rates, gradient_sizes):
            room.judge(self.run)

    def notes(self) -> list[str]:
        """Return notes on what was not watched."""
        ran = "{0.file}:{0.line}: what {1} ran unwatched; this line is the first."
        notes = [ran.format(here, kind) for kind, here in self.unwatched.items()]
        if self.failure:
            notes.append(f"lab.watch stopped watching after an error of its own, {self.failure}")
        return notes

    def look_at(self, name: str, function: Function, args: Args, kwargs: Kwargs) -> Look | None:
        if name == "__get__":
            return operations.read_gradient(self.run, args[0])
        if name == "__set__":
            return updates.assign(self.run, attribute_of(function), *args)
        if name == "_set_grad_enabled":
            cuts.note_grad_mode(self.run, *args)
            return None
        if function in BACKWARD:
            return backward_passes.look_at_backward(self.run, function, args, kwargs)
        if function is torch.autograd.grad:
            return backward_passes.look_at_grad(self.run, function, args, kwargs)
        return super().look_at(name, function, args, kwargs)

    def write(self, name: str, given: Args, operands: list[Tensor]) -> Look:
        """Look at an operation in place, and record the node that it made."""
        tensor = operands[0]
        node = node_of(tensor)
        if node is not None and origin_of(node) is None:  # of a Function of the script: what it saved is still readable
            operations.record_saved(self.run, self.run.new_entry(kind(node), node), node)
        source = origin_of(node)
        yield from updates.write_in_place(self.run, name, tensor, given)
        node = node_of(tensor)
        if node is not None and origin_of(node) is None:
            entry = self.run.new_entry(name, node)
            if source is not None:
                self.record_source(entry, source, tensor, tensor)
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
                updates.note_write(self.run, operand, before, site())
        for part in filter(has_numbers, tensors_in((result,))):
            self.record_result(name, operands, part, given)
        if name in cuts.NUMBERS or name in cuts.ARRAYS:
            cuts.note_number(self.run, name, given[0], result)

    def record_result(self, name: str, operands: list[Tensor], result: Tensor, given: Args) -> None:
        """Record the node or the cut behind a tensor that an operation returned."""
        run, node = self.run, node_of(result)
        if node is None:
            if id(result) not in run.tensors.leaves or name in cuts.FACTORIES:
                cuts.note_no_graph(run, name, operands, result, given)
            return
        if origin_of(node) is not None:
            return
        entry = self.run.new_entry(name, node)
        sources: list[NodeOrigin] = []
        for operand in operands:
            before = node_of(operand)
            if before is None:
                if id(operand) in run.tensors.origins:
                    cuts.note_use(run, entry, operand, operands)
                continue
            source = origin_of(before)
            if source is not None:
                sources.append(source)
                self.record_source(entry, source, operand, result)
        if len(sources) > 2:  # it joins results
            entry.past_iterations = max(entry.past_iterations, len({source.iteration for source in sources}) - 1)
            self.record_chain(entry, result, sources[0].site)
        operations.inspect(run, entry, operands, result, given)

    def record_source(self, entry: NodeOrigin, source: NodeOrigin, operand: Tensor, result: Tensor) -> None:
        """Record what a node takes over from one before it: the iterations, or rounds of a loop, that it spans."""
        earlier, again = source.iteration < entry.iteration, source.site == entry.site
        if operand.numel() == result.numel() == 1:
            entry.chain = max(entry.chain, source.chain + (earlier or again))
        entry.past_iterations = max(entry.past_iterations, source.past_iterations + earlier)
        if earlier:
            entry.carry_site = entry.carry_site or source.site
        entry.sum_site = source.sum_site or entry.sum_site
        if earlier or again:
            self.record_chain(entry, result, entry.site)

    def record_chain(self, entry: NodeOrigin, result: Tensor, source: Site) -> None:
        """Record a result that spans several iterations or rounds, and the line of what it sums or joins."""
        spans = max(entry.chain, entry.past_iterations)
        if spans >= MIN_RUNNING_SUM:
            entry.sum_site = entry.sum_site or entry.site
            clock, graphs = self.run.clock, self.run.graphs
            if clock.evaluating and any(clock.iteration in ran for ran in graphs.evaluations.values()):
                graphs.evaluation_sums.add(entry.site)
            graphs.chains[entry.site] = weakref.ref(result), source, entry, spans

    # What the mode does not see: new parameters, optimizers and layers, and blocks without gradients. A patch gives a
    # look the function, and its arguments as they were given.

    def new_parameter(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        parameter = yield
        if parameter.requires_grad:
            self.run.leaf(parameter, site()).made_in_forward = bool(running_modules())

    def optimizer_init(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        yield
        updates.watched_optimizer(self.run, arguments(old, args, kwargs)["self"])

    def module_init(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        self.run.tensors.modules.setdefault(args[0], site())
        yield

    def zero_grad(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        updates.note_zero_grad(self.run, args[0], site())
        with self.away():
            yield

    def train(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        """Note whether a model is in eval mode, which Module.eval() starts by train(False)."""
        yield
        self.run.clock.evaluating = not arguments(old, args, kwargs)["mode"]

    def scheduler_step(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        """Note a scheduler's step, which PyTorch calls when it is made, or one before its optimizer's first step."""
        here, made = site(), outer_frame().f_code.co_filename != site().file
        for opt in self.run.training.optimizers:
            if opt.ref() is args[0].optimizer:
                if made:
                    opt.scheduler_site = here
                else:
                    self.run.record(Act.SCHEDULE, here, opt.parameter_ids, opt=opt)
        yield

    def gradcheck(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        with self.away():
            yield from backward_passes.look_at_gradcheck(self.run, old, args, kwargs)

    def clip(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        """Look at what is clipped; a generator is passed on item by item."""
        seen = given = args[0] if args else kwargs.get("parameters", ())
        if isinstance(given, GeneratorType):
            passed, seen = itertools.tee(given)
            given = (item for item in passed)
            yield ((given, *args[1:]), kwargs) if args else (args, {**kwargs, "parameters": given})
        else:
            yield
        _, limit, *_ = arguments(old, args, kwargs).values()
        if seen is not given or not isinstance(seen, Iterator):  # else it is used up
            clipped = [seen] if isinstance(seen, Tensor) else list(seen)
            event_order.note_clip(self.run, clipped, limit, site())

    def scale(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        result = yield
        self.run.training.uses_grad_scaler = True
        entry = origin_of(node_of(result)) if isinstance(result, Tensor) else None
        if entry is not None:
            entry.name = "scale"

    def torch_compile(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        """Let what is compiled run outside the mode, or a compiler would compile the watcher too."""
        compiled = yield
        if arguments(old, args, kwargs)["model"] is None:  # a decorator, which calls this function again
            return None
        self.unwatched.setdefault("torch.compile made here", site())
        if not isinstance(compiled, torch.nn.Module):
            return outside(compiled)
        vars(compiled)["forward"] = outside(compiled.forward)
        return None

    def enter_inference(self, old: Function, args: Args, kwargs: Kwargs) -> Look:
        self.run.cuts.inference_site = site()
        cuts.note_grad_mode(self.run, False)
        yield
