"""Record what operations save for their backward step, and find what wrote to it since: also past PyTorch's version
counter, through `.data` or in memory that a tensor shares with NumPy."""

from collections.abc import Iterator
from contextlib import suppress

import torch
from torch import Tensor

from lab.watch.graph import GraphNode, kind, saved_by, walk
from lab.watch.records import InPlaceWrite, NodeOrigin, SavedTensor, storage_of, version_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site

MAX_NUMBERS = 8_192  # of a tensor that is copied
MAX_COPIED = 4_000_000  # numbers in one iteration
MAX_INNER = 30  # nodes of one operation
COMPARED = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64))
# What nodes use only the shape or the sign of, and a batch norm only in eval mode
UNUSED = frozenset(f"{name}_saved_self" for name in ("Threshold", "Abs", "Gather", "NllLoss", "NllLoss2D"))
UNUSED |= {"Relu_saved_result", "MaxPool2DWithIndices_saved_self", "_saved_running_mean", "_saved_running_var"}


def record(run: WatchedRun, entry: NodeOrigin, node: GraphNode) -> None:
    """Record the tensors that an operation saved, with a copy of the small ones in the iterations that are checked."""
    clock = run.clock
    for key, tensor in () if clock.hidden_saves else saved_tensors(node):
        copied = clock.inspect_closely and tensor.numel() <= MAX_COPIED - clock.copied and is_comparable(tensor)
        clock.copied += tensor.numel() * copied
        copy = tensor.detach().clone() if copied else None
        entry.saved[key] = SavedTensor(tuple(tensor.shape), version_of(tensor), storage_of(tensor), copy)


def saved_tensors(node: GraphNode) -> Iterator[tuple[tuple[int, str], Tensor]]:
    """Yield what the nodes of an operation saved, each tensor with the place of its node and its kind and name."""
    for place, inner in enumerate(walk(node, most=MAX_INNER, unseen=True)):
        with suppress(RuntimeError):  # freed, or PyTorch has seen a write
            saved = saved_by(inner)
            of = kind(inner) if saved else ""
            for name, tensor in saved.items():
                yield (place, name if name in UNUSED else of + name), tensor


def is_comparable(tensor: Tensor) -> bool:
    """Return whether a tensor's numbers are there and few, in memory that no other process writes to."""
    known = tensor.layout is torch.strided and tensor.dtype in COMPARED and 0 < tensor.numel() <= MAX_NUMBERS
    return known and tensor.untyped_storage().size() > 0 and not tensor.is_shared()  # type: ignore[no-untyped-call]


def writes_since(run: WatchedRun, entry: NodeOrigin, storage: int) -> list[InPlaceWrite]:
    """Return the writes to memory since an operation: it saved a tensor there, which keeps the memory."""
    return [write for write in run.tensors.writes if write.storage == storage and write.nodes >= entry.node_number]


def check(run: WatchedRun, entry: NodeOrigin, node: GraphNode, here: Site) -> None:
    """Report numbers that the coming backward pass needs and that are no longer those that an operation saved."""
    copies = {key: kept.copy for key, kept in entry.saved.items() if kept.copy is not None and key[1] not in UNUSED}
    for key, now in saved_tensors(node) if copies else ():
        known = key in copies and is_comparable(now) and now.shape == copies[key].shape
        if not known or torch.allclose(now, copies[key], rtol=1e-4, equal_nan=True):
            continue
        lines = {write.site.whole_line for write in writes_since(run, entry, storage_of(now))}
        saver = f"{entry.name} in line {entry.site.line}"
        evidence = f"Numbers that {saver} had saved changed between the forward pass and backward() in this line."
        if len(lines) == 1:
            evidence = f"This line changed numbers that {saver} had saved for backward() in line {here.line}."
        evidence += " PyTorch did not see the write, as through `.data` or NumPy, and computes with the new ones."
        run.report(1, lines.pop() if len(lines) == 1 else here, evidence)
        return
