"""Inspect each operation whose result has a graph, by its name."""

import itertools
import re
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lab.watch import differences, fixes, shapes, values
from lab.watch.order import is_log_probability
from lab.watch.records import VIEWS, NodeOrigin, kind, leaves_of, node_of, origin_of, skip_views, walk
from lab.watch.sites import (
    NOWHERE,
    Site,
    caller_of_function,
    is_library,
    line_of_attribute,
    outer_frame,
    site,
    user_frames,
)

Tensor = torch.Tensor
RELUS = frozenset(("relu", "relu_"))
ACTIVATIONS = RELUS | {"softmax", "sigmoid", "tanh"}
# Loss -> the activation it expects before it; "" for logits
NORMALIZERS = {
    "cross_entropy": "",
    "binary_cross_entropy_with_logits": "",
    "nll_loss": "LogSoftmax",
    "binary_cross_entropy": "Sigmoid",
}
SAMPLERS = frozenset(("sum", "multinomial"))  # a distribution calls sum to normalize its probabilities
JOINS = frozenset(("Cat", "Stack", "Clamp", "ClampMin", "ClampMax", "Index"))
CONCATENATIONS = frozenset(("cat", "concat", "concatenate", "stack", "hstack", "vstack"))
SUMS_OF_LOSSES = frozenset(("add", "__add__", "__radd__", "sub", "__sub__"))
GAIN_NAMES = re.compile(r"adv|reward|return|gain|gae", re.I)
MIN_DISCOUNT = 0.8  # smallest discount factor of the next prediction in a target
MIN_JOINED = 5  # iterations whose results are joined
MAX_JOINS = 20  # kept for one line
MAX_MULTIPLES = 100  # kept for one item()


def inspect(watcher: Any, entry: NodeOrigin, operands: list[Tensor], result: Tensor, given: tuple[Any, ...]) -> None:
    """Run the checks for an operation whose result has a graph, by its name; `given` are its arguments, in order."""
    name = entry.name
    differences.note_finite_difference(watcher, name, given, entry.site)
    entry.is_log_prob = inside_log_prob()
    if name in shapes.PRODUCTS:
        note_factors(watcher, entry, operands, given)
    if name in values.DANGEROUS:
        values.note_danger(watcher, name, entry, entry.site, operands, result)
    if name == "softmax":
        watcher.softmax_callers.setdefault(entry.site, set()).add(caller_of_function())
    elif name in SAMPLERS:
        note_sampled_softmax(watcher, name, operands[0])
    if name in ACTIVATIONS and watcher.inspect_closely:
        entry.module_site = layer_site(watcher)
        if name in RELUS:
            measure_dead_units(watcher, entry, result)
    elif name in NORMALIZERS and watcher.inspect_closely:
        check_double_normalization(watcher, entry, operands)
    if name in values.CHOOSERS:
        values.note_masked_danger(watcher, entry, operands, result)
    if name in shapes.DIFFERENCES or name in shapes.PAIR_LOSSES:
        check_bootstrapped_target(watcher, operands)
    if watcher.pairwise_shapes or name in shapes.PAIR_LOSSES or name in shapes.DIFFERENCES or name in shapes.PRODUCTS:
        shapes.check_shapes(watcher, entry, operands, result)
    if name in SUMS_OF_LOSSES and result.numel() == 1:
        note_lost_term(watcher, entry, operands, given)
    if name in CONCATENATIONS and note_join(watcher, entry, entry.site, operands):
        result.grad_fn.register_prehook(partial(note_pass, entry))  # type: ignore[union-attr]


def note_join(watcher: Any, entry: NodeOrigin | None, here: Site, operands: list[Tensor]) -> bool:
    """Note that a script joins results of one line; tell whether it kept them through several iterations."""
    nodes = [skip_views(operand.grad_fn) for operand in operands if len(operands) > 2 and operand.grad_fn is not None]
    sources = [source for node in nodes if (source := origin_of(node)) is not None]
    if len({source.site for source in sources}) != 1:
        return False
    for source in sources:
        source.joined_at = here
    known = watcher.joins.setdefault(here, [])
    kept = len({source.iteration for source in sources}) >= MIN_JOINED and len(known) < MAX_JOINS
    if kept:
        known.append((entry, sources))
    return kept


def note_pass(entry: NodeOrigin, gradients: Any) -> None:
    """Note that a backward pass goes through a node."""
    entry.first_backward = entry.first_backward or 1


def note_factors(watcher: Any, entry: NodeOrigin, operands: list[Tensor], args: Any) -> None:
    """Record the factors of a product: a negative number, a discount, or the gain that weights a log-probability."""
    factor = next((value for value in args[:2] if isinstance(value, (int, float))), 1)
    entry.has_negative_factor = factor < 0
    entry.has_discount = MIN_DISCOUNT <= factor < 1
    if len(operands) != 2:
        return
    for operand, other in (operands, operands[::-1]):
        if not other.requires_grad and operand.grad_fn is not None and is_log_probability(operand):
            entry.has_gain = GAIN_NAMES.search(variable_name(other)) is not None


def check_bootstrapped_target(watcher: Any, operands: list[Tensor]) -> None:
    """Report a target of a reward and the discounted next prediction once a backward pass goes through it (first
    iterations only)."""
    early = watcher.iteration <= 1 and not watcher.second_order
    if not early or len(operands) < 2 or not all(o.requires_grad for o in operands[:2]):
        return
    for operand, other in (operands[:2], operands[1::-1]):
        node = skip_views(operand.grad_fn)
        if node is None or other.grad_fn is None or kind(node) not in ("Add", "Sub"):
            continue
        terms = [term for term, _ in node.next_functions if term is not None]
        later = origin_of(terms[0]) if len(terms) == 1 else None
        entry = origin_of(node)
        if entry is None or later is None or not is_discounted(terms[0]):
            continue
        if {id(t) for t in leaves_of(terms[0])} & {id(t) for t in leaves_of(other.grad_fn)}:
            watcher.hook(node.register_prehook, partial(report_moving_target, watcher, entry))


def report_moving_target(watcher: Any, entry: NodeOrigin, gradients: Any) -> None:
    evidence = "The target made here holds the graph of the network that it is a target for: a step moves "
    watcher.report(11, entry.site, evidence + "the target too.", fixes.FIXED_TARGET)


def is_discounted(node: Any) -> bool:
    """Tell whether a product on the way back has a factor a little below 1."""
    while node is not None and kind(node) in VIEWS | {"Mul"} and node.next_functions:
        entry = origin_of(node)
        if entry is not None and entry.has_discount:
            return True
        node = node.next_functions[0][0] or node.next_functions[-1][0]
    return False


def variable_name(tensor: Tensor) -> str:
    """Return the name of the user's variable that holds a tensor; "" if there is none."""
    frames = user_frames()
    return next((name for frame in frames for name, value in list(frame.f_locals.items()) if value is tensor), "")


def note_lost_term(watcher: Any, entry: NodeOrigin, operands: list[Tensor], args: Any) -> None:
    """Record that a number without its graph is added to a loss: an accuracy, or the result of item()."""
    cut = None
    for operand in operands:
        origin = watcher.origin(operand)
        if origin is not None and origin.cut is not None and operand.numel() == 1:
            known = origin.cut.kind in ("step", "no_grad", "call", "number", "numpy")
            cut = origin.cut if known and origin.cut.name != "multinomial" else cut  # a reward depends on a sample
    numbers = [value for value in args[:2] if isinstance(value, float)]
    if numbers and numbers[0]:
        same = (known for number, known in watcher.recent_numbers if number == numbers[0] and known.kind == "number")
        cut = next(same, cut)
        for where, (iteration, value) in watcher.item_sums.items():
            if cut is None and iteration == watcher.iteration and value:
                watcher.item_multiples.setdefault(where, deque(maxlen=MAX_MULTIPLES)).append((entry, numbers[0], value))
    if cut is not None:
        watcher.lost_term_sums[id(entry)] = (entry, cut)


def inside_log_prob() -> bool:
    """Tell whether `log_prob` of one of PyTorch's distributions is running."""
    frame = outer_frame()
    return frame.f_code.co_name == "log_prob" and is_library(frame.f_code.co_filename)


def layer_site(watcher: Any) -> Site:
    """Return the line that made the running layer if one of PyTorch's containers called it, or NOWHERE."""
    frame, inner, contained = outer_frame(), None, False
    while frame is not None and is_library(frame.f_code.co_filename):
        this = frame.f_locals.get("self")
        if isinstance(this, torch.nn.Module):
            inner = inner or this
            contained = contained or isinstance(this, torch.nn.Sequential)
        frame = frame.f_back  # type: ignore[assignment]
    if inner is None or not contained:
        return NOWHERE
    known = watcher.modules.get(id(inner))
    return known[1] if known is not None and known[0]() is inner else NOWHERE


def note_sampled_softmax(watcher: Any, name: str, operand: Tensor) -> None:
    """Note a softmax whose result multinomial, or one of PyTorch's distributions, samples from."""
    if name == "multinomial" or Path(outer_frame().f_code.co_filename).parent.name == "distributions":
        node = node_of(operand)
        known = watcher.origin(operand) if node is None else origin_of(node)
        if known is not None and known.name == "softmax":
            watcher.sampled_softmaxes.add(known.site)


def check_double_normalization(watcher: Any, loss: NodeOrigin, operands: list[Tensor]) -> None:
    """Report a loss that expects logits, or one normalization, and gets values normalized once too often."""
    name = loss.name
    node, own = skip_joins(operands[0].grad_fn), None
    if NORMALIZERS[name]:
        own = node if node is not None and kind(node) == NORMALIZERS[name] else None
        node = None if own is None else skip_joins(own.next_functions[0][0])
    entry = origin_of(node)
    if entry is None:
        return
    activation = kind(node).lower()
    where = entry.module_site if entry.module_site.line else entry.site
    if own is not None and activation == kind(own).lower():
        again: Any = origin_of(own)
        evidence = f"The {activation} in this line gets the result of the {activation} in line {where.line}, and "
        evidence += f"{name} in line {loss.site.line} needs only one."
        watcher.report(25, again.site, evidence, f"Leave out this {activation}: {name} needs one and gets two.")
    elif activation in ("softmax", "sigmoid"):
        watcher.double_softmaxes.setdefault((25, where.file, where.line), (entry.site, loss.site, activation))
        evidence = f"{name} in line {loss.site.line} got the result of a {activation}, made here, and another one "
        evidence += "follows it: give the loss logits."
        watcher.report(
            25,
            where,
            evidence,
            f"Give `{name}` what the {activation} gets. To look at probabilities, compute them separately.",
        )
    elif activation == "relu" and name == "cross_entropy":
        share = float((operands[0] == 0).double().mean())
        evidence = f"cross_entropy got logits that went through a relu: {share:.0%} of them are exactly 0, and no "
        evidence += "gradient passes there."
        watcher.report(14, where, evidence, fixes.NO_RELU)


def skip_joins(node: Any) -> Any:
    """Return the first node on the way back that does more than join, select or clip values."""
    while node is not None and node.next_functions:
        single = kind(node) == "Add" and sum(other is not None for other, _ in node.next_functions) == 1
        if not (single or kind(node) in VIEWS | JOINS):
            break
        node = node.next_functions[0][0]
    return node


def measure_dead_units(watcher: Any, entry: NodeOrigin, result: Tensor) -> None:
    """Record the share of a relu's units that are 0 for the whole batch, once per iteration."""
    where = entry.module_site if entry.module_site.line else entry.site
    seen = watcher.relu_iterations.setdefault(where, set())
    if result.dim() < 2 or result.shape[0] < 4 or watcher.iteration in seen:
        return
    seen.add(watcher.iteration)
    filled = layer_init_site(watcher, result)
    if filled is not None:
        watcher.relu_init_sites[where] = filled
    over = (0, *range(2, result.dim()))
    dead = float((result.detach() == 0).all(dim=over).double().mean())
    watcher.dead_shares.setdefault(where, []).append(dead)


def layer_init_site(watcher: Any, result: Tensor) -> Site | None:
    """Return the user's line that set a bias, or weights that are all negative, in the layer before; None if unset."""
    node = result.grad_fn.next_functions[0][0] if result.grad_fn is not None else None
    found = None
    for other in () if node is None else itertools.islice(walk(node), 1, 4):  # weights may be transposed first
        variable: Any = getattr(other, "variable", None)
        leaf = None if variable is None else watcher.leaves.get(id(variable))
        if leaf is None or not leaf.init_site.line or leaf.init_site.line == leaf.site.line:
            continue
        if variable.dim() == 1 and bool(variable.any()):
            return Site(leaf.init_site.file, leaf.init_site.line)
        if variable.dim() > 1 and bool((variable <= 0).all()):
            found = Site(leaf.init_site.file, leaf.init_site.line)
    return found


def report_non_leaf_grad(watcher: Any, tensor: Tensor, node: Any) -> None:
    """Report that .grad of the result of an operation is read, which is None."""
    entry, reader = origin_of(node), site()
    if entry is None or not entry.site.line:
        return
    leaves = (watcher.leaves.get(id(getattr(other, "variable", None))) for other, _ in node.next_functions)
    made_there = any(leaf is not None and leaf.site.line == entry.site.line for leaf in leaves)
    where, read, what, made = reader, "here", "the tensor", f"line {entry.site.line}"
    if kept := line_of_attribute(reader.file, reader.line):
        where, read, what = Site(reader.file, kept), f"in line {reader.line}", "the tensor stored here"
    elif made_there:
        where, read, made = entry.site, f"in line {reader.line}", "this line"
    evidence = f".grad is read {read}, and it is None: {what} is the result of {entry.name} in {made}, not a leaf."
    watcher.report(5, where, evidence)
