"""Record where values leave the graph: at a step function, detach(), a no_grad block, a number or an array."""

from typing import Any

import numpy as np
import torch

from lab.watch import differences, fixes, operations, shapes, values
from lab.watch.records import CutRecord, leaves_of, node_of, origin_of
from lab.watch.sites import NOWHERE, Site, call_of_shared, caller_of_function, line_in_function, site

Tensor = torch.Tensor
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
STEPS = frozenset(("argmax", "argmin", "argsort", "isclose", "equal", "logical_not", "logical_and", "logical_or"))
STEPS |= {"__bool__", *COMPARISONS, *(f"__{name}__" for name in COMPARISONS)}
CASTS = frozenset(["float", "double", "long", "int", "bool", "to", "type", "half", "bfloat16", "byte"])
NUMBERS = frozenset(["item", "tolist", "__float__", "__int__"])
ARRAYS = frozenset(("numpy", "__array__"))
FACTORIES = frozenset(("tensor", "as_tensor", "from_numpy"))
PRODUCTS = frozenset(["matmul", "__matmul__", "mm", "mv", "__rmul__"])  # the parameter is the last operand
MAX_CUTS = 4  # graph walks for one line that cuts the graph


def note_use(watcher: Any, operand: Tensor, operands: list[Tensor]) -> None:
    """Note that an operation used a tensor that came out of a cut."""
    origin = watcher.origin(operand)
    if origin is not None and origin.cut is not None:
        origin.cut.used = True
        entries = [origin_of(node_of(other)) for other in operands] if origin.cut.operands else []
        origin.cut.bypassed |= any(entry is not None and entry.node_number in origin.cut.operands for entry in entries)
        origin.cut.first_use = origin.cut.first_use if origin.cut.first_use.line else site()


def note_no_graph(watcher: Any, name: str, operands: list[Tensor], result: Tensor, args: tuple[Any, ...]) -> None:
    """Record a result without a graph: it was cut off here, or an operand was before."""
    here = site()
    if name in CASTS and len(operands) == 1 and operands[0].requires_grad and not torch.is_grad_enabled():
        name = "cast"
    cut: CutRecord | None = None
    if name in FACTORIES:
        cut = cut_of_value(watcher, args[0] if args else None)
    elif not (name.endswith("_like") or name.startswith("new_")):  # these take only a shape, no values
        for operand in operands:
            origin = watcher.origin(operand)
            if origin is not None and origin.cut is not None:
                cut = origin.cut
                break
        note_frozen_use(watcher, operands)
        wanted = next((operand for operand in operands if operand.requires_grad), None)
        if wanted is not None:
            new = record_cut(watcher, name, here, operands, result)
            cut = new if cut is None or cut.kind == new.kind or operands[0] is wanted else cut
    if cut is None and operands and not result.requires_grad:
        # Findings about integers and constants name the line that made the values, not the one that passes them on;
        # a copy of floats is a tensor of its own, which may be asked for gradients
        first = watcher.origin(operands[-1 if name in PRODUCTS else 0])
        if first is not None and name not in CASTS and not (name == "clone" and result.is_floating_point()):
            here = first.site
    if name == "softmax":
        watcher.softmax_callers.setdefault(site(), set()).add(caller_of_function())
    elif name in operations.CONCATENATIONS:
        operations.note_join(watcher, None, site(), operands)
    elif name in operations.SAMPLERS and operands:
        operations.note_sampled_softmax(watcher, name, operands[0])
    if name in values.DANGEROUS and result.is_floating_point():
        values.note_danger(watcher, name, None, site(), operands, result)
    elif name in shapes.EQUALITIES:
        shapes.check_accuracy(watcher, name, site(), operands, result)
    differences.note_finite_difference(watcher, name, args, here)
    watcher.remember_origin(result, here, cut, name)
    if name in shapes.DIMENSION_FUNCTIONS and result.dim() == operands[0].dim() + 1 and result.shape[-1] == 1:
        watcher.origin(result).column_site = site()


def note_frozen_use(watcher: Any, operands: list[Tensor]) -> None:
    """Note the first line in a no_grad block that uses frozen parameters: the block is right for them."""
    block = watcher.grad_modes[-1][1] if watcher.grad_modes else NOWHERE
    frozen = any(isinstance(tensor, torch.nn.Parameter) and not tensor.requires_grad for tensor in operands)
    if block.line and block not in watcher.frozen_use_lines and frozen:
        watcher.frozen_use_lines[block] = line_in_function(block)


def record_cut(watcher: Any, name: str, here: Site, operands: list[Tensor], result: Tensor) -> CutRecord:
    """Record that an operand requires gradients and the result does not, with the kind of cut."""
    if name in ("detach", "detach_", "data"):
        kind = "detach"
    elif name in STEPS or not (result.is_floating_point() or result.is_complex()):
        kind = "step"
    elif not torch.is_grad_enabled():
        kind = "update" if is_update(operands) else "no_grad"
        if kind == "no_grad" and watcher.grad_modes:
            block = watcher.grad_modes[-1][1]
            name = watcher.library_blocks.get(block, name)
            call = call_of_shared(block)
            kind, here = ("call", call) if call.line else (kind, no_grad_site(watcher, block))
    else:
        kind = "detach"
    return update_cut(watcher, kind, here, name, operands)


def no_grad_site(watcher: Any, block: Site) -> Site:
    """Return the line to blame for a missing graph: the no_grad block, or, if that block is right for the frozen
    parameters used in it, the line that should stand outside."""
    served = watcher.frozen_use_lines.get(block, 0)
    line = line_in_function(block) if served else 0
    return Site(block.file, line) if line and line != served else block


def is_update(operands: list[Tensor]) -> bool:
    """Tell whether an operation computes a parameter's new value: a leaf with a tensor of its shape."""
    leaf = operands[0]
    learns = any(o.is_leaf and o.requires_grad and o.grad is not None for o in operands)
    return learns and leaf.is_leaf and any(o.shape == leaf.shape and not o.requires_grad for o in operands[1:])


def update_cut(watcher: Any, kind: str, here: Site, name: str, operands: list[Tensor]) -> CutRecord:
    """Count a cut at this line, and add the leaves behind its operands to its record."""
    key = (Site(here.file, here.line), kind)
    count = watcher.cut_repeats[key] = watcher.cut_repeats.get(key, 0) + 1
    cut: CutRecord | None = watcher.cuts.get(key)
    if cut is None:
        cut = watcher.cuts[key] = CutRecord(kind, here, name)
    watcher.cut_count += 1
    cut.last_number = watcher.cut_count
    if count <= MAX_CUTS:
        source = origin_of(node_of(operands[0]))
        if source is not None:
            behind = (origin_of(other) for other, _ in operands[0].grad_fn.next_functions)  # type: ignore[union-attr]
            cut.source = watcher.iteration, source.node_number
            cut.operands = frozenset(entry.node_number for entry in behind if entry is not None) - {0}
        ids: set[int] = set(cut.leaves)
        for operand in operands:
            if operand.grad_fn is not None:
                ids.update(map(id, leaves_of(operand.grad_fn)))
            elif operand.requires_grad:
                ids.add(id(operand))
        cut.leaves = frozenset(ids)
    return cut


def note_number(watcher: Any, name: str, tensor: Tensor, result: Any) -> None:
    """Record that a tensor was turned into a number or an array."""
    here = site()
    origin = watcher.origin(tensor)
    if tensor.requires_grad:
        cut = update_cut(watcher, "numpy" if name in ARRAYS else "number", here, name, [tensor])
        if name in NUMBERS and isinstance(result, float):
            iteration, before = watcher.item_sums.get(here, (-1, 0.0))
            watcher.item_sums[here] = watcher.iteration, result + (before if iteration == watcher.iteration else 0.0)
    elif origin is not None and origin.cut is not None:
        cut = (
            origin.cut
            if name in NUMBERS and origin.cut.kind != "detach"
            else CutRecord("numpy" if name in ARRAYS else "number", here, name, origin.cut.leaves)
        )
    else:
        return
    if isinstance(result, np.ndarray):
        watcher.last_numpy_cut = cut
    for value in np.ravel(result)[:8]:
        watcher.recent_numbers.append((float(value), cut))


def cut_of_value(watcher: Any, value: Any) -> CutRecord | None:
    """Return the cut that a number came through before it was put into a tensor, or None."""
    parts = [value] if isinstance(value, Tensor) else value
    if isinstance(parts, (list, tuple)) and parts and isinstance(parts[0], Tensor) and parts[0].requires_grad:
        return update_cut(watcher, "number", site(), "tensor", list(parts))
    if isinstance(value, Tensor):
        origin = watcher.origin(value)
        return origin.cut if origin else None
    if isinstance(value, (np.ndarray, np.generic)) and watcher.last_numpy_cut is not None:
        return watcher.last_numpy_cut  # type: ignore[no-any-return]
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, (float, np.generic)):
        for number, cut in reversed(watcher.recent_numbers):
            if number == value:
                return cut  # type: ignore[no-any-return]
    return None


def note_forced_gradient(watcher: Any, tensor: Tensor) -> None:
    """Note that requires_grad was set on a single number that came out of a cut."""
    origin = watcher.origin(tensor)
    if origin is not None and origin.cut is not None and tensor.numel() == 1:
        origin.cut.used = True


def loss_without_graph(watcher: Any, loss: Tensor, here: Site) -> None:
    """Report backward() from a leaf whose number came out of a graph: it trains nothing."""
    origin = watcher.origin(loss)
    if loss.requires_grad and origin is not None and origin.cut is not None:
        watcher.report(*diagnose_cut(origin.cut, here))


def diagnose_cut(cut: Any, here: Site) -> tuple[int, Site, str, str]:
    """Return the failure behind a loss without a graph: its number, line, evidence and special fix."""
    return (*cause(cut, f"backward() in line {here.line} has no graph to go through: "), advice(cut))


def number_of(cut: Any) -> int:
    """Return the number of the failure by which a cut kept gradients from parameters or from a term of the loss."""
    if cut.kind == "number" and cut.name in FACTORIES:
        return 4
    return {"step": 21, "number": 13, "numpy": 13, "no_grad": 12, "call": 12}.get(cut.kind, 11)


CAUSES = {
    "step": (21, "{} in this line is a step function, and no gradient passes through it."),
    "copy": (4, "{}() in this line copies numbers into a new tensor, without their graph."),
    "number": (13, "{} in this line turned the tensor into a plain number."),
    "numpy": (13, "the numbers went through NumPy in this line."),
    "no_grad": (12, "{} ran while gradients were switched off here."),
    "call": (4, "this line calls a function without gradients that other lines call too."),
    "update": (4, "this line replaced a parameter by a new tensor while gradients were off."),
}


def cause(cut: Any, begin: str) -> tuple[int, Site, str]:
    """Return the number of the failure that cut off a graph, its line, and a sentence that starts with `begin`."""
    kind = "copy" if cut.kind == "number" and cut.name in FACTORIES else cut.kind
    number, sentence = CAUSES.get(kind, (11, "{} in this line cut it off."))
    return number, cut.site, begin + sentence.format(cut.name)


def advice(cut: Any) -> str:
    """Return what to do about a cut; "" if the usual fix applies."""
    if cut.kind == "number":
        return fixes.KEEP_THE_GRAPH if cut.name in FACTORIES else fixes.NO_ITEM
    if cut.kind == "no_grad" and cut.name == "sample":
        return fixes.DRAW_WITH_GRADIENT
    return {"detach": fixes.NO_DETACH, "update": fixes.STEP_IN_PLACE}.get(cut.kind, "")
