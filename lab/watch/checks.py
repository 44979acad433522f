"""What is looked at while the script runs: operations, writes, backward passes and steps."""

import itertools
import re
import sys
from collections import Counter, deque
from pathlib import Path
from typing import Any

import torch

from lab.watch import depth, differences, rates, shapes, values
from lab.watch.order import cost_sign, policy_uphill, stepped_between
from lab.watch.sites import (
    NOWHERE,
    Site,
    caller_of_function,
    is_library,
    line_that_keeps,
    line_that_names,
    line_with_bare,
    outside,
    site,
    user_frames,
)
from lab.watch.tracks import (
    VIEWS,
    Leaf,
    Made,
    Pass,
    WatchedOptimizer,
    before_views,
    kind,
    leaves_of,
    made,
    node_of,
    walk,
)

Tensor = torch.Tensor
SATURATING = frozenset(("Sigmoid", "Tanh"))
FLAT = frozenset(("Round", "Floor", "Ceil", "Sign", "Trunc", "Bernoulli"))
RELUS = frozenset(("relu", "relu_"))
ACTIVATIONS = RELUS | {"softmax", "sigmoid", "tanh"}
# A loss, and what it is given: logits, or what has gone through one activation of its own
NORMALIZERS = {"cross_entropy": "", "binary_cross_entropy_with_logits": "", "nll_loss": "LogSoftmax",
               "binary_cross_entropy": "Sigmoid"}  # fmt: skip
FACTORIES = frozenset(("tensor", "as_tensor", "from_numpy"))
DRAWS = frozenset(("sum", "multinomial"))  # a distribution divides its probabilities by their sum
JOINS = frozenset(("Cat", "Stack", "Clamp", "ClampMin", "ClampMax", "Index"))
SUMS_OF_LOSSES = frozenset(("add", "__add__", "__radd__", "sub", "__sub__"))
PICKS = frozenset(("Mean", "Sum", "Index", "Gather", "Diagonal"))
EARLY = 10  # turns in which everything is looked at; then one in SAMPLE
SAMPLE = 11  # odd: two places that call backward() in turn are both looked at
MAX_JUMPS = 6  # steps of an optimizer that are measured, at first all and then one in EARLY
MAX_UPHILL = 6
MAX_LISTENED = 3  # backward passes with hooks at their ends
GAIN = re.compile(r"adv|reward|return|gain|gae", re.I)
DISCOUNT = 0.8  # the least factor of what comes later, in a target that is made of the next prediction
MAX_MULTIPLES = 100  # of one item()
MAX_TERMS = 12  # nodes at the end of a loss that are looked at


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
            watcher.say(11, entry.site, "The target made here holds the graph of the same network that it is a target "
                        "for: the step moves the target too.")  # fmt: skip


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
        origin = watcher.origins.get(id(operand))
        if origin is not None and origin.ref() is operand and origin.cut is not None and operand.numel() == 1:
            cut = origin.cut if origin.cut.kind in ("step", "no_grad", "number", "numpy") else cut
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
        known = watcher.origins.get(id(operand)) if node is None else made(node)
        if known is not None and known.name == "softmax":
            watcher.drawn.add(known.site)


def twice_normalized(watcher: Any, loss: Made, operands: list[Tensor]) -> None:
    """A loss that normalizes, or that wants what was normalized once, is given what was normalized before."""
    name = loss.name
    node = before_joins(operands[0].grad_fn)
    if NORMALIZERS[name]:
        node = before_joins(node.next_functions[0][0]) if node is not None and kind(node) == NORMALIZERS[name] else None
    entry = None if node is None else made(node)
    if entry is None:
        return
    does = kind(node)
    where = entry.module if entry.module.line else entry.site
    if does in ("Softmax", "Sigmoid"):
        watcher.twice.setdefault((25, where.file, where.line), (entry.site, loss.site))
        watcher.say(25, where, f"{name} in line {loss.site.line} got the result of a {does.lower()}, made here, and "
                    "another one comes after it: give it logits.")  # fmt: skip
    elif does == "Relu" and name == "cross_entropy":
        share = float((operands[0] == 0).double().mean())
        watcher.say(14, where, f"cross_entropy got logits that went through a relu: {share:.0%} of them are exactly 0, "
                    "and no gradient passes there.")  # fmt: skip


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
            watcher.say(5, Site(reader.file, kept), f".grad is read in line {reader.line}, and it is None: what is "
                        f"kept here is the result of {entry.name} in line {entry.site.line}, no leaf.")  # fmt: skip
            return
        if not made_there:
            watcher.say(5, reader, f".grad is read here, and it is None: the tensor is the result of {entry.name} in "
                        f"line {entry.site.line}, no leaf.")  # fmt: skip
            return
        watcher.say(5, entry.site, f".grad is read in line {reader.line}, and it is None: the tensor is the result of "
                    f"{entry.name} in this line, no leaf.")  # fmt: skip


# Writes


def gradient_of(leaf: Leaf) -> Tensor | None:
    """The gradient that a leaf has, or that autograd.grad() gave for it."""
    parameter = leaf.ref()
    if parameter is not None and parameter.grad is not None:
        return parameter.grad  # type: ignore[no-any-return]
    return leaf.given() if leaf.given is not None else None


def before_write(watcher: Any, leaf: Leaf | None, tensor: Tensor, name: str) -> Tensor | None:
    """The values of a parameter before a step by hand; the first few only."""
    if leaf is None or leaf.moved >= MAX_UPHILL or name == "copy_":
        return None
    gradient = gradient_of(leaf)
    return None if gradient is None or tensor.shape != gradient.shape else tensor.detach().clone()


def after_write(watcher: Any, leaf: Leaf, tensor: Tensor, before: Tensor | None, here: Site, name: str) -> None:
    if not leaf.got:
        leaf.init = here
        leaf.loaded = leaf.loaded or name == "copy_"
    leaf.written = leaf.got > 0
    if before is not None:
        moved_by_hand(watcher, leaf, tensor.detach() - before, here)


def replaced(watcher: Any, tensor: Tensor, new: Tensor) -> None:
    """`w.data = ...`"""
    leaf = watcher.leaves.get(id(tensor))
    if leaf is None:
        return
    if gradient_of(leaf) is not None and tensor.shape == new.shape and leaf.moved < MAX_UPHILL:
        moved_by_hand(watcher, leaf, new.detach() - tensor.detach(), site(3))
    if not leaf.got:
        leaf.init = site(3)
    leaf.written = True
    watcher.storages[new.data_ptr()] = id(tensor)


def moved_by_hand(watcher: Any, leaf: Leaf, change: Tensor, here: Site) -> None:
    leaf.moved += 1
    gradient = gradient_of(leaf)
    if gradient is not None:
        rates.measure_by_hand(watcher, here, leaf.ref(), change, float((change * gradient).sum()))


# Backward passes


def before_backward(watcher: Any, place: Pass, loss: Tensor, reached: list[Tensor]) -> None:
    looked = 0
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        stale = NOWHERE
        if tensor.grad is not None and leaf.got and (leaf.stepped or leaf.written):
            looked += 1
            if (looked <= 4 or watcher.turn <= EARLY) and bool(tensor.grad.any()):
                stale = place.site
                if leaf.stale.line and leaf.written and not leaf.stepped and not owner(watcher, tensor):
                    not_cleared(watcher, leaf.stale, tensor)
        elif tensor.grad is not None and leaf.stale.line:
            stale = leaf.stale
        leaf.stale = stale
    place.mean = undivided_mean(loss)
    stepped_between(watcher, loss, reached, place.site)
    turn, cleared = watcher.last_clear
    place.cleared = cleared if turn == watcher.turn else NOWHERE
    if watcher.turn < MAX_LISTENED:
        depth.listen(watcher, loss)
    if not place.turns:
        place.likelihood = of_log_probabilities(loss)
        place.cost, place.cost_site = cost_sign(loss.grad_fn)
        place.policy = policy_uphill(loss.grad_fn)
    if watcher.added:
        lost_terms(watcher, loss)
    if watcher.raw_writes:
        written_under(watcher, loss)


def written_under(watcher: Any, loss: Tensor) -> None:
    """Numbers that a node keeps were written to through .data, which PyTorch does not see."""
    for node in walk(loss.grad_fn):
        entry = made(node)
        late = [] if entry is None else [write for write in watcher.raw_writes if write[1] >= entry.at]
        for name in dir(node) if late else ():
            kept = getattr(node, name) if name.startswith("_saved_") else None
            address = kept.data_ptr() if isinstance(kept, Tensor) else 0
            for pointer, _, here in late:
                if pointer == address:
                    watcher.say(1, here, f"The write in this line goes through .data, and {entry.name} in line "  # type: ignore[union-attr]
                                f"{entry.site.line} had kept these numbers for its gradient: it is wrong.")  # type: ignore[union-attr]  # fmt: skip
    watcher.raw_writes.clear()


def lost_terms(watcher: Any, loss: Tensor) -> None:
    """Terms of a loss that have no graph."""
    for count, node in enumerate(walk(loss.grad_fn)):
        entry = made(node)
        if count > MAX_TERMS or entry is None:
            break
        _, cut = watcher.added.get(id(entry), (None, None))
        if cut is not None:
            watcher.lost_terms.setdefault(cut.site, []).append(cut)
    watcher.added.clear()


def not_cleared(watcher: Any, where: Site, tensor: Tensor) -> None:
    cleared = watcher.cleared.get(id(tensor))
    if cleared is not None:
        evidence = f"zero_grad() here does not run before each backward() in line {where.line}"
    elif watcher.last_place is not None and watcher.last_place.cleared.line:
        cleared = watcher.last_place.cleared
        evidence = f"zero_grad() here clears other parameters, and gradients of backward() in line {where.line} stay"
    if cleared is not None:
        watcher.say(6, cleared, f"{evidence}: a gradient of shape {tuple(tensor.shape)} was added to that "
                    "of the step before.")  # fmt: skip
        return
    bare = line_with_bare(where.file, "zero_grad")
    if bare:
        watcher.say(6, Site(where.file, bare), "zero_grad is named in this line, and not called: the parentheses are "
                    f"missing. backward() in line {where.line} adds to the gradients of the step before.")  # fmt: skip
        return
    watcher.say(6, where, f"backward() here added to a gradient of shape {tuple(tensor.shape)} that was left from "
                "before the last step, and the sum was used for the next step: zero_grad() was not called "
                "between.")  # fmt: skip


def owner(watcher: Any, tensor: Tensor) -> WatchedOptimizer | None:
    return next((track for track in watcher.optimizers if id(tensor) in track.owned), None)


def undivided_mean(loss: Tensor) -> bool:
    """True if the loss is a mean over a batch that nothing was divided by."""
    node: Any = loss.grad_fn
    entry = None if node is None else made(node)
    if entry is not None and entry.scaled:  # by a GradScaler
        node = node.next_functions[0][0]
    while node is not None and kind(node) == "Add":
        node = node.next_functions[0][0]
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


def of_log_probabilities(loss: Tensor) -> bool:
    """True if the loss is a sum or mean of parts of a log-softmax, or of `log_prob` of a distribution."""
    node = loss.grad_fn
    while node is not None:
        entry = made(node)
        if kind(node) == "LogSoftmax" or (entry is not None and entry.likely):
            return True
        if kind(node) not in PICKS | VIEWS or not node.next_functions:
            return False
        node = node.next_functions[0][0]
    return False


def loss_without_graph(watcher: Any, loss: Tensor, here: Site) -> None:
    """backward() from a leaf: it teaches nothing if its number came out of a graph."""
    origin = watcher.origins.get(id(loss))
    if loss.requires_grad and origin is not None and origin.ref() is loss and origin.cut is not None:
        watcher.say(*of_cut(origin.cut, origin.site, here))


def of_cut(cut: Any, made_at: Site, here: Site) -> tuple[int, Site, str]:
    """The failure behind a loss without a graph: its number, its line, the evidence."""
    begin = f"backward() in line {here.line} has no graph to go through: "
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
    if cut.kind == "update":
        return 4, cut.site, f"{begin}this line replaced a parameter by a new tensor while gradients were off."
    return 11, cut.site, f"{begin}{cut.name} in this line cut it off."


def after_backward(watcher: Any, place: Pass, loss: Tensor, reached: list[Tensor]) -> None:
    early = watcher.close and (len(place.turns) <= 3 or watcher.turn > EARLY)
    watcher.forwarded = False
    place.since_step.append(watcher.turn)
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        leaf.changed = leaf.changed or (leaf.got > 0 and tensor._version != leaf.last_version) or leaf.written
        leaf.last_version = tensor._version
        leaf.got += 1
        leaf.turn = watcher.turn
        leaf.written = leaf.stepped = False
    if any(danger.turn == watcher.turn - 1 for danger in watcher.dangers):
        values.not_finite(watcher, loss, reached)
    if early and reached:
        look_at_gradients(watcher, loss, reached)
    watcher.close = watcher.turn < EARLY or not watcher.turn % SAMPLE


def look_at_gradients(watcher: Any, loss: Tensor, reached: list[Tensor]) -> None:
    """Look at what is dear: gradients by depth, constant weights, steps that let no gradient through."""
    weights = [tensor for tensor in reached if tensor.dim() >= 2 and tensor.grad is not None]
    zeros = [tensor for tensor in weights if all_zero(tensor.grad)]  # type: ignore[arg-type]
    for tensor in zeros:
        watcher.leaf(tensor).zero += 1
    if zeros:
        for node in walk(loss.grad_fn):
            entry = made(node)
            if kind(node) in FLAT and entry is not None:
                below = {id(found.variable) for found in walk(node) if hasattr(found, "variable")}
                blocked = [tensor for tensor in zeros if id(tensor) in below]
                if blocked and not any(
                    id(tensor) in below for tensor in weights if tensor is not None and not in_list(tensor, zeros)
                ):
                    watcher.say(21, entry.site, f"{entry.name} in this line is flat: the gradients of "
                    f"{len(blocked)} weights "
                                "before it are exactly 0.")  # fmt: skip
    if watcher.turn <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            watcher.constant.update({id(tensor): watcher.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        by_depth(watcher, loss, weights)
        depth.small_weights(watcher, weights, reached)


def all_zero(tensor: Tensor) -> bool:
    """True if every number is 0. Most tensors show at their beginning that they are not."""
    if not tensor.is_sparse and bool(tensor[:1].any()):
        return False
    return not bool(tensor.any())


def all_equal(tensor: Tensor) -> bool:
    """True if every number is the same. Most tensors show at their beginning that they are not."""
    numbers = tensor.detach()
    return all(float(part.max()) == float(part.min()) for part in (numbers[:1], numbers))


def in_list(tensor: Tensor, tensors: list[Tensor]) -> bool:
    return any(tensor is other for other in tensors)


def by_depth(watcher: Any, loss: Tensor, weights: list[Tensor]) -> None:
    """Compare the gradient of the deepest weight with that of the last, behind how many sigmoids each one lies."""
    level: dict[Any, int] = {loss.grad_fn: 0}
    squash: dict[int, int] = {}
    sites: list[tuple[Site, str]] = []
    for node in walk(loss.grad_fn):
        here = level.get(node, 0)
        if kind(node) in SATURATING:
            here += 1
            entry = made(node)
            if entry is not None:
                sites.append((entry.module if entry.module.line else entry.site, kind(node)))
        if hasattr(node, "variable"):
            squash[id(node.variable)] = here
        for other, _ in node.next_functions:
            if other is not None:
                level[other] = min(here, level.get(other, here))
    known = [tensor for tensor in weights if id(tensor) in squash]
    if not known or not sites:
        return
    first, last = max(known, key=lambda t: squash[id(t)]), min(known, key=lambda t: squash[id(t)])
    low, high = (float(t.grad.double().square().mean().sqrt()) for t in (first, last))  # type: ignore[union-attr]
    if squash[id(first)] >= 4 and high > 0 and low < high * 1e-3:
        most, name = Counter(sites).most_common(1)[0][0]
        most = Site(most.file, line_that_names(most.file, most.line, name))
        watcher.depths.append((low / high, most, f"After {squash[id(first)]} sigmoids or tanhs the "
        "gradient of the "
                               f"first layer has size {low:.1e}, that of the last {high:.1e}."))  # fmt: skip


# Steps


def before_step(watcher: Any, track: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    parameters = watcher.owned(track, optimizer)
    leaves = [watcher.leaf(tensor) for tensor in parameters]
    received = [tensor for tensor, leaf in zip(parameters, leaves, strict=True) if leaf.turn > track.last_turn]
    received.sort(key=Tensor.numel)  # the first gradient that is not zero ends the search: begin with a small one
    if received and all(tensor.grad is None or not bool(tensor.grad.any()) for tensor in received):
        turn, cleared, forwarded = next(
            (watcher.zeroed[id(tensor)] for tensor in received if id(tensor) in watcher.zeroed), (-1, NOWHERE, False)
        )
        if turn == watcher.turn and cleared.line:
            track.empty += 1
            where = here if forwarded or watcher.forwarded else cleared
            watcher.say(18, where, f"{track.kind}.step() in line {here.line} found no gradient: those of the last "
                        f"backward() were cleared in line {cleared.line}.")  # fmt: skip
    for tensor, leaf in zip(parameters, leaves, strict=True):
        if leaf.stale.line and tensor.grad is not None and leaf.turn > track.last_turn:
            not_cleared(watcher, leaf.stale, tensor)
            break
    for place in watcher.passes.values():
        if place.since_step and any(id(ref()) in track.owned for ref in place.leaves):
            track.windows.append((place, len(place.since_step), place.mean, here))
            place.since_step.clear()
    if track.steps < MAX_JUMPS or not track.steps % EARLY:
        track.before = [rates.sample(tensor).clone() for tensor in parameters[:20] if tensor.dim() >= 1]


def after_step(watcher: Any, track: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    track.last_turn = watcher.turn
    track.last_step = here
    track.clock = watcher.clock
    for tensor in parameters:
        watcher.leaf(tensor).stepped = True
    if track.before:
        rates.measure(watcher, track, [tensor for tensor in parameters[:20] if tensor.dim() >= 1])
