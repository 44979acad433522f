"""A mode of PyTorch that sees each operation of a script, and remembers what it needs for a verdict.

What happens then stands in operations.py (a result with a graph), cuts.py (one without), writes.py, backward.py and,
told by the patches, steps.py.

Nothing is changed: each function runs with the operands it was given. At the end all that was put in is taken out.
"""

import itertools
import sys
from collections import deque
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from lab.watch import backward, cuts, depth, ending, errors, operations, values, writes
from lab.watch.finding import RunFinding
from lab.watch.patches import Patches
from lab.watch.sites import NOWHERE, Site, handed_in, line_that_sets, site, user_frame, user_frames
from lab.watch.tracks import (
    KEY,
    CutRecord,
    Leaf,
    Made,
    MeasuredStep,
    Pass,
    TensorOrigin,
    WatchedOptimizer,
    Written,
    made,
    node_of,
    weak,
)

Tensor = torch.Tensor
SILENT = frozenset(("size", "dim", "numel", "stride", "data_ptr", "is_floating_point"))
SILENT |= {"__len__", "__format__", "__repr__", "__hash__", "__bool__"}
VIEWS_READ = frozenset(("T", "mT", "H", "mH", "real", "imag"))  # attributes that are operations
IN_PLACE = frozenset(["__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"])


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
        self.last_cut = 0
        self.cut_counts: dict[tuple[Site, str], int] = {}
        self.items: deque[tuple[float, CutRecord]] = deque(maxlen=256)
        self.last_numpy: CutRecord | None = None
        self.writes: deque[Written] = deque(maxlen=4096)
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
        self.numbers: dict[Site, tuple[int, float]] = {}  # by the line of item(): the last turn, and its sum
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
        # by the line of a step by hand: how many hold the graph of the step before, for no use; -inf for some
        self.recorded_steps: dict[Site, float] = {}
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

    def say(self, failure: int, where: Site, evidence: str, advice: str = "") -> None:
        """Keep one finding; a second one of the same failure in the same line says nothing new."""
        turn = self.turn + self.forwarded  # after an operation it is the pass that comes
        found = RunFinding(failure, where.file, where.line, evidence, turn, advice)
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
            return writes.assign(self, func, args)
        if name == "backward":
            return backward.backward(self, func, args, kwargs)
        if name == "grad":
            return backward.autograd_grad(self, func, args, kwargs)
        if (name.endswith("_") and name[0] != "_") or name in IN_PLACE:
            return writes.write(self, func, name, args, kwargs)
        operands = tensors_in(args, kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            self.note(name, operands, result, args, kwargs)
        elif isinstance(result, (tuple, list)):
            for part in result:
                if isinstance(part, Tensor):
                    self.note(name, operands, part, args, kwargs)
        elif name in cuts.NUMBERS or name in cuts.ARRAYS:
            cuts.left(self, name, args[0], result)
        return result

    def note(self, name: str, operands: list[Tensor], result: Tensor, args: tuple[Any, ...], kwargs: Any) -> None:
        """An operation gave a tensor."""
        node: Any = node_of(result)
        if node is None:
            if not (
                result.requires_grad and result.is_leaf and name not in cuts.FACTORIES and id(result) in self.leaves
            ):
                cuts.ended(self, name, operands, result, args)
            return
        if made(node) is not None:
            return
        here = site(3)
        self.forwarded = True
        self.clock += 1
        entry = node.metadata[KEY] = Made(name, here, self.turn, watcher=self.number, at=self.clock)
        for operand in operands:
            before = node_of(operand)
            if before is None:
                if id(operand) in self.origins:
                    cuts.used(self, operand)
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
        operations.operation(self, entry, operands, result, args, kwargs)

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

    # Attributes

    def read(self, func: Any, args: tuple[Any, ...]) -> Any:
        attribute = func.__self__.__name__
        result = func(*args)
        if attribute == "grad" and result is None:
            tensor = args[0]
            node = tensor.grad_fn
            if node is not None and not tensor.retains_grad:
                operations.grad_of_result(self, tensor, node)
        elif attribute in VIEWS_READ and isinstance(result, Tensor):
            self.note(attribute, [args[0]], result, args, {})
        elif attribute == "data" and args[0].requires_grad:
            cuts.ended(self, "data", [args[0]], result, args)
            if args[0].grad_fn is not None:
                self.raw[result.data_ptr()] = self.turn
        return result

    # What is known

    def origin(self, tensor: Tensor) -> TensorOrigin | None:
        """Where a tensor without a graph was made, if that was seen."""
        known = self.origins.get(id(tensor))
        return known if known is not None and known.ref() is tensor else None

    def remember(self, tensor: Tensor, here: Site, cut: CutRecord | None, name: str = "") -> None:
        if self.origin(tensor) is None:
            key = id(tensor)
            self.origins[key] = TensorOrigin(weak(tensor, partial(gone, self.origins, key)), here, cut, name)

    def leaf(self, tensor: Tensor, here: Site = NOWHERE) -> Leaf:
        """What is known of a leaf; it is known from now on."""
        key = id(tensor)
        found = self.leaves.get(key)
        if found is not None and found.ref() is tensor:
            return found
        if not here.line:
            origin = self.origin(tensor)
            here = NOWHERE if origin is None else origin.site
        parameter = isinstance(tensor, torch.nn.Parameter)
        found = Leaf(
            weak(tensor, partial(gone, self.leaves, key)),
            here,
            tuple(tensor.shape),
            parameter=parameter,
            order=len(self.optimizers),
        )
        self.leaves[key] = found
        self.storages[tensor.data_ptr()] = key
        return found

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
        entry = made(node_of(given)) if isinstance(given, Tensor) and given.numel() == 1 else None
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
