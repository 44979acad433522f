"""Inspect each operation whose result has a graph, by its name."""

from contextlib import suppress
from itertools import takewhile
from traceback import walk_stack

import torch
from torch import Tensor

from lab.watch import advice, gradient_sizes, shapes, values
from lab.watch.graph import VIEWS, GraphNode, node_of, origin_of, saved_by, skip, walk
from lab.watch.onlooker import Args, Look
from lab.watch.records import NodeOrigin, SavedTensor, storage_of, version_of
from lab.watch.run import Report, WatchedRun
from lab.watch.sites import NOWHERE, Site, is_library, outer_frame, site
from lab.watch.training_events import Act

RELUS = frozenset(("relu", "relu_"))
ACTIVATIONS = RELUS | {"softmax", "sigmoid", "tanh"}
NORMALIZATIONS = frozenset(("softmax", "sigmoid"))
SCORES = RELUS | {"linear", "conv1d", "conv2d", "conv3d", "matmul", "__matmul__", "batch_norm", "layer_norm"}
LOGIT_LOSSES = frozenset(("cross_entropy", "binary_cross_entropy_with_logits"))
MAX_INNER = 30  # nodes of one operation
JOINS = frozenset(("Cat", "Stack", "Clamp", "ClampMin", "ClampMax", "Index"))
SUMS_OF_LOSSES = frozenset(("add", "__add__", "__radd__", "sub", "__sub__"))


def inspect(run: WatchedRun, entry: NodeOrigin, operands: list[Tensor], result: Tensor, given: Args) -> None:
    """Run the checks for an operation whose result has a graph, by its name; `given` are its arguments, in order."""
    name, closely = entry.name, run.clock.inspect_closely
    record_saved(run, entry, result.grad_fn)
    if name in values.FIXES:
        values.note_danger(run, name, entry, operands, result)
    if name in ACTIVATIONS and closely:
        entry.module_site = layer_site(run)
        if name in RELUS:
            gradient_sizes.measure_dead_units(run, entry, result)
    elif closely and name in LOGIT_LOSSES and (logits := origin_of(skip(operands[0].grad_fn, VIEWS | JOINS))):
        check_logits(run, name, entry.site, logits.name, logits.place)
    if name in values.CHOOSERS:
        values.note_masked_danger(run, entry, operands, result)
    if run.numbers.pairs or name in shapes.PAIR_LOSSES or name in shapes.DIFFERENCES or name in shapes.PRODUCTS:
        shapes.check_shapes(run, entry, operands, result)
    if name in SUMS_OF_LOSSES and result.numel() == 1:
        numbers = [value for value in given[:2] if isinstance(value, float) and value]
        entry.cut = run.cut_of_number(numbers[0]) if numbers else entry.cut


def record_saved(run: WatchedRun, entry: NodeOrigin, node: GraphNode) -> None:
    """Record the tensors that the nodes of an operation saved for their backward step."""
    for inner in () if run.clock.hidden_saves else walk(node, most=MAX_INNER, unseen=True):
        with suppress(RuntimeError):  # freed, or PyTorch has seen a write
            for tensor in saved_by(inner).values():
                entry.saved.append(SavedTensor(tuple(tensor.shape), version_of(tensor), storage_of(tensor)))


def layer_site(run: WatchedRun) -> Site:
    """Return the line that made the running layer if one of PyTorch's containers called it, or NOWHERE."""
    frames = (frame for frame, _ in walk_stack(outer_frame()))
    library = takewhile(lambda frame: is_library(frame.f_code.co_filename), frames)
    modules = [this for frame in library if isinstance(this := frame.f_locals.get("self"), torch.nn.Module)]
    contained = any(isinstance(this, torch.nn.Sequential) for this in modules)
    return run.tensors.modules.get(modules[0], NOWHERE) if contained else NOWHERE


def check_logits(run: WatchedRun, loss: str, loss_site: Site, given: str, where: Site) -> None:
    """Report a loss that expects logits, and is given the result of softmax or sigmoid."""
    if given in NORMALIZATIONS:
        evidence = f"{loss} in line {loss_site.line} expects logits, and got the result of the {given} in this line."
        run.report(25, where, evidence)


def check_likelihood(run: WatchedRun, loss: Tensor) -> None:
    """Report an nll_loss below 0 of what a layer or softmax returned: at least one number is above 0, and no
    log-probability is. What is computed by hand may be the logarithm of a density."""
    entry = origin_of(node := skip(loss.grad_fn, VIEWS | {"Mean", "Sum", "Div"}))
    given = origin_of(skip(node.next_functions[0][0])) if entry is not None and entry.name == "nll_loss" else None
    if entry is not None and given is not None and given.name in NORMALIZATIONS | SCORES and loss.item() < 0:
        where = given.place if given.name in NORMALIZATIONS else entry.site
        evidence = f"nll_loss in line {entry.site.line} expects log-probabilities, which are never above 0. It got the "
        run.report(25, where, f"{evidence}result of {given.name}, and the loss here was {loss.item():.3g}.")


def read_gradient(run: WatchedRun, tensor: Tensor) -> Look:
    """Look at a read of .grad. If it is None, report that the tensor is the result of an operation; keep why a leaf has
    none, in case that ends the script."""
    gradient = yield
    if gradient is not None:
        if last := run.events.last(Act.BACKWARD):
            last.read = True
        return
    reader = site()
    if tensor.is_leaf:
        evidence = "The gradient read in this line is None: no backward() has filled it yet, or it was emptied since."
        why: Report = 18, reader, evidence, ""
        origin = run.origin(tensor)
        if origin is not None and not tensor.requires_grad:
            evidence = f"The tensor made here requires no gradient, and line {reader.line} reads one, which is None."
            why = 4, origin.site, evidence, advice.ASK_FOR_GRADIENTS
        run.training.missing_gradient = reader, why
        return
    node = node_of(tensor)
    entry = origin_of(node)
    if entry is None or not entry.site or tensor.retains_grad:
        return
    leaves = (run.tensors.leaves.get(id(getattr(other, "variable", None))) for other, _ in node.next_functions)
    made_there = any(leaf is not None and leaf.site.line == entry.site.line for leaf in leaves)
    evidence = f"Line {reader.line} reads .grad of the result of {entry.name} in line {entry.site.line}: it is no leaf."
    run.report(5, entry.site if made_there else reader, evidence)
