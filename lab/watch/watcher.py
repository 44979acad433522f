"""A PyTorch function mode that sees each operation of a script and records what the findings need.

Each operation is handled in operations.py (a result with a graph), cuts.py (one without), writes.py or backward.py;
calls of optimizers, which the patches report, in steps.py.

It changes nothing: each function gets its own operands, and all hooks and patches are removed at the end.
"""

import itertools
import sys
import weakref
from collections import deque
from functools import partial
from types import CodeType, FrameType
from typing import Any

import torch

from lab.watch import backward, cuts, depth, ending, errors, operations, steps, values, writes
from lab.watch.finding import RunFinding
from lab.watch.onlooker import Look, Onlooker
from lab.watch.patches import Patches
from lab.watch.records import (
    KEY,
    BackwardCall,
    CutRecord,
    InPlaceWrite,
    Leaf,
    MeasuredStep,
    NodeOrigin,
    TensorOrigin,
    WatchedOptimizer,
    address_of,
    has_numbers,
    node_of,
    origin_of,
    packs_saved_tensors,
    storage_of,
    version_of,
    writes_in_place,
)
from lab.watch.sites import (
    NOWHERE,
    Site,
    line_that_sets,
    outermost_call_with,
    site,
    site_of,
    user_frame,
    user_frames,
)

Tensor = torch.Tensor
UNWATCHED = frozenset(("size", "dim", "numel", "stride", "data_ptr", "is_floating_point"))
UNWATCHED |= {"__len__", "__format__", "__repr__", "__hash__", "__bool__"}
VIEW_ATTRIBUTES = frozenset(("T", "mT", "H", "mH", "real", "imag"))  # attributes whose read is an operation
ATTRIBUTES = {"__get__": VIEW_ATTRIBUTES | {"data", "grad"}, "__set__": {"data", "grad", "requires_grad"}}  # looked at
MAX_CALLS_HELD = 2  # of one function: what is called more often is a step, or an epoch
BACKWARD = (Tensor.backward, torch.autograd.backward)
_watcher_numbers = itertools.count(1)


class Watcher(Onlooker):
    """Watches the code of a `with` block; `findings` then returns what it found."""

    def __init__(self) -> None:
        super().__init__()
        self.number = next(_watcher_numbers)
        self.stepping: WatchedOptimizer | None = None  # the running optimizer, if the script defines it
        self.iteration = 0  # number of backward passes that have run
        self.inspect_closely = True  # whether this iteration gets the expensive checks
        self.origins: dict[int, TensorOrigin] = {}
        self.leaves: dict[int, Leaf] = {}
        self.leaf_ids: dict[int, int] = {}  # address of its values -> id of the leaf
        self.optimizers: list[WatchedOptimizer] = []
        self.backward_calls: dict[tuple[str, int], BackwardCall] = {}
        self.cuts: dict[tuple[Site, str], CutRecord] = {}
        self.cut_count = 0
        self.cut_repeats: dict[tuple[Site, str], int] = {}  # line and kind -> number of cuts there
        self.recent_numbers: deque[tuple[float, CutRecord]] = deque(maxlen=256)
        self.last_numpy_cut: CutRecord | None = None
        self.writes: deque[InPlaceWrite] = deque(maxlen=4096)
        # leaf -> iteration and line in which its gradient was cleared, and whether a forward pass had run by then
        self.cleared_grads: dict[int, tuple[int, Site, bool]] = {}
        self.zero_grad_sites: dict[int, Site] = {}  # leaf -> the last zero_grad() that cleared it
        self.last_zero_grad: tuple[int, Site] = (-1, NOWHERE)  # iteration and line of the last zero_grad()
        self.last_carry_site = NOWHERE  # the last line that used a result of an earlier iteration
        self.last_freeze_site = NOWHERE  # the last line that set requires_grad to False
        self.forward_ran = False  # since the last backward pass
        self.gradients_scaled = False  # the script multiplies or divides gradients by hand
        # line that broadcast (N, 1) with (N,) -> the two shapes, and the line that passed them in
        self.pairwise_shapes: dict[Site, tuple[tuple[int, ...], tuple[int, ...], Site]] = {}
        self.relu_iterations: dict[Site, set[int]] = {}
        self.constant_weights: dict[int, Leaf] = {}
        self.passed_later: set[Site] = set()  # running sums and old results that a later backward pass went through
        self.early_scheduler_steps: dict[int, Site] = {}  # index of the optimizer -> line of the scheduler's step
        self.carried_states: dict[Site, int] = {}  # line -> number of past iterations that its graph reaches
        self.dangers: deque[values.Danger] = deque(maxlen=64)
        self.hand_steps: dict[Site, list[MeasuredStep]] = {}  # line of a step by hand -> its steps
        self.last_call: BackwardCall | None = None
        self.item_sums: dict[Site, tuple[int, float]] = {}  # line of item() -> last iteration, and its sum there
        # line of item() -> later sums with a plain number: the node, that number, and what item() had returned
        self.item_multiples: dict[Site, deque[tuple[NodeOrigin, float, float]]] = {}
        # line that ran a model in eval mode -> node of its result, iteration, ids of its parameters
        self.eval_runs: dict[Site, list[tuple[NodeOrigin, int, frozenset[int]]]] = {}
        # line that switches gradients off -> the first line inside that used frozen parameters
        self.frozen_use_lines: dict[Site, int] = {}
        # line that joined results of many iterations -> for each of its first calls, its own node and theirs
        self.joins: dict[Site, list[tuple[NodeOrigin | None, list[NodeOrigin]]]] = {}
        self.lost_term_sums: dict[int, tuple[NodeOrigin, CutRecord]] = {}  # sums with a term that lost its graph
        self.lost_terms: dict[Site, list[CutRecord]] = {}  # line of the cut -> one entry per backward pass
        self.lost_gradients: dict[Site, tuple[int, Site]] = {}  # backward() -> how often cleared unused, and where
        self.useless_clips: dict[Site, int] = {}  # line that clips -> times in a row that it was in vain
        self.softmax_callers: dict[Site, set[Site]] = {}  # softmax -> lines that called its function
        self.sampled_softmaxes: set[Site] = set()  # softmaxes whose result was sampled from
        # finding -> softmax, loss, name of the activation
        self.double_softmaxes: dict[tuple[int, str, int], tuple[Site, Site, str]] = {}
        self.uses_grad_scaler = False  # it may skip steps
        self.fresh_parameters: dict[Site, set[int]] = {}  # line -> iterations of its parameters' first gradients
        self.optimizer_parameter_sites: set[Site] = set()
        self.inference_mode_site = NOWHERE  # the last line that entered inference_mode
        self.gradient_count = 0  # backward passes and calls of autograd.grad()
        # line of a step by hand -> how many of its results hold the graph of the step before; -inf if that is used
        self.recorded_steps: dict[Site, float] = {}
        self.second_order = False  # create_graph=True was used
        self.tiny_quotients = 0  # differences divided by a tiny number
        self.last_tiny_step = NOWHERE, 0.0  # line of the last finite difference, and its step size
        self.nudges: dict[str, tuple[list[float], list[float]]] = {}  # file -> sizes of tiny steps up, and down
        self.fading_slopes: list[depth.FadingSlope] = []
        self.small_weight_ratios: list[tuple[float, Site, str]] = []
        self.compile_sites: list[Site] = []  # lines that called torch.compile
        self.node_count = 0  # graph nodes seen so far
        self.data_addresses: dict[int, int] = {}  # address of values read through .data -> iteration
        self.data_writes: list[tuple[int, int, Site]] = []  # address, node_count and line of writes through .data
        self.grad_modes: list[tuple[str, Site]] = []  # open no_grad blocks and switches, the innermost last
        self.library_blocks: dict[Site, str] = {}  # line that entered a no_grad block of PyTorch -> its function
        self.relu_init_sites: dict[Site, Site] = {}  # relu -> line that initialised the layer before it
        self.dead_shares: dict[Site, list[float]] = {}  # relu -> shares of its units that are 0 for a whole batch
        self.depth_ratios: list[tuple[float, Site, str]] = []
        self.running_sums: dict[Site, Any] = {}
        self.modules: dict[int, tuple[Any, Site]] = {}
        self.found: dict[tuple[int, str, int], RunFinding] = {}
        self.held_frames: dict[CodeType, FrameType] = {}
        self.calls_seen: dict[CodeType, int] = {}  # function -> calls of it in which a backward pass ran
        self.pending_findings: dict[str, RunFinding] = {}  # text of an error -> what it is explained by
        self.hidden_saves = False  # hooks of the script pack what nodes save: reading it would run them

    def install(self) -> None:
        Patches(self).install()

    # Findings

    def report(self, failure: int, where: Site, evidence: str, advice: str = "") -> None:
        """Add a finding, unless the same failure was already found in this line."""
        iteration = self.iteration + self.forward_ran  # after a forward operation, the next pass
        found = RunFinding(failure, where.file, where.line, evidence, iteration, advice)
        self.found.setdefault((failure, where.file, where.line), found)

    def findings(self, error: BaseException | None = None) -> list[RunFinding]:
        """Return all findings; call it after the block, with the exception that ended it. Forgets every tensor."""
        self.active = not self.failure
        self.guarded(self.judge, error)
        self.active = False
        self.forget()
        return ending.without_consequences(list(self.found.values()))

    def judge(self, error: BaseException | None) -> None:
        if error is not None:
            errors.explain(self, error)
        ending.judge(self, error)

    def notes(self) -> list[str]:
        """Return notes on what was not watched."""
        where = sorted({(here.file, here.line) for here in self.compile_sites})
        notes = [f"{file}:{line}: what torch.compile made here ran unwatched." for file, line in where]
        notes += [
            f"{here.file}:{here.line}: what {kind} ran unwatched; this line is the first."
            for kind, here in self.unwatched.items()
        ]
        if self.failure:
            notes.append(f"lab.watch stopped watching after an error of its own, {self.failure}")
        return notes

    def forget(self) -> None:
        """Forget everything that refers to a tensor, even weakly."""
        stores: tuple[Any, ...] = (self.origins, self.leaves, self.leaf_ids, self.backward_calls, self.running_sums)
        stores += (self.modules, self.optimizers, self.pending_findings, self.dangers, self.constant_weights, self.cuts)
        stores += (self.recent_numbers, self.fading_slopes, self.lost_term_sums, self.held_frames)
        for store in stores:
            store.clear()
        self.last_call = None
        self.last_numpy_cut = None

    def hold_variables(self) -> None:
        """Keep the variables of the functions that are running until the findings are made, as the script's own are
        kept: in many scripts all is made in a function `main`. What is called again and again keeps nothing, and in a
        script with weak references nothing does: it may look when its objects go."""
        for frame in user_frames():
            code = frame.f_code
            watches = any(value is weakref for value in frame.f_globals.values())
            if code.co_name == "<module>" or watches or self.held_frames.get(code) is frame:
                continue
            self.calls_seen[code] = self.calls_seen.get(code, 0) + 1
            if self.calls_seen[code] <= MAX_CALLS_HELD:
                self.held_frames[code] = frame
            else:
                self.held_frames.pop(code, None)

    # Operations

    def concerns(self, function: Any) -> bool:
        name = getattr(function, "__name__", "")
        if name in ATTRIBUTES and function.__self__.__name__ not in ATTRIBUTES[name]:
            return False
        return name not in UNWATCHED and (self.stepping is not None or not self.paused())

    def look(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Look | None:
        name: str = getattr(function, "__name__", "")
        if self.paused() or self.left_alone():
            if self.stepping is not None and self.steps and writes_in_place(name):
                steps.note_own_write(self, self.stepping, args)
            return None
        if name == "__get__":
            return self.read_attribute(function, args)
        if name == "__set__":
            return writes.assign(self, function, args)
        if function in BACKWARD:
            return backward.look_at_backward(self, function, args, kwargs)
        if function is torch.autograd.grad:
            return backward.look_at_grad(self, function, args, kwargs)
        given = in_order(args, kwargs)
        operands = tensors_in(given)
        if not all(map(has_numbers, operands)):
            return None
        if writes_in_place(name):
            return writes.write_in_place(self, name, given, operands)
        return self.operation(name, given, operands)

    def operation(self, name: str, given: tuple[Any, ...], operands: list[Tensor]) -> Look:
        """Record the results of an operation, and what it wrote to its operands."""
        versions = [version_of(operand) for operand in operands]
        result = yield
        for operand, before in zip(operands, versions, strict=True):
            if version_of(operand) != before:
                writes.note_write(self, operand, before, site())
        if isinstance(result, Tensor):
            self.record_result(name, operands, result, given)
        elif isinstance(result, (tuple, list)):
            for part in result:
                if isinstance(part, Tensor):
                    self.record_result(name, operands, part, given)
        elif name in cuts.NUMBERS or name in cuts.ARRAYS:
            cuts.note_number(self, name, given[0], result)

    def record_result(self, name: str, operands: list[Tensor], result: Tensor, given: tuple[Any, ...]) -> None:
        """Record the node or the cut behind a tensor that an operation returned."""
        if not has_numbers(result):
            return
        node: Any = node_of(result)
        if node is None:
            if not (
                result.requires_grad and result.is_leaf and name not in cuts.FACTORIES and id(result) in self.leaves
            ):
                cuts.note_no_graph(self, name, operands, result, given)
            return
        if origin_of(node) is not None:
            return
        here = site()
        self.forward_ran = True
        self.node_count += 1
        self.hidden_saves |= packs_saved_tensors()
        entry = node.metadata[KEY] = NodeOrigin(
            name,
            here,
            self.iteration,
            watcher_number=self.number,
            node_number=self.node_count,
            storage=storage_of(result),
        )
        for operand in operands:
            before = node_of(operand)
            if before is None:
                if id(operand) in self.origins:
                    cuts.note_use(self, operand, operands)
                continue
            source = origin_of(before)
            if source is None:
                continue
            if len(source.consumers) < 4:
                source.consumers.append(here)
            if source.iteration < self.iteration or source.site == here:
                self.record_carried(entry, source, operand, result)
            else:
                entry.past_iterations = max(entry.past_iterations, source.past_iterations)
                if operand.numel() == 1 and result.numel() == 1:
                    entry.running_sum_length = max(entry.running_sum_length, source.running_sum_length)
        operations.inspect(self, entry, operands, result, given)

    def record_carried(self, entry: NodeOrigin, source: NodeOrigin, operand: Tensor, result: Tensor) -> None:
        """Record that an operation used a result of an earlier iteration, or of the same instruction."""
        if operand.numel() == 1 and result.numel() == 1:
            entry.running_sum_length = max(entry.running_sum_length, source.running_sum_length + 1)
        if source.iteration < self.iteration and not entry.carry_site.line:
            entry.carry_site = outermost_holder(operand) or source.site  # an object holds it: the line that made it
            entry.past_iterations = max(entry.past_iterations, source.past_iterations + 1)
            self.last_carry_site = entry.carry_site
        self.record_running_sum(entry, result)

    def record_running_sum(self, entry: NodeOrigin, result: Tensor) -> None:
        """Record a result carried through several iterations, and the line that passed in its last term."""
        chain = max(entry.running_sum_length, entry.past_iterations)
        if chain >= ending.MIN_RUNNING_SUM:
            known = self.running_sums.get(entry.site)
            passed_at = known[3] if known is not None else site_of_graph_argument()
            self.running_sums[entry.site] = (weakref.ref(result), chain, entry.past_iterations, passed_at)

    # Attributes

    def read_attribute(self, function: Any, args: tuple[Any, ...]) -> Look:
        """Notice the read of .grad of a non-leaf, of a view and of .data."""
        attribute = function.__self__.__name__
        result = yield
        if (attribute == "grad" and result is not None) or not has_numbers(args[0]):
            return
        if attribute == "grad":
            tensor = args[0]
            node = tensor.grad_fn
            if node is not None and not tensor.retains_grad:
                operations.report_non_leaf_grad(self, tensor, node)
        elif attribute in VIEW_ATTRIBUTES and isinstance(result, Tensor):
            self.record_result(attribute, [args[0]], result, args)
        elif attribute == "data" and args[0].requires_grad:
            cuts.note_no_graph(self, "data", [args[0]], result, args)
            if args[0].grad_fn is not None:
                self.data_addresses[address_of(result)] = self.iteration

    # Records

    def origin(self, tensor: Tensor) -> TensorOrigin | None:
        """Return where a tensor without a graph was made, or None if that was not seen."""
        known = self.origins.get(id(tensor))
        return known if known is not None and known.ref() is tensor else None

    def remember_origin(self, tensor: Tensor, here: Site, cut: CutRecord | None, name: str = "") -> None:
        """Remember where a tensor without a graph was made."""
        if self.origin(tensor) is None:
            key = id(tensor)
            ref = weakref.ref(tensor, partial(forget_dead, self.origins, key))
            self.origins[key] = TensorOrigin(ref, here, cut, name)

    def leaf(self, tensor: Tensor, here: Site = NOWHERE) -> Leaf:
        """Return the record of a leaf; create it if there is none."""
        key = id(tensor)
        found = self.leaves.get(key)
        if found is not None and found.ref() is tensor:
            return found
        if not here.line:
            origin = self.origin(tensor)
            here = NOWHERE if origin is None else origin.site
        found = Leaf(
            weakref.ref(tensor, partial(forget_dead, self.leaves, key)),
            here,
            tuple(tensor.shape) if has_numbers(tensor) else (),
            is_parameter=isinstance(tensor, torch.nn.Parameter),
            optimizers_before=len(self.optimizers),
        )
        self.leaves[key] = found
        if address := address_of(tensor):
            self.leaf_ids[address] = key
        return found

    def plain_container(self, parameter: Tensor | None = None) -> Site | None:
        """Return the line that puts layers into a module's plain list or dict, where PyTorch does not find them."""
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


def forget_dead(store: dict[int, Any], key: int, ref: Any) -> None:
    """Forget the record of a deleted tensor, whose id may be reused."""
    known = store.get(key)
    if known is not None and known.ref is ref:
        del store[key]


def in_order(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of an operation in their order, that by the name of `input`, the first of most, first."""
    return (*args, *(kwargs[name] for name in sorted(kwargs, key="input".__ne__))) if kwargs else args


def tensors_in(values: tuple[Any, ...]) -> list[Tensor]:
    """Return the tensors among the arguments of an operation, also those in lists and tuples."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [part for part in value if isinstance(part, Tensor)]
    return found


def site_of_graph_argument() -> Site:
    """Return the line that passed a number with a graph to the running function, or NOWHERE."""
    frame = user_frame(sys._getframe(1))
    names = () if frame is None else frame.f_code.co_varnames[: frame.f_code.co_argcount]
    for name in names:
        given = frame.f_locals.get(name)  # type: ignore[union-attr]
        entry = origin_of(node_of(given)) if isinstance(given, Tensor) and given.numel() == 1 else None
        if entry is not None:
            return outermost_call_with([given], [entry.site.line])
    return NOWHERE


def outermost_holder(tensor: Tensor) -> Site | None:
    """Return the outermost line of the user's code that holds this tensor in a variable or a tuple."""
    chosen = None
    for frame in user_frames():
        for value in list(frame.f_locals.values()):
            if value is tensor or (isinstance(value, tuple) and any(part is tensor for part in value)):
                chosen = site_of(frame)
    return chosen
