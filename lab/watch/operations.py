"""What is looked at when an operation with a graph runs, by its name."""

import itertools
import re
import sys
from collections import deque
from pathlib import Path
from typing import Any

import torch

from lab.watch import differences, fixes, shapes, values
from lab.watch.order import of_log_probabilities
from lab.watch.sites import NOWHERE, Site, caller_of_function, is_library, line_that_keeps, outside, site, user_frames
from lab.watch.tracks import VIEWS, Made, before_views, kind, leaves_of, made, node_of, walk

Tensor = torch.Tensor
RELUS = frozenset(("relu", "relu_"))
ACTIVATIONS = RELUS | {"softmax", "sigmoid", "tanh"}
# A loss, and what it is given: logits, or what has gone through one activation of its own
NORMALIZERS = {
    "cross_entropy": "",
    "binary_cross_entropy_with_logits": "",
    "nll_loss": "LogSoftmax",
    "binary_cross_entropy": "Sigmoid",
}
DRAWS = frozenset(("sum", "multinomial"))  # a distribution divides its probabilities by their sum
JOINS = frozenset(("Cat", "Stack", "Clamp", "ClampMin", "ClampMax", "Index"))
SUMS_OF_LOSSES = frozenset(("add", "__add__", "__radd__", "sub", "__sub__"))
GAIN = re.compile(r"adv|reward|return|gain|gae", re.I)
DISCOUNT = 0.8  # the least factor of what comes later, in a target that is made of the next prediction
MAX_MULTIPLES = 100  # of one item()


def operation(watcher: Any, entry: Made, operands: list[Tensor], result: Tensor, args: Any, kwargs: Any) -> None:
    """Look at an operation with a graph, by its name."""
    name = entry.name
    differences.look(watcher, name, args, entry.site)
    entry.likely = in_log_prob()
    if name in shapes.PRODUCTS:
        weighted(watcher, entry, operands, args)
    if name in values.DANGEROUS:
        values.danger(watcher, name, entry, entry.site, operands, result)
    if name == "softmax":
        watcher.callers.setdefault(entry.site, set()).add(caller_of_function())
    elif name in DRAWS:
        drawn(watcher, name, operands[0])
    if name in ACTIVATIONS and watcher.close:
        entry.module = layer(watcher)
        if name in RELUS:
            sample_relu(watcher, entry, result)
    elif name in NORMALIZERS and watcher.close:
        twice_normalized(watcher, entry, operands)
    if name in values.CHOOSERS:
        values.behind_choice(watcher, entry, operands, result)
    if name in shapes.DIFFERENCES or name in shapes.PAIR_LOSSES:
        bootstrapped(watcher, operands)
    if watcher.wide or name in shapes.PAIR_LOSSES or name in shapes.DIFFERENCES or name in shapes.PRODUCTS:
        shapes.shapes(watcher, entry, operands, result)
    if name in SUMS_OF_LOSSES and result.numel() == 1:
        added(watcher, entry, operands, args)


def weighted(watcher: Any, entry: Made, operands: list[Tensor], args: Any) -> None:
    """A factor with a sign: a negative number, or the gain by which a log-probability is weighted."""
    factor = next((value for value in args[:2] if isinstance(value, (int, float))), 1)
    entry.negative = factor < 0
    entry.discount = DISCOUNT <= factor < 1
    if len(operands) != 2:
        return
    for operand, other in (operands, operands[::-1]):
        if not other.requires_grad and operand.grad_fn is not None and of_log_probabilities(operand):
            entry.gain = GAIN.search(name_in_frame(other)) is not None


def bootstrapped(watcher: Any, operands: list[Tensor]) -> None:
    """A target made of a reward and the discounted next prediction keeps its graph. Looked at in the first turns."""
    if watcher.turn > 1 or watcher.second_order or len(operands) < 2 or not all(o.requires_grad for o in operands[:2]):
        return
    for operand, other in (operands[:2], operands[1::-1]):
        node = before_views(operand.grad_fn)
        if node is None or other.grad_fn is None or kind(node) not in ("Add", "Sub"):
            continue
        terms = [term for term, _ in node.next_functions if term is not None]
        later = made(terms[0]) if len(terms) == 1 else None
        entry = made(node)
        if entry is None or later is None or not discounted(terms[0]):
            continue
        if {id(t) for t in leaves_of(terms[0])} & {id(t) for t in leaves_of(other.grad_fn)}:
            watcher.say(
                11,
                entry.site,
                "The target made here holds the graph of the same network that it is a target "
                "for: the step moves the target too.",
                fixes.FIXED_TARGET,
            )


def discounted(node: Any) -> bool:
    """True if a product on the way back has a factor a little below 1."""
    while node is not None and kind(node) in VIEWS | {"Mul"} and node.next_functions:
        entry = made(node)
        if entry is not None and entry.discount:
            return True
        node = node.next_functions[0][0] or node.next_functions[-1][0]
    return False


def name_in_frame(tensor: Tensor) -> str:
    """The name under which the user's code has a tensor."""
    frames = user_frames()
    return next((name for frame in frames for name, value in list(frame.f_locals.items()) if value is tensor), "")


def added(watcher: Any, entry: Made, operands: list[Tensor], args: Any) -> None:
    """A number that has lost its graph is added to a loss: a step (an accuracy), or an item()."""
    cut = None
    for operand in operands:
        origin = watcher.origin(operand)
        if origin is not None and origin.cut is not None and operand.numel() == 1:
            cut = origin.cut if origin.cut.kind in ("step", "no_grad", "call", "number", "numpy") else cut
    numbers = [value for value in args[:2] if isinstance(value, float)]
    if numbers and numbers[0]:
        cut = next((known for number, known in watcher.items if number == numbers[0] and known.kind == "number"), cut)
        for where, (turn, value) in watcher.numbers.items():
            if cut is None and turn == watcher.turn and value:
                watcher.multiples.setdefault(where, deque(maxlen=MAX_MULTIPLES)).append((entry, numbers[0], value))
    if cut is not None:
        watcher.added[id(entry)] = (entry, cut)


def in_log_prob() -> bool:
    """True inside the `log_prob` of one of PyTorch's distributions."""
    frame = outside(4)
    return frame.f_code.co_name == "log_prob" and is_library(frame.f_code.co_filename)


def layer(watcher: Any) -> Site:
    """Where the layer that runs was made, if a container of PyTorch called it; else nowhere."""
    frame, inner, contained = sys._getframe(3), None, False
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


def drawn(watcher: Any, name: str, operand: Tensor) -> None:
    """The result of a softmax is what multinomial, or a distribution of PyTorch, draws from."""
    if name == "multinomial" or Path(outside(4).f_code.co_filename).parent.name == "distributions":
        node = node_of(operand)
        known = watcher.origin(operand) if node is None else made(node)
        if known is not None and known.name == "softmax":
            watcher.drawn.add(known.site)


def twice_normalized(watcher: Any, loss: Made, operands: list[Tensor]) -> None:
    """A loss that normalizes, or that wants what was normalized once, is given what was normalized before."""
    name = loss.name
    node, own = before_joins(operands[0].grad_fn), None
    if NORMALIZERS[name]:
        own = node if node is not None and kind(node) == NORMALIZERS[name] else None
        node = None if own is None else before_joins(own.next_functions[0][0])
    entry = made(node)
    if entry is None:
        return
    does = kind(node)
    where = entry.module if entry.module.line else entry.site
    if own is not None and does == kind(own):
        again: Any = made(own)
        watcher.say(
            25,
            again.site,
            f"The {does.lower()} in this line gets what went through the {does.lower()} of line {where.line}, and "
            f"{name} in line {loss.site.line} wants one of them.",
            f"Leave out this {does.lower()}: {name} wants one, and it gets two.",
        )
    elif does in ("Softmax", "Sigmoid"):
        watcher.twice.setdefault((25, where.file, where.line), (entry.site, loss.site))
        watcher.say(
            25,
            where,
            f"{name} in line {loss.site.line} got the result of a {does.lower()}, made here, and "
            "another one comes after it: give it logits.",
            f"Give `{name}` what the {does.lower()} gets. To look at probabilities, compute them separately.",
        )
    elif does == "Relu" and name == "cross_entropy":
        share = float((operands[0] == 0).double().mean())
        watcher.say(
            14,
            where,
            f"cross_entropy got logits that went through a relu: {share:.0%} of them are exactly 0, "
            "and no gradient passes there.",
            fixes.NO_RELU,
        )


def before_joins(node: Any) -> Any:
    """The first node on the way back that does more than put parts together, choose some, or clip them."""
    while node is not None and node.next_functions:
        single = kind(node) == "Add" and sum(other is not None for other, _ in node.next_functions) == 1
        if not (single or kind(node) in VIEWS | JOINS):
            break
        node = node.next_functions[0][0]
    return node


def sample_relu(watcher: Any, entry: Made, result: Tensor) -> None:
    """The share of units that are 0 for the whole batch; looked at in a few turns."""
    where = entry.module if entry.module.line else entry.site
    seen = watcher.relu_turns.setdefault(where, set())
    if result.dim() < 2 or result.shape[0] < 4 or watcher.turn in seen:
        return
    seen.add(watcher.turn)
    filled = filled_behind(watcher, result)
    if filled is not None:
        watcher.relu_init[where] = filled
    over = (0, *range(2, result.dim()))
    dead = float((result.detach() == 0).all(dim=over).double().mean())
    watcher.relus.setdefault(where, []).append(dead)


def filled_behind(watcher: Any, result: Tensor) -> Site | None:
    """The line of the user that filled the layer before, where there is one: its bias, or weights that are negative."""
    node = result.grad_fn.next_functions[0][0] if result.grad_fn is not None else None
    found = None
    for other in () if node is None else itertools.islice(walk(node), 1, 4):  # weights can lie behind a transpose
        variable: Any = getattr(other, "variable", None)
        leaf = None if variable is None else watcher.leaves.get(id(variable))
        if leaf is None or not leaf.init.line or leaf.init.line == leaf.site.line:
            continue
        if variable.dim() == 1 and bool(variable.any()):
            return Site(leaf.init.file, leaf.init.line)
        if variable.dim() > 1 and bool((variable <= 0).all()):
            found = Site(leaf.init.file, leaf.init.line)
    return found


def grad_of_result(watcher: Any, tensor: Tensor, node: Any) -> None:
    entry = made(node)
    reader = site(3)
    if entry is not None and entry.site.line:
        made_there = any(
            leaf.site.line == entry.site.line
            for other, _ in node.next_functions
            if (leaf := watcher.leaves.get(id(getattr(other, "variable", None)))) is not None
        )
        kept = line_that_keeps(reader.file, reader.line)
        if kept:
            watcher.say(
                5,
                Site(reader.file, kept),
                f".grad is read in line {reader.line}, and it is None: what is "
                f"kept here is the result of {entry.name} in line {entry.site.line}, no leaf.",
            )
            return
        if not made_there:
            watcher.say(
                5,
                reader,
                f".grad is read here, and it is None: the tensor is the result of {entry.name} in "
                f"line {entry.site.line}, no leaf.",
            )
            return
        watcher.say(
            5,
            entry.site,
            f".grad is read in line {reader.line}, and it is None: the tensor is the result of "
            f"{entry.name} in this line, no leaf.",
        )
