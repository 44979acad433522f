"""Record where values leave the graph: at a step function, detach(), a no_grad block, a number or an array."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.watch import advice, operations, values
from lab.watch.graph import leaves_of, node_of, origin_of
from lab.watch.onlooker import Args
from lab.watch.records import CutRecord, NodeOrigin
from lab.watch.run import Report, WatchedRun
from lab.watch.sites import Site, is_library, outer_frame, site, site_of, user_frame

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
STEPS = frozenset(("argmax", "argmin", "argsort", "isclose", "equal", "logical_not", "logical_and", "logical_or"))
STEPS |= {"__bool__", *COMPARISONS, *(f"__{name}__" for name in COMPARISONS)}
CASTS = frozenset(["float", "double", "long", "int", "bool", "to", "type", "half", "bfloat16", "byte"])
NUMBERS = frozenset(["item", "tolist", "__float__", "__int__"])
ARRAYS = frozenset(("numpy", "__array__"))
FACTORIES = frozenset(("tensor", "as_tensor", "from_numpy"))
PRODUCTS = frozenset(["matmul", "__matmul__", "mm", "mv", "__rmul__"])  # the parameter is the last operand
GRAD_MODE_FILE = torch.no_grad.__exit__.__code__.co_filename
MAX_CUTS = 4  # graph walks for one line that cuts the graph


def note_use(run: WatchedRun, entry: NodeOrigin, operand: Tensor, operands: list[Tensor]) -> None:
    """Note that an operation used a tensor that came out of a cut."""
    origin = run.origin(operand)
    if origin is not None and origin.cut is not None:
        cut = entry.cut = origin.cut
        cut.used = True
        entries = [origin_of(node_of(other)) for other in operands] if cut.operands else []
        cut.bypassed |= any(other is not None and other.node_number in cut.operands for other in entries)


def note_no_graph(run: WatchedRun, name: str, operands: list[Tensor], result: Tensor, args: Args) -> None:
    """Record a result without a graph: it was cut off here, or an operand was before."""
    here = site()
    cut: CutRecord | None = None
    if name in FACTORIES:
        cut = cut_of_value(run, args[0] if args else None)
    elif not (name.endswith("_like") or name.startswith("new_")):  # these take only a shape, no values
        cut = cut_of_operands(run, name, here, operands, result)
    if cut is None and operands and not result.requires_grad:
        # Findings about integers and constants name the line that made the values, not the one that passes them on;
        # a copy of floats is a tensor of its own, which may be asked for gradients
        first = run.origin(operands[-1 if name in PRODUCTS else 0])
        if first is not None and name not in CASTS and not (name == "clone" and result.is_floating_point()):
            here = first.site
    if name in values.FIXES and result.is_floating_point():
        values.note_danger(run, name, None, operands, result)
    logits = run.origin(operands[0]) if name in operations.LOGIT_LOSSES and operands else None
    if logits is not None:
        operations.check_logits(run, name, site(), logits.name, logits.site)
    run.remember_origin(result, here, cut, name)


def cut_of_operands(run: WatchedRun, name: str, here: Site, operands: list[Tensor], result: Tensor) -> CutRecord | None:
    """Return the cut behind a result without a graph: an earlier one of its operands, or a new one in this line."""
    known = (origin.cut for operand in operands if (origin := run.origin(operand)) is not None and origin.cut)
    cut = next(known, None)
    wanted = next((operand for operand in operands if operand.requires_grad), None)
    if wanted is None:
        return cut
    kind = "step" if name in STEPS or not (result.is_floating_point() or result.is_complex()) else "detach"
    if name not in ("detach", "detach_", "data") and kind != "step" and not torch.is_grad_enabled():
        kind, (where, function) = "no_grad", run.cuts.switched_off
        if is_update(operands):
            kind = "update"
        elif where:
            here, name = where, function or name
    new = update_cut(run, kind, here, name, operands)
    if cut is not None:
        cut.used = True
    return new if cut is None or cut.kind == new.kind or operands[0] is wanted else cut


def note_grad_mode(run: WatchedRun, enabled: bool) -> None:
    """Record the line that switches gradients off: the `with`, the decorator of the called function, or the switch.
    A block that ends only restores what was before it."""
    if enabled or not torch.is_grad_enabled():
        return
    frame, ends = outer_frame(), False
    while frame.f_code.co_filename == GRAD_MODE_FILE and frame.f_back is not None:
        ends |= frame.f_code.co_name == "__exit__"
        frame = frame.f_back
    if ends:
        return
    code, decorated = frame.f_code, frame.f_code.co_name == "decorate_context"
    function = getattr(frame.f_locals.get("func"), "__code__", None) if decorated else None
    if function is not None:
        run.cuts.switched_off = Site(function.co_filename, function.co_firstlineno), ""
    else:
        name = code.co_name if is_library(code.co_filename) and not decorated else ""
        run.cuts.switched_off = site_of(user_frame(frame)), name


def is_update(operands: list[Tensor]) -> bool:
    """Return whether an operation computes a parameter's new value: a leaf with a tensor of its shape."""
    leaf = operands[0]
    learns = any(o.is_leaf and o.requires_grad and o.grad is not None for o in operands)
    return learns and leaf.is_leaf and any(o.shape == leaf.shape and not o.requires_grad for o in operands[1:])


def update_cut(run: WatchedRun, kind: str, here: Site, name: str, operands: list[Tensor]) -> CutRecord:
    """Count a cut at this line, and add the leaves behind its operands to its record."""
    cut = run.cuts.lines.setdefault((here.whole_line, kind), CutRecord(kind, here, name))
    run.clock.cuts += 1
    cut.count, cut.last_number = cut.count + 1, run.clock.cuts
    if cut.count <= MAX_CUTS:
        node = node_of(operands[0])
        source = origin_of(node)
        if source is not None:
            behind = (origin_of(other) for other, _ in node.next_functions)
            cut.operands = frozenset(entry.node_number for entry in behind if entry is not None) - {0}
        ids: set[int] = set(cut.leaves)
        for operand in operands:
            if operand.grad_fn is not None:
                ids.update(map(id, leaves_of(operand.grad_fn)))
            elif operand.requires_grad:
                ids.add(id(operand))
        cut.leaves = frozenset(ids)
    return cut


def note_number(run: WatchedRun, name: str, tensor: Tensor, result: Any) -> None:
    """Record that a tensor was turned into a number or an array."""
    here = site()
    kind = "numpy" if name in ARRAYS else "number"
    origin = run.origin(tensor)
    if tensor.requires_grad:
        cut = update_cut(run, kind, here, name, [tensor])
    elif origin is not None and origin.cut is not None:
        same = name in NUMBERS and origin.cut.kind != "detach"
        line = (here.whole_line, kind)
        cut = origin.cut if same else run.cuts.lines.setdefault(line, CutRecord(kind, here, name, origin.cut.leaves))
    else:
        return
    if isinstance(result, np.ndarray):
        run.cuts.last_numpy = cut
    for value in np.ravel(result)[:8]:
        run.cuts.numbers.append((float(value), cut))


def cut_of_value(run: WatchedRun, value: Any) -> CutRecord | None:
    """Return the cut that a number came through before it was put into a tensor, or None."""
    parts = [part for part in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(part, Tensor)]
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, Tensor):
        if value.requires_grad:
            return update_cut(run, "number", site(), "tensor", parts or [value])
        return origin.cut if (origin := run.origin(value)) else None
    if isinstance(value, (np.ndarray, np.generic)) and run.cuts.last_numpy is not None:
        return run.cuts.last_numpy
    return run.cut_of_number(float(value)) if isinstance(value, (float, np.generic)) else None


def loss_without_graph(run: WatchedRun, loss: Tensor, here: Site) -> None:
    """Report backward() from a leaf whose number was computed: it trains nothing."""
    origin = run.origin(loss)
    if not loss.requires_grad or origin is None:
        return
    if origin.cut is not None:
        run.report(*diagnose_cut(origin.cut, here))
    elif origin.forced_at and origin.name not in FACTORIES:
        evidence = f"The result of {origin.name} had no graph when requires_grad was set here: no parameter is reached."
        run.report(4, origin.forced_at, evidence, advice.ASK_FOR_GRADIENTS)


def diagnose_cut(cut: CutRecord, here: Site) -> Report:
    """Return the failure behind a loss without a graph."""
    return report_of(cut, f"backward() in line {here.line} has no graph to go through: {{}}")


CAUSES = {  # kind of cut, or a form of it -> failure, sentence, fix
    "detach": (11, "{} in this line cuts the graph.", advice.NO_DETACH),
    "step": (21, "{} in this line is a step function, and no gradient passes through it.", ""),
    "number": (13, "{} in this line turned the tensor into a plain number.", ""),
    "derivative": (4, "{}() in this line gives numbers without a graph.", advice.CREATE_GRAPH),
    "copy": (4, "{}() in this line copies numbers into a new tensor, without their graph.", advice.KEEP_THE_GRAPH),
    "numpy": (13, "the numbers went through NumPy in this line.", ""),
    "no_grad": (12, "{} ran while gradients were switched off here.", ""),
    "sample": (12, "{} ran while gradients were switched off here.", advice.DRAW_WITH_GRADIENT),
    "update": (4, "this line replaced a parameter by a new tensor while gradients were off.", advice.STEP_IN_PLACE),
}


def report_of(cut: CutRecord, evidence: str) -> Report:
    """Return the failure of a cut, with its line and fix. {} in the evidence stands for what the line did."""
    form = "copy" if cut.kind == "number" and cut.name in FACTORIES else cut.kind
    number, sentence, advice = CAUSES["sample" if form == "no_grad" and cut.name == "sample" else form]
    return number, cut.site, evidence.format(sentence.format(cut.name)), advice
