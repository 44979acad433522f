"""Where numbers leave the graph: in a step, a detach(), a block without gradients, a number, an array."""

from typing import Any

import numpy as np
import torch

from lab.watch import differences, fixes, operations, shapes, values
from lab.watch.sites import NOWHERE, Site, call_of_shared, caller_of_function, line_in_function, site
from lab.watch.tracks import CutRecord, leaves_of

Tensor = torch.Tensor
COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
STEPS = frozenset(("argmax", "argmin", "argsort", "isclose", "equal", "logical_not", "logical_and", "logical_or"))
STEPS |= {"__bool__", *COMPARED, *(f"__{name}__" for name in COMPARED)}
CASTS = frozenset(["float", "double", "long", "int", "bool", "to", "type", "half", "bfloat16", "byte"])
NUMBERS = frozenset(["item", "tolist", "__float__", "__int__"])
ARRAYS = frozenset(("numpy", "__array__"))
FACTORIES = frozenset(("tensor", "as_tensor", "from_numpy"))
PRODUCTS = frozenset(["matmul", "__matmul__", "mm", "mv", "__rmul__"])  # of data by a parameter
MAX_CUTS = 4  # walks of the graph for one place that cuts it


def used(watcher: Any, operand: Tensor) -> None:
    origin = watcher.origin(operand)
    if origin is not None and origin.cut is not None:
        origin.cut.used = True
        origin.cut.user = origin.cut.user if origin.cut.user.line else site(4)


def ended(watcher: Any, name: str, operands: list[Tensor], result: Tensor, args: tuple[Any, ...]) -> None:
    """A result has no graph: maybe it was cut off here, maybe an operand was before."""
    here = site(4)
    if name in CASTS and len(operands) == 1 and operands[0].requires_grad and not torch.is_grad_enabled():
        name = "cast"
    cut: CutRecord | None = None
    if name in FACTORIES:
        cut = cut_of_value(watcher, args[0] if args else None)
    elif not (name.endswith("_like") or name.startswith("new_")):  # these take a shape, and no numbers
        for operand in operands:
            origin = watcher.origin(operand)
            if origin is not None and origin.cut is not None:
                cut = origin.cut
                break
        block = watcher.grad_modes[-1][1] if watcher.grad_modes else NOWHERE
        if block.line and block not in watcher.serving and any(map(frozen_parameter, operands)):
            watcher.serving[block] = line_in_function(block)
        wanted = next((operand for operand in operands if operand.requires_grad), None)
        if wanted is not None:
            new = cut_off(watcher, name, here, operands, result)
            cut = new if cut is None or cut.kind == new.kind or operands[0] is wanted else cut
    if cut is None and operands and not result.requires_grad:
        # Where numbers came from matters for integers and for constants: the first operand that was made, not given
        first = watcher.origin(operands[-1 if name in PRODUCTS else 0])
        if first is not None and name not in CASTS:
            here = first.site
    if name == "softmax":
        watcher.callers.setdefault(site(4), set()).add(caller_of_function())
    elif name in operations.DRAWS and operands:
        operations.drawn(watcher, name, operands[0])
    if name in values.DANGEROUS and result.is_floating_point():
        values.danger(watcher, name, None, site(4), operands, result)
    elif name in shapes.EQUAL:
        shapes.hits(watcher, name, site(4), operands, result)
    differences.look(watcher, name, args, here)
    watcher.remember(result, here, cut, name)
    if name in shapes.ADDS_A_DIMENSION and result.dim() == operands[0].dim() + 1 and result.shape[-1] == 1:
        watcher.origin(result).column = site(4)


def cut_off(watcher: Any, name: str, here: Site, operands: list[Tensor], result: Tensor) -> CutRecord:
    """A tensor that requires gradients gave one that does not."""
    if name in ("detach", "detach_", "data"):
        kind = "detach"
    elif name in STEPS or not (result.is_floating_point() or result.is_complex()):
        kind = "step"
    elif not torch.is_grad_enabled():
        kind = "update" if any(map(has_gradient, operands)) and is_update(operands) else "no_grad"
        if kind == "no_grad" and watcher.grad_modes:
            block = watcher.grad_modes[-1][1]
            call = call_of_shared(block)
            kind, here = ("call", call) if call.line else (kind, without_gradients(watcher, block))
    else:
        kind = "detach"
    return keep_cut(watcher, kind, here, name, operands)


def without_gradients(watcher: Any, block: Site) -> Site:
    """The line because of which an operation has no graph: that of the block, or, where the block is right for the
    frozen parameters in another line of it, the line that should stand outside."""
    served = watcher.serving.get(block, 0)
    line = line_in_function(block) if served else 0
    return Site(block.file, line) if line and line != served else block


def is_update(operands: list[Tensor]) -> bool:
    leaf = operands[0]
    return leaf.is_leaf and any(o.shape == leaf.shape and not o.requires_grad for o in operands[1:])


def has_gradient(tensor: Tensor) -> bool:
    return tensor.is_leaf and tensor.requires_grad and tensor.grad is not None


def keep_cut(watcher: Any, kind: str, here: Site, name: str, operands: list[Tensor]) -> CutRecord:
    key = (Site(here.file, here.line), kind)
    count = watcher.cut_counts[key] = watcher.cut_counts.get(key, 0) + 1
    cut: CutRecord | None = watcher.cuts.get(key)
    if cut is None:
        cut = watcher.cuts[key] = CutRecord(kind, here, name)
    watcher.last_cut += 1
    cut.last = watcher.last_cut
    if count <= MAX_CUTS:
        ids: set[int] = set(cut.leaves)
        for operand in operands:
            if operand.grad_fn is not None:
                ids.update(map(id, leaves_of(operand.grad_fn)))
            elif operand.requires_grad:
                ids.add(id(operand))
        cut.leaves = frozenset(ids)
    return cut


def left(watcher: Any, name: str, tensor: Tensor, result: Any) -> None:
    """A tensor gave a number or an array."""
    here = site(3)
    origin = watcher.origin(tensor)
    if tensor.requires_grad:
        cut = keep_cut(watcher, "numpy" if name in ARRAYS else "number", here, name, [tensor])
        if name in NUMBERS and isinstance(result, float):
            turn, before = watcher.numbers.get(here, (-1, 0.0))
            watcher.numbers[here] = watcher.turn, result + (before if turn == watcher.turn else 0.0)
    elif origin is not None and origin.cut is not None:
        cut = (
            origin.cut
            if name in NUMBERS and origin.cut.kind != "detach"
            else CutRecord("numpy" if name in ARRAYS else "number", here, name, origin.cut.leaves)
        )
    else:
        return
    if isinstance(result, np.ndarray):
        watcher.last_numpy = cut
    for value in np.ravel(result)[:8]:
        watcher.items.append((float(value), cut))


def cut_of_value(watcher: Any, value: Any) -> CutRecord | None:
    """The cut through which a number came that is put into a tensor."""
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor) and value[0].requires_grad:
        return keep_cut(watcher, "number", site(5), "tensor", list(value))
    if isinstance(value, Tensor):
        origin = watcher.origin(value)
        return origin.cut if origin else None
    if isinstance(value, (np.ndarray, np.generic)) and watcher.last_numpy is not None:
        return watcher.last_numpy  # type: ignore[no-any-return]
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, (float, np.generic)):
        for number, cut in reversed(watcher.items):
            if number == value:
                return cut  # type: ignore[no-any-return]
    return None


def forced(watcher: Any, tensor: Tensor) -> None:
    """A tensor that came out of a cut is said to require gradients."""
    origin = watcher.origin(tensor)
    if origin is not None and origin.cut is not None and tensor.numel() == 1:
        origin.cut.used = True


def loss_without_graph(watcher: Any, loss: Tensor, here: Site) -> None:
    """backward() from a leaf: it teaches nothing if its number came out of a graph."""
    origin = watcher.origin(loss)
    if loss.requires_grad and origin is not None and origin.cut is not None:
        watcher.say(*of_cut(origin.cut, here))


def of_cut(cut: Any, here: Site) -> tuple[int, Site, str, str]:
    """The failure behind a loss without a graph: its number, its line, the evidence, the fix if it is not the usual."""
    return (*cause(cut, f"backward() in line {here.line} has no graph to go through: "), advice(cut))


def cause(cut: Any, begin: str) -> tuple[int, Site, str]:
    """The number of the failure that cut a graph off, its line, and a sentence that goes on from `begin`."""
    if cut.kind == "step":
        return 21, cut.site, f"{begin}{cut.name} in this line gives steps, and no gradient passes a step."
    if cut.kind == "number" and cut.name in FACTORIES:
        return 4, cut.site, f"{begin}{cut.name}() in this line copies numbers into a new tensor, without their graph."
    if cut.kind == "number":
        return 13, cut.site, f"{begin}{cut.name} in this line turned the tensor into a plain number."
    if cut.kind == "numpy":
        return 13, cut.site, f"{begin}the numbers went through NumPy in this line."
    if cut.kind == "no_grad":
        return 12, cut.site, f"{begin}{cut.name} ran while gradients were switched off here."
    if cut.kind == "call":
        return 4, cut.site, f"{begin}this line calls a function that runs without gradients, as other lines do, too."
    if cut.kind == "update":
        return 4, cut.site, f"{begin}this line replaced a parameter by a new tensor while gradients were off."
    return 11, cut.site, f"{begin}{cut.name} in this line cut it off."


def advice(cut: Any) -> str:
    """What to do about a cut; "" for the usual."""
    if cut.kind == "number":
        return fixes.KEEP_THE_GRAPH if cut.name in FACTORIES else fixes.NO_ITEM
    return {"detach": fixes.NO_DETACH, "update": fixes.STEP_IN_PLACE}.get(cut.kind, "")


def frozen_parameter(tensor: Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter) and not tensor.requires_grad
