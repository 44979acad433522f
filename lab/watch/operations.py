"""Inspect each operation whose result has a graph, by its name."""

from typing import Any

import torch

from lab.watch import advice, dead_units, differences, shapes, values
from lab.watch.onlooker import Look
from lab.watch.records import VIEWS, NodeOrigin, kind, node_of, origin_of, skip
from lab.watch.run import Report, WatchedRun
from lab.watch.sites import NOWHERE, Site, is_library, outer_frame, site

Tensor = torch.Tensor
RELUS = frozenset(("relu", "relu_"))
ACTIVATIONS = RELUS | {"softmax", "sigmoid", "tanh"}
NORMALIZATIONS = frozenset(("softmax", "sigmoid"))
LOGIT_LOSSES = frozenset(("cross_entropy", "binary_cross_entropy_with_logits"))
NORMALIZED_LOSSES = {"nll_loss": "LogSoftmax", "binary_cross_entropy": "Sigmoid"}  # loss -> the activation before it
JOINS = frozenset(("Cat", "Stack", "Clamp", "ClampMin", "ClampMax", "Index"))
SUMS_OF_LOSSES = frozenset(("add", "__add__", "__radd__", "sub", "__sub__"))


def inspect(run: WatchedRun, entry: NodeOrigin, operands: list[Tensor], result: Tensor, given: tuple[Any, ...]) -> None:
    """Run the checks for an operation whose result has a graph, by its name; `given` are its arguments, in order."""
    name, closely = entry.name, run.clock.inspect_closely
    differences.note_finite_difference(run, name, given, entry.site)
    if name in values.FIXES:
        values.note_danger(run, name, entry, operands, result)
    if name in ACTIVATIONS and closely:
        entry.module_site = layer_site(run)
        if name in RELUS:
            dead_units.measure(run, entry, result)
    elif closely and (name in LOGIT_LOSSES or name in NORMALIZED_LOSSES):
        check_normalization(run, entry, operands)
    if name in values.CHOOSERS:
        values.note_masked_danger(run, entry, operands, result)
    if run.numbers.pairs or name in shapes.PAIR_LOSSES or name in shapes.DIFFERENCES or name in shapes.PRODUCTS:
        shapes.check_shapes(run, entry, operands, result)
    if name in SUMS_OF_LOSSES and result.numel() == 1:
        numbers = [value for value in given[:2] if isinstance(value, float) and value]
        entry.cut = run.cut_of_number(numbers[0]) if numbers else entry.cut


def layer_site(run: WatchedRun) -> Site:
    """Return the line that made the running layer if one of PyTorch's containers called it, or NOWHERE."""
    frame, inner, contained = outer_frame(), None, False
    while frame is not None and is_library(frame.f_code.co_filename):
        this = frame.f_locals.get("self")
        if isinstance(this, torch.nn.Module):
            inner = inner or this
            contained = contained or isinstance(this, torch.nn.Sequential)
        frame = frame.f_back  # type: ignore[assignment]
    return run.tensors.modules.get(inner, NOWHERE) if contained and inner is not None else NOWHERE


def check_normalization(run: WatchedRun, loss: NodeOrigin, operands: list[Tensor]) -> None:
    """Report a loss that expects logits, or one normalization, and gets values normalized once too often."""
    node, own = skip(operands[0].grad_fn, VIEWS | JOINS), None
    if loss.name in NORMALIZED_LOSSES:
        own = node if node is not None and kind(node) == NORMALIZED_LOSSES[loss.name] else None
        node = None if own is None else skip(own.next_functions[0][0], VIEWS | JOINS)
    entry, again = origin_of(node), origin_of(own)
    if entry is None:
        return
    where = entry.place
    if again is not None and entry.name == again.name:
        evidence = f"The {entry.name} in this line gets the result of the {entry.name} in line {where.line}, and "
        evidence += f"{loss.name} in line {loss.site.line} needs only one."
        run.report(25, again.site, evidence, f"Leave out this {entry.name}: {loss.name} needs one and gets two.")
    elif entry.name in NORMALIZATIONS:
        report_normalized_logits(run, loss.name, loss.site, entry.name, where)
    elif entry.name in RELUS and loss.name == "cross_entropy":
        share = float((operands[0] == 0).double().mean())
        evidence = f"cross_entropy got logits that went through a relu: {share:.0%} of them are exactly 0, and no "
        evidence += "gradient passes there."
        run.report(14, where, evidence, advice.NO_RELU)


def report_normalized_logits(run: WatchedRun, loss: str, loss_site: Site, activation: str, where: Site) -> None:
    """Report a loss that expects logits and gets normalized values."""
    evidence = f"{loss} in line {loss_site.line} got the result of a {activation}, made here, and another one follows "
    evidence += "it: give the loss logits."
    fix = f"Give `{loss}` what the {activation} gets. To look at probabilities, compute them separately."
    run.report(25, where, evidence, fix)


def read_gradient(run: WatchedRun, tensor: Tensor) -> Look:
    """Look at a read of .grad. If it is None, report that the tensor is the result of an operation; keep why a leaf has
    none, in case that ends the script."""
    gradient = yield
    if gradient is not None:
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
    if entry is None or not entry.site.line or tensor.retains_grad:
        return
    leaves = (run.tensors.leaves.get(id(getattr(other, "variable", None))) for other, _ in node.next_functions)
    made_there = any(leaf is not None and leaf.site.line == entry.site.line for leaf in leaves)
    where, read, made = reader, "here", f"line {entry.site.line}"
    if made_there:
        where, read, made = entry.site, f"in line {reader.line}", "this line"
    evidence = f".grad is read {read}, and it is None: the tensor is the result of {entry.name} in {made}, not a leaf."
    run.report(5, where, evidence)
