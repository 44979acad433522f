"""A mode of PyTorch that sees each operation of a script, and the places that it looks in besides.

Nothing is changed: each function runs with the operands it was given. At the end all that was put in is taken out.
"""

import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from lab.watch import checks, depth, differences, ending, errors, shapes, values
from lab.watch.finding import RunFinding
from lab.watch.order import cost_sign
from lab.watch.patches import Patches
from lab.watch.sites import (
    NOWHERE,
    Site,
    caller_of_function,
    handed_in,
    line_in_function,
    line_that_sets,
    outside,
    site,
    user_frame,
    user_frames,
)
from lab.watch.tracks import (
    KEY,
    CutRecord,
    Leaf,
    Made,
    MeasuredStep,
    Pass,
    TensorOrigin,
    WatchedOptimizer,
    leaves_of,
    made,
    node_of,
    walk,
    weak,
)

Tensor = torch.Tensor
STEPS = frozenset(
    [
        "argmax",
        "argmin",
        "argsort",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__bool__",
        "isclose",
        "equal",
        "topk_indices",
        "logical_not",
        "logical_and",
        "logical_or",
    ]
)
CASTS = frozenset(["float", "double", "long", "int", "bool", "to", "type", "half", "bfloat16", "byte"])
NUMBERS = frozenset(["item", "tolist", "__float__", "__int__"])
ARRAYS = frozenset(("numpy", "__array__"))
SILENT = frozenset(
    [
        "size",
        "dim",
        "numel",
        "__len__",
        "is_floating_point",
        "__format__",
        "__repr__",
        "__hash__",
        "__bool__",
        "stride",
        "data_ptr",
    ]
)
PRODUCTS = frozenset(["matmul", "__matmul__", "mm", "mv", "__rmul__"])  # of data by a parameter
VIEWS_READ = frozenset(("T", "mT", "H", "mH", "real", "imag"))  # attributes that are operations
IN_PLACE = frozenset(["__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"])
WALKED_PASSES = 3  # of a place that calls backward(): the first ones; then one in SAMPLE
SAMPLE = 10
MAX_KEPT = 100  # results of one line
MAX_CUTS = 4  # walks of the graph for one place that cuts it


_numbers = itertools.count(1)


class Watcher(TorchFunctionMode):
    """Watches the code of a `with` block, and gives what was found with `findings`."""

    def __init__(self) -> None:
        super().__init__()
        self.number = next(_numbers)
        self.quiet = 0  # inside an optimizer: not the user's operations
        self.turn = 0
        self.close = True  # what is dear is looked at in this turn
        self.origins: dict[int, TensorOrigin] = {}
        self.leaves: dict[int, Leaf] = {}
        self.storages: dict[int, int] = {}  # address of the numbers -> leaf
        self.optimizers: list[WatchedOptimizer] = []
        self.passes: dict[tuple[str, int], Pass] = {}
        self.cuts: dict[tuple[Site, str], CutRecord] = {}
        self.cut_counts: dict[tuple[Site, str], int] = {}
        self.items: deque[tuple[float, CutRecord]] = deque(maxlen=256)
        self.last_numpy: CutRecord | None = None
        self.writes: deque[tuple[tuple[int, ...], int, Site]] = deque(maxlen=4096)
        # leaf -> the turn and the place in which its gradient was cleared, and whether a forward pass had run since
        self.zeroed: dict[int, tuple[int, Site, bool]] = {}
        self.cleared: dict[int, Site] = {}  # leaf -> the last zero_grad() that it was given to
        self.last_clear: tuple[int, Site] = (-1, NOWHERE)  # the turn, and the last zero_grad()
        self.deepest = NOWHERE  # the last line that computed with a result of an earlier turn
        self.frozen = NOWHERE  # the last line that took gradients from a tensor
        self.forwarded = False  # since the last backward pass
        self.scaled = False  # gradients are multiplied or divided by hand
        self.wide: dict[Site, tuple[tuple[int, ...], tuple[int, ...], Site]] = {}  # two shapes, and who handed them in
        self.relu_turns: dict[Site, set[int]] = {}
        self.constant: dict[int, Leaf] = {}
        self.last_params: Any = ()
        self.summed: set[Site] = set()  # sums over turns that a backward pass went through
        self.early_schedules: dict[int, Site] = {}
        self.carried_states: dict[Site, int] = {}
        self.dangers: deque[values.Danger] = deque(maxlen=64)
        self.hand_moves: dict[Site, list[MeasuredStep]] = {}  # steps by hand
        self.last_place: Pass | None = None
        self.numbers: dict[Site, tuple[int, float]] = {}  # by the line of item(): in which turn it gave what
        # by the line of item(): sums with a number that came after it, that number, and what it had given
        self.multiples: dict[Site, deque[tuple[Made, float, float]]] = {}
        # by the line that ran a model in eval mode: how its result was made, in which turn, its parameters
        self.evaluations: dict[Site, list[tuple[Made, int, frozenset[int]]]] = {}
        # by the place where gradients are switched off: the first line that used frozen parameters there
        self.serving: dict[Site, int] = {}
        self.added: dict[int, tuple[Made, CutRecord]] = {}  # sums with a term that has lost its graph
        self.lost_terms: dict[Site, list[CutRecord]] = {}  # those that a backward pass went through
        self.lost_gradients: dict[Site, tuple[int, Site]] = {}  # by the place of backward(): how often, cleared where
        self.late_clips: dict[Site, int] = {}
        self.callers: dict[Site, set[Site]] = {}  # of the function in which a softmax runs
        self.drawn: set[Site] = set()  # softmaxes from whose result something was drawn
        self.twice: dict[tuple[int, str, int], tuple[Site, Site]] = {}  # of a finding: the softmax, the loss
        self.scalers = False  # steps can be left out
        self.fresh: dict[Site, set[int]] = {}  # where parameters were made that got a gradient: in which turns
        self.owned_sites: set[Site] = set()
        self.inference = NOWHERE  # the last inference_mode
        self.rounds = 0  # backward passes, and calls of autograd.grad()
        self.second_order = False  # a gradient kept its graph
        self.quotients = 0  # differences divided by a tiny number
        self.tiny = NOWHERE, 0.0  # where the last tiny number was added, or divided by, and its size
        self.nudges: dict[str, tuple[list[float], list[float]]] = {}  # tiny steps up and down, by file
        self.slopes: list[depth.FadingSlope] = []
        self.small: list[tuple[float, Site, str]] = []
        self.compiled: list[Site] = []  # where torch.compile was called
        self.clock = 0  # nodes that were seen
        self.raw: dict[int, int] = {}  # address of a result's numbers that .data gave -> its clock
        self.raw_writes: list[tuple[int, int, Site]] = []  # address, clock and place of writes through .data
        self.grad_modes: list[tuple[str, Site]] = []
        self.relu_init: dict[Site, Site] = {}
        self.relus: dict[Site, list[float]] = {}
        self.depths: list[tuple[float, Site, str]] = []
        self.totals: dict[Site, Any] = {}
        self.made_parameters: dict[Site, int] = {}
        self.modules: dict[int, tuple[Any, Site]] = {}
        self.found: dict[tuple[int, str, int], RunFinding] = {}
        self.pending: list[tuple[BaseException, RunFinding]] = []
        self.patches = Patches(self)

    def __enter__(self) -> "Watcher":
        self.patches.put_in()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)  # type: ignore[no-untyped-call]
        self.patches.take_out()

    # What was found

    def say(self, failure: int, where: Site, evidence: str) -> None:
        """Keep one finding; a second one of the same failure in the same line says nothing new."""
        turn = self.turn + self.forwarded  # after an operation it is the pass that comes
        found = RunFinding(failure, where.file, where.line, evidence, turn)
        self.found.setdefault((failure, where.file, where.line), found)

    def findings(self, error: BaseException | None = None) -> list[RunFinding]:
        """All findings, after the block; `error` is what ended it. Forgets every tensor."""
        if error is not None:
            errors.explain(self, error)
        ending.judge(self, error)
        self.forget()
        return ending.sorted_out(list(self.found.values()))

    def notes(self) -> list[str]:
        """What was not watched."""
        where = sorted({(here.file, here.line) for here in self.compiled})
        return [f"{file}:{line}: what torch.compile made here ran unwatched." for file, line in where]

    def forget(self) -> None:
        """Let go of everything that refers to a tensor, even weakly."""
        for store in (self.origins, self.leaves, self.storages, self.passes, self.totals, self.modules, self.items):
            store.clear()
        self.slopes.clear()
        for rest in (self.optimizers, self.pending, self.dangers, self.constant, self.cuts, self.added):
            rest.clear()
        self.last_place = None
        self.last_params = ()
        self.last_numpy = None

    # What the mode sees

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name: str = func.__name__
        if self.quiet or name in SILENT:
            return func(*args, **kwargs)
        if name == "__get__":
            return self.read(func, args)
        if name == "__set__":
            return self.assign(func, args)
        if name == "backward":
            return self.backward(func, args, kwargs)
        if name == "grad":
            return self.autograd_grad(func, args, kwargs)
        if (name.endswith("_") and name[0] != "_") or name in IN_PLACE:
            return self.write(func, name, args, kwargs)
        operands = tensors_in(args, kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            self.note(name, operands, result, args, kwargs)
        elif isinstance(result, (tuple, list)):
            for part in result:
                if isinstance(part, Tensor):
                    self.note(name, operands, part, args, kwargs)
        elif name in NUMBERS or name in ARRAYS:
            self.left(name, args[0], result)
        return result

    def note(self, name: str, operands: list[Tensor], result: Tensor, args: tuple[Any, ...], kwargs: Any) -> None:
        """An operation gave a tensor."""
        node: Any = node_of(result)
        if node is None:
            if not (
                result.requires_grad and result.is_leaf and name not in checks.FACTORIES and id(result) in self.leaves
            ):
                self.ended(name, operands, result, args)
            return
        known = made(node)
        if known is not None:
            return
        here = site(3)
        self.forwarded = True
        self.clock += 1
        entry = node.metadata[KEY] = Made(name, here, self.turn, watcher=self.number, at=self.clock)
        for operand in operands:
            before = node_of(operand)
            if before is None:
                if id(operand) in self.origins:
                    self.used(operand)
                continue
            source = made(before)
            if source is None:
                continue
            if len(source.consumers) < 4:
                source.consumers.append(here)
            if source.turn < self.turn or source.site == here:
                self.carried(entry, source, operand, result)
            else:
                entry.depth = max(entry.depth, source.depth)
                if operand.numel() == 1 and result.numel() == 1:
                    entry.chain = max(entry.chain, source.chain)
        checks.operation(self, entry, operands, result, args, kwargs)

    def carried(self, entry: Made, source: Made, operand: Tensor, result: Tensor) -> None:
        """A result of an earlier turn, or of the same instruction, is computed with."""
        if operand.numel() == 1 and result.numel() == 1:
            entry.chain = max(entry.chain, source.chain + 1)
        if source.turn < self.turn and not entry.outer.line:
            entry.outer = outermost_with(operand) or source.site  # kept by an object: where it was made
            entry.depth = max(entry.depth, source.depth + 1)
            self.deepest = entry.outer
        self.total(entry, result)

    def total(self, entry: Made, result: Tensor) -> None:
        """A result that was carried through several turns, and the line that handed in what was added last."""
        chain = max(entry.chain, entry.depth)
        if chain >= ending.MIN_CHAIN:
            known = self.totals.get(entry.site)
            giver = known[3] if known is not None else giver_of_graph()
            self.totals[entry.site] = (weak(result), chain, entry.depth, giver)

    def used(self, operand: Tensor) -> None:
        origin = self.origins.get(id(operand))
        if origin is not None and origin.cut is not None and origin.ref() is operand:
            origin.cut.used = True
            origin.cut.user = origin.cut.user if origin.cut.user.line else site(4)

    def ended(self, name: str, operands: list[Tensor], result: Tensor, args: tuple[Any, ...]) -> None:
        """A result has no graph: maybe it was cut off here, maybe an operand was before."""
        here = site(4)
        if name in CASTS and len(operands) == 1 and operands[0].requires_grad and not torch.is_grad_enabled():
            name = "cast"
        cut: CutRecord | None = None
        if name in checks.FACTORIES:
            cut = self.cut_of_value(args[0] if args else None)
        else:
            for operand in operands:
                origin = self.origins.get(id(operand))
                if origin is not None and origin.cut is not None and origin.ref() is operand:
                    cut = origin.cut
                    break
            block = self.grad_modes[-1][1] if self.grad_modes else NOWHERE
            if block.line and block not in self.serving and any(map(frozen_parameter, operands)):
                self.serving[block] = line_in_function(block)
            wanted = next((operand for operand in operands if operand.requires_grad), None)
            if wanted is not None:
                new = self.cut(name, wanted, here, operands, result)
                cut = new if cut is None or cut.kind == new.kind or operands[0] is wanted else cut
        if cut is None and operands and not result.requires_grad:
            # Where numbers came from matters for integers and for constants: the first operand that was made, not given
            first = self.origins.get(id(operands[-1 if name in PRODUCTS else 0]))
            if first is not None and name not in CASTS:
                here = first.site
        if name == "softmax":
            self.callers.setdefault(site(4), set()).add(caller_of_function())
        elif name in checks.DRAWS and operands:
            checks.drawn(self, name, operands[0])
        if name in values.DANGEROUS and result.is_floating_point():
            values.danger(self, name, None, site(4), operands, result)
        elif name in shapes.EQUAL:
            shapes.hits(self, name, site(4), operands, result)
        differences.look(self, name, args, here)
        self.remember(result, here, cut, name)

    def remember(self, tensor: Tensor, here: Site, cut: CutRecord | None, name: str = "") -> None:
        key = id(tensor)
        known = self.origins.get(key)
        if known is None or known.ref() is not tensor:
            self.origins[key] = TensorOrigin(weak(tensor, partial(gone, self.origins, key)), here, cut, name)

    def cut(self, name: str, operand: Tensor, here: Site, operands: list[Tensor], result: Tensor) -> CutRecord:
        """A tensor that requires gradients gave one that does not."""
        if name in ("detach", "detach_", "data"):
            kind = "detach"
        elif name in STEPS or not (result.is_floating_point() or result.is_complex()):
            kind = "step"
        elif not torch.is_grad_enabled():
            kind = "update" if any(self.has_gradient(o) for o in operands) and self.is_update(operands) else "no_grad"
            if kind == "no_grad" and self.grad_modes:
                here = self.without_gradients(self.grad_modes[-1][1])
        else:
            kind = "detach"
        return self.keep_cut(kind, here, name, operands)

    def without_gradients(self, block: Site) -> Site:
        """The line because of which an operation has no graph: that of the block, or, where the block is right for the
        frozen parameters in another line of it, the line that should stand outside."""
        served = self.serving.get(block, 0)
        line = line_in_function(block) if served else 0
        return Site(block.file, line) if line and line != served else block

    def evaluated(self, module: Any, result: Any) -> None:
        """A module in eval mode has run, called by the user."""
        if not torch.is_grad_enabled() or module.training or not isinstance(result, Tensor):
            return
        node = node_of(result)
        entry = None if node is None else made(node)
        owned = frozenset(map(id, module.parameters()))
        learned = any((leaf := self.leaves.get(key)) is not None and leaf.got for key in owned)
        runs = self.evaluations.setdefault(site(2), [])
        if entry is not None and learned and len(runs) < MAX_KEPT:
            runs.append((entry, self.turn, owned))
            node.register_prehook(partial(note_pass, entry))

    def is_update(self, operands: list[Tensor]) -> bool:
        leaf = operands[0]
        return leaf.is_leaf and any(o.shape == leaf.shape and not o.requires_grad for o in operands[1:])

    def has_gradient(self, tensor: Tensor) -> bool:
        return tensor.is_leaf and tensor.requires_grad and tensor.grad is not None

    def keep_cut(self, kind: str, here: Site, name: str, operands: list[Tensor]) -> CutRecord:
        key = (Site(here.file, here.line), kind)
        count = self.cut_counts[key] = self.cut_counts.get(key, 0) + 1
        cut = self.cuts.get(key)
        if cut is None:
            cut = self.cuts[key] = CutRecord(kind, here, name)
        if count <= MAX_CUTS:
            ids: set[int] = set(cut.leaves)
            for operand in operands:
                if operand.grad_fn is not None:
                    ids.update(map(id, leaves_of(operand.grad_fn)))
                elif operand.requires_grad:
                    ids.add(id(operand))
            cut.leaves = frozenset(ids)
        return cut

    def left(self, name: str, tensor: Tensor, result: Any) -> None:
        """A tensor gave a number or an array."""
        here = site(3)
        origin = self.origins.get(id(tensor))
        if tensor.requires_grad:
            cut = self.keep_cut("numpy" if name in ARRAYS else "number", here, name, [tensor])
            if name in NUMBERS and isinstance(result, float):
                self.numbers[here] = self.turn, result
        elif origin is not None and origin.cut is not None and origin.ref() is tensor:
            cut = origin.cut if name in NUMBERS and origin.cut.kind != "detach" else CutRecord(
                "numpy" if name in ARRAYS else "number", here, name, origin.cut.leaves
            )  # fmt: skip
        else:
            return
        if isinstance(result, np.ndarray):
            self.last_numpy = cut
        for value in np.ravel(result)[:8]:
            self.items.append((float(value), cut))

    def cut_of_value(self, value: Any) -> CutRecord | None:
        """The cut through which a number came that is put into a tensor."""
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor) and value[0].requires_grad:
            return self.keep_cut("number", site(5), "tensor", list(value))
        if isinstance(value, Tensor):
            origin = self.origins.get(id(value))
            return origin.cut if origin else None
        if isinstance(value, (np.ndarray, np.generic)) and self.last_numpy is not None:
            return self.last_numpy
        while isinstance(value, (list, tuple)) and value:
            value = value[0]
        if isinstance(value, (float, np.generic)):
            for number, cut in reversed(self.items):
                if number == value:
                    return cut
        return None

    # Attributes

    def read(self, func: Any, args: tuple[Any, ...]) -> Any:
        attribute = func.__self__.__name__
        result = func(*args)
        if attribute == "grad" and result is None:
            tensor = args[0]
            node = tensor.grad_fn
            if node is not None and not tensor.retains_grad:
                checks.grad_of_result(self, tensor, node)
        elif attribute in VIEWS_READ and isinstance(result, Tensor):
            self.note(attribute, [args[0]], result, args, {})
        elif attribute == "data" and args[0].requires_grad:
            self.ended("data", [args[0]], result, args)
            if args[0].grad_fn is not None:
                self.raw[result.data_ptr()] = self.turn
        return result

    def assign(self, func: Any, args: tuple[Any, ...]) -> Any:
        attribute, tensor = func.__self__.__name__, args[0]
        if attribute == "grad" and args[1] is None:
            self.zeroed[id(tensor)] = (self.turn, site(2), self.forwarded)
        if attribute == "requires_grad" and args[1]:
            self.forced(tensor)
            self.look_again()
            return self.asked(func, tensor, args, {})
        if attribute == "requires_grad":
            self.frozen = site(2)
        if attribute == "data":
            checks.replaced(self, tensor, args[1])
        return func(*args)

    def asked(self, func: Any, tensor: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A tensor is asked for gradients, which one of integers refuses."""
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            origin = self.origins.get(id(tensor))
            if origin is not None and origin.ref() is tensor and not tensor.is_floating_point():
                told = f"The tensor made here has dtype {tensor.dtype}, and line {site(2).line} asks it for gradients."
                self.pending.append((error, errors.finding(22, origin.site, told)))
            raise

    def look_again(self) -> None:
        """Walk the next graphs: other leaves may be reached from now on."""
        for place in self.passes.values():
            place.walked = 0

    def forced(self, tensor: Tensor) -> None:
        """A tensor that came out of a cut is said to require gradients."""
        origin = self.origins.get(id(tensor))
        if origin is not None and origin.ref() is tensor and origin.cut is not None and tensor.numel() == 1:
            origin.cut.used = True

    # Writes

    def write(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An operation in place."""
        tensor = args[0] if args else kwargs.get("tensor")  # as nn.init hands it on
        if not isinstance(tensor, Tensor):
            return func(*args, **kwargs)
        if name == "requires_grad_":
            self.forced(tensor)
            self.look_again()
            if False in (*args[1:], *kwargs.values()):
                self.frozen = site(2)
            return self.asked(func, tensor, args, kwargs)
        here = site(3)
        differences.look(self, name, args, here)
        leaf = self.leaves.get(self.storages.get(tensor.data_ptr(), 0))
        before = checks.before_write(self, leaf, tensor, name)
        version = tensor._version
        node = node_of(tensor)
        source = None if node is None else made(node)
        result = func(*args, **kwargs)
        if name == "zero_":
            self.note_clear(tensor, here)
        elif name in ("div_", "mul_", "__itruediv__", "__imul__") and leaf is None and self.is_gradient(tensor):
            self.scaled = self.scaled or outside(2).f_code.co_filename == here.file
        self.writes.append((tuple(tensor.shape), version + 1, here))
        if self.raw.get(tensor.data_ptr()) == self.turn and tensor.grad_fn is None:
            self.raw_writes.append((tensor.data_ptr(), self.clock, here))
        if leaf is not None:
            checks.after_write(self, leaf, tensor, before, here, name)
        after: Any = node_of(tensor)
        if after is not None and made(after) is None:
            entry = after.metadata[KEY] = Made(name, here, self.turn, watcher=self.number)
            if source is not None and (source.turn < self.turn or source.site == here):
                self.carried(entry, source, tensor, tensor)
            if name in ("relu_",):
                checks.operation(self, entry, [tensor], tensor, args, kwargs)
        return result

    def note_clear(self, tensor: Tensor, here: Site) -> None:
        for key, leaf in self.leaves.items():
            parameter = leaf.ref()
            if parameter is not None and parameter.grad is tensor:
                self.zeroed[key] = (self.turn, here, self.forwarded)

    def is_gradient(self, tensor: Tensor) -> bool:
        return any((found := leaf.ref()) is not None and found.grad is tensor for leaf in self.leaves.values())

    # Backward passes

    def backward(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        loss, here = args[0], site(2)
        reached: list[Tensor] = []
        place = self.passes.setdefault((here.file, here.line), Pass(here))
        if loss.grad_fn is not None:
            reached = self.reached(place, loss)
            checks.before_backward(self, place, loss, reached)
        else:
            checks.loss_without_graph(self, loss, here)
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            finding = errors.of_backward(self, error, loss, here)
            if finding is not None:
                self.pending.append((error, finding))
            raise
        self.turn += 1
        self.rounds += 1
        top = None if loss.grad_fn is None else made(loss.grad_fn)
        if top is not None and top.depth and self.deepest.line:
            self.carried_states[self.deepest] = top.depth
        self.last_place = place
        if loss.numel() == 1:
            place.values.append(float(loss.detach()))
            place.turns.append(self.turn)
        checks.after_backward(self, place, loss, reached)
        return result

    def autograd_grad(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outputs = args[0] if args else kwargs.get("outputs")
        here = site(2)
        first = outputs if isinstance(outputs, Tensor) else outputs[0] if outputs else None
        if isinstance(first, Tensor) and first.grad_fn is not None:
            self.mark(first)
            if not kwargs.get("retain_graph", kwargs.get("create_graph")):
                self.taken(first, here)
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            finding = errors.of_backward(self, error, first, here) if isinstance(first, Tensor) else None
            if finding is not None:
                self.pending.append((error, finding))
            raise
        for part in result:
            if isinstance(part, Tensor) and part.grad_fn is None:
                self.remember(part, here, None)
        inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
        inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs or ())
        if kwargs.get("create_graph"):
            self.second_order = True
            for tensor in inputs:
                if tensor.is_leaf and tensor.requires_grad:
                    self.leaf(tensor).asked = True
        if isinstance(first, Tensor) and first.numel() == 1 and not kwargs.get("create_graph"):
            self.given(first, inputs, result, here)
        return result

    def given(self, loss: Tensor, inputs: tuple[Tensor, ...], gradients: tuple[Any, ...], here: Site) -> None:
        """autograd.grad() gave gradients of leaves, for a step by hand."""
        leaves = [(tensor, grad) for tensor, grad in zip(inputs, gradients, strict=False) if tensor.is_leaf]
        if not leaves or {id(t) for t in leaves_of(loss.grad_fn)} - {id(t) for t, _ in leaves}:
            return  # an attack on an input, or a look at it: no step of all that there is to learn
        self.last_place = place = self.passes.setdefault((here.file, here.line), Pass(here))
        place.values.append(float(loss.detach()))
        place.turns.append(self.turn)
        place.leaves = [weak(tensor) for tensor, _ in leaves]
        place.cost, _ = cost_sign(loss.grad_fn)
        self.rounds += 1
        for tensor, grad in leaves:
            self.leaf(tensor).given = None if grad is None else weak(grad)

    def taken(self, output: Tensor, here: Site) -> None:
        """autograd.grad() goes through a graph, and frees it."""
        for node in walk(output.grad_fn):
            entry = made(node)
            if entry is not None:
                entry.taken = here

    def mark(self, loss: Tensor) -> None:
        for node in walk(loss.grad_fn):
            entry = made(node)
            if entry is None:
                continue
            if entry.chain or entry.depth:
                self.summed.add(entry.site)
            entry.passed = entry.passed or self.turn + 1

    def reached(self, place: Pass, loss: Tensor) -> list[Tensor]:
        """The leaves that a pass will reach: looked up in the graph, at first always and then now and then."""
        if place.walked > WALKED_PASSES and len(place.turns) % SAMPLE:
            known = [tensor for ref in place.leaves if (tensor := ref()) is not None]
            top = made(loss.grad_fn)
            if top is not None and not top.passed:
                top.passed = self.turn + 1
            if len(known) == len(place.leaves):
                return known
        self.mark(loss)
        place.walked += 1
        reached = leaves_of(loss.grad_fn)
        place.leaves = [weak(tensor) for tensor in reached]
        for tensor in reached:
            leaf = self.leaf(tensor)
            if leaf.parameter and not leaf.got:
                self.fresh.setdefault(leaf.site, set()).add(self.turn)
        return reached

    def leaf(self, tensor: Tensor, here: Site = NOWHERE, **known: Any) -> Leaf:
        """What is known of a leaf; it is known from now on."""
        key = id(tensor)
        found = self.leaves.get(key)
        if found is not None and found.ref() is tensor:
            return found
        if not here.line:
            origin = self.origins.get(key)
            here = origin.site if origin is not None and origin.ref() is tensor else NOWHERE
        parameter = isinstance(tensor, torch.nn.Parameter)
        found = Leaf(weak(tensor, partial(gone, self.leaves, key)), here, tuple(tensor.shape), parameter=parameter,
                     order=len(self.optimizers), version=tensor._version, **known)  # fmt: skip
        self.leaves[key] = found
        self.storages[tensor.data_ptr()] = key
        return found

    # Optimizers

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Called by PyTorch before each step of each optimizer."""
        track, here = self.optimizer(optimizer), site(2)
        with torch._C.DisableTorchFunction():  # what is looked at is not the script's, and need not pass the mode
            checks.before_step(self, track, optimizer, here)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        track.steps += 1
        if not callable(closure):
            self.quiet += 1

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            self.quiet = max(0, self.quiet - 1)
        track, here = self.optimizer(optimizer), site(2)
        with torch._C.DisableTorchFunction():
            checks.after_step(self, track, optimizer, here)

    def optimizer(self, optimizer: Any) -> WatchedOptimizer:
        for track in self.optimizers:
            if track.ref() is optimizer:
                return track
        ref = weakref.ref(optimizer, self.dropped)
        track = WatchedOptimizer(ref, site(3), type(optimizer).__name__, len(self.optimizers))
        self.optimizers.append(track)
        self.owned(track, optimizer)
        return track

    def dropped(self, ref: Any) -> None:
        """The script lets go of an optimizer, at the end of a function: its parameters may be gone at the end."""
        for track in self.optimizers:
            if track.ref is ref:
                ending.never_reached(self, track)

    def owned(self, track: WatchedOptimizer, optimizer: Any) -> list[Tensor]:
        parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        for tensor in parameters:
            self.leaf(tensor)
        if track.steps < 2:
            self.owned_sites.update(self.leaf(tensor).site for tensor in parameters)
        track.owned = set(map(id, parameters))
        return parameters

    # What the patches tell

    def scaled_loss(self, result: Any) -> None:
        """A GradScaler gave a scaled loss."""
        self.scalers = True
        node = node_of(result) if isinstance(result, Tensor) else None
        entry = None if node is None else made(node)
        if entry is not None:
            entry.scaled = True

    def clears(self, owner: Any, here: Site) -> None:
        """zero_grad() of an optimizer or a module is called."""
        groups = getattr(owner, "param_groups", None)
        parameters = list(owner.parameters()) if groups is None else [p for group in groups for p in group["params"]]
        for tensor in parameters:
            self.cleared[id(tensor)] = here
        place = self.last_place
        if place is not None and place.since_step and any(tensor.grad is not None for tensor in parameters):
            count = self.lost_gradients.get(place.site, (0, here))[0]
            self.lost_gradients[place.site] = count + 1, here
        self.last_clear = self.turn, here

    def scheduled(self, scheduler: Any, here: Site) -> None:
        """The script calls the step of a scheduler."""
        track = next((track for track in self.optimizers if track.ref() is scheduler.optimizer), None)
        if track is not None and not track.steps:
            self.early_schedules.setdefault(track.order, here)

    def checked(self, check: Any, function: Any, inputs: Any, args: Any, kwargs: Any) -> Any:
        """A gradient check of the script; what it computes is not its own."""
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        single = [
            t for t in given if isinstance(t, Tensor) and t.requires_grad and t.dtype in (torch.float32, torch.float16)
        ]
        here, passed = site(2), False
        self.quiet += 1
        try:
            passed = check(function, inputs, *args, **kwargs)
        finally:
            self.quiet -= 1
            if single and not passed:
                origin = self.origins.get(id(single[0]))
                where = origin.site if origin is not None and origin.ref() is single[0] else here
                self.say(23, where, f"gradcheck in line {here.line} was given an input of "
                f"{single[0].dtype}, and failed: finite "
                         "differences in single precision are too coarse.")  # fmt: skip
        return passed

    def plain_container(self, parameter: Tensor | None = None) -> Site | None:
        """The line that puts layers into a plain list or dict of a module, where PyTorch does not find them."""
        for ref, _ in list(self.modules.values()):
            module = ref()
            if module is None:
                continue
            for name, value in list(vars(module).items()):
                if name.startswith("_") or not isinstance(value, (list, tuple, dict)):
                    continue
                parts = list(value.values() if isinstance(value, dict) else value)
                inside = [
                    p for part in parts for p in (part.parameters() if isinstance(part, torch.nn.Module) else [part])
                ]
                if any(p is parameter or (parameter is None and isinstance(p, torch.nn.Parameter)) for p in inside):
                    file = type(module).__init__.__code__.co_filename
                    line = line_that_sets(file, name)
                    return Site(file, line) if line else None
        return None


def frozen_parameter(tensor: Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter) and not tensor.requires_grad


def note_pass(entry: Made, gradients: Any) -> None:
    """A backward pass goes through a node."""
    entry.passed = entry.passed or 1


def gone(store: dict[int, Any], key: int, ref: Any) -> None:
    """A tensor is gone: forget what was known by its address."""
    known = store.get(key)
    if known is not None and known.ref is ref:
        del store[key]


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors among the operands of an operation, also in lists and tuples."""
    found: list[Tensor] = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [part for part in value if isinstance(part, Tensor)]
    return found


def giver_of_graph() -> Site:
    """The line that handed a number with its graph to the function that runs; nowhere if it has none."""
    frame = user_frame(sys._getframe(1))
    names = () if frame is None else frame.f_code.co_varnames[: frame.f_code.co_argcount]
    for name in names:
        given = frame.f_locals.get(name)  # type: ignore[union-attr]
        node = node_of(given) if isinstance(given, Tensor) and given.numel() == 1 else None
        entry = None if node is None else made(node)
        if entry is not None:
            return handed_in([given], [entry.site.line])
    return NOWHERE


def outermost_with(tensor: Tensor) -> Site | None:
    """The outermost line of the user's code that has this tensor in a variable, alone or in a tuple."""
    chosen = None
    for frame in user_frames():
        for value in list(frame.f_locals.values()):
            if value is tensor or (isinstance(value, tuple) and any(part is tensor for part in value)):
                chosen = Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
    return chosen
