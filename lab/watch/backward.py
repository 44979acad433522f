"""What is looked at when a backward pass runs: its graph before, its gradients after."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch

from lab.watch import cuts, depth, errors, fixes, values
from lab.watch.order import cost_sign, of_log_probabilities, policy_uphill, stepped_between
from lab.watch.sites import NOWHERE, Site, line_with_bare, site
from lab.watch.tracks import Pass, WatchedOptimizer, kind, leaves_of, made, walk, weak

Tensor = torch.Tensor
FLAT = frozenset(("Round", "Floor", "Ceil", "Sign", "Trunc", "Bernoulli"))
WALKED_PASSES = 3  # of a place that calls backward(): the first ones; then one in WALKED_EVERY
WALKED_EVERY = 10
EARLY = 10  # turns in which everything is looked at; then one in SAMPLE
SAMPLE = 11  # odd: two places that call backward() in turn are both looked at
MAX_LISTENED = 3  # backward passes with hooks at their ends
MAX_BETWEEN = 60  # nodes of a step by hand that are looked at
MAX_TERMS = 12  # nodes at the end of a loss that are looked at


def backward(watcher: Any, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    loss, here = args[0], site(2)
    used(watcher, loss)
    reached: list[Tensor] = []
    place = watcher.passes.setdefault((here.file, here.line), Pass(here))
    if loss.grad_fn is not None:
        reached = leaves_reached(watcher, place, loss)
        before_backward(watcher, place, loss, reached)
    else:
        cuts.loss_without_graph(watcher, loss, here)
    try:
        result = func(*args, **kwargs)
    except RuntimeError as error:
        finding = errors.of_backward(watcher, error, loss, here)
        if finding is not None:
            watcher.pending.append((error, finding))
        raise
    watcher.turn += 1
    watcher.rounds += 1
    top = made(loss.grad_fn)
    if top is not None and top.depth and watcher.deepest.line:
        watcher.carried_states[watcher.deepest] = top.depth
    watcher.last_place = place
    if loss.numel() == 1:
        place.values.append(float(loss.detach()))
        place.turns.append(watcher.turn)
    after_backward(watcher, place, loss, reached)
    return result


def autograd_grad(watcher: Any, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    outputs = args[0] if args else kwargs.get("outputs")
    here = site(2)
    first = outputs if isinstance(outputs, Tensor) else outputs[0] if outputs else None
    if isinstance(first, Tensor) and first.grad_fn is not None:
        mark(watcher, first)
        if not kwargs.get("retain_graph", kwargs.get("create_graph")):
            taken(watcher, first, here)
    try:
        result = func(*args, **kwargs)
    except RuntimeError as error:
        finding = errors.of_backward(watcher, error, first, here) if isinstance(first, Tensor) else None
        if finding is not None:
            watcher.pending.append((error, finding))
        raise
    for part in result:
        if isinstance(part, Tensor) and part.grad_fn is None:
            watcher.remember(part, here, None)
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs or ())
    recorded_steps(watcher, first, inputs)
    if kwargs.get("create_graph"):
        watcher.second_order = True
        for tensor in inputs:
            if tensor.is_leaf and tensor.requires_grad:
                watcher.leaf(tensor).asked = True
    if isinstance(first, Tensor) and first.numel() == 1 and not kwargs.get("create_graph"):
        given(watcher, first, inputs, result, here)
    return result


def given(watcher: Any, loss: Tensor, inputs: tuple[Tensor, ...], gradients: tuple[Any, ...], here: Site) -> None:
    """autograd.grad() gave gradients of leaves, for a step by hand."""
    leaves = [(tensor, grad) for tensor, grad in zip(inputs, gradients, strict=False) if tensor.is_leaf]
    if not leaves or {id(t) for t in leaves_of(loss.grad_fn)} - {id(t) for t, _ in leaves}:
        return  # an attack on an input, or a look at it: no step of all that there is to learn
    watcher.last_place = place = watcher.passes.setdefault((here.file, here.line), Pass(here))
    place.values.append(float(loss.detach()))
    place.turns.append(watcher.turn)
    place.leaves = [weak(tensor) for tensor, _ in leaves]
    place.cost, _ = cost_sign(loss.grad_fn)
    watcher.rounds += 1
    for tensor, grad in leaves:
        watcher.leaf(tensor).given = None if grad is None else weak(grad)


def recorded_steps(watcher: Any, output: Any, inputs: tuple[Tensor, ...]) -> None:
    """autograd.grad() for the result of a step by hand, behind which the steps before it are recorded."""
    if any(tensor.is_leaf for tensor in inputs):
        used(watcher, output)
    for tensor in inputs:
        last = made(tensor.grad_fn)
        behind = () if last is None else itertools.islice(walk(tensor.grad_fn), 1, MAX_BETWEEN)
        if last is not None and any(entry.site == last.site for node in behind if (entry := made(node)) is not None):
            watcher.recorded_steps[last.site] = watcher.recorded_steps.get(last.site, 0) + 1


def used(watcher: Any, output: Any) -> None:
    """A gradient goes back through steps by hand: that is what they are recorded for."""
    for node in walk(output.grad_fn) if watcher.recorded_steps and isinstance(output, Tensor) else ():
        entry = made(node)
        if entry is not None and entry.site in watcher.recorded_steps:
            watcher.recorded_steps[entry.site] = -math.inf


def taken(watcher: Any, output: Tensor, here: Site) -> None:
    """autograd.grad() goes through a graph, and frees it."""
    for node in walk(output.grad_fn):
        entry = made(node)
        if entry is not None:
            entry.taken = here


def mark(watcher: Any, loss: Tensor) -> None:
    for node in walk(loss.grad_fn):
        entry = made(node)
        if entry is None:
            continue
        if entry.chain or entry.depth:
            watcher.summed.add(entry.site)
        entry.passed = entry.passed or watcher.turn + 1


def leaves_reached(watcher: Any, place: Pass, loss: Tensor) -> list[Tensor]:
    """The leaves that a pass will reach: looked up in the graph, at first always and then now and then."""
    if place.walked > WALKED_PASSES and len(place.turns) % WALKED_EVERY:
        known = [tensor for ref in place.leaves if (tensor := ref()) is not None]
        top = made(loss.grad_fn)
        if top is not None and not top.passed:
            top.passed = watcher.turn + 1
        if len(known) == len(place.leaves):
            return known
    mark(watcher, loss)
    place.walked += 1
    reached = leaves_of(loss.grad_fn)
    place.leaves = [weak(tensor) for tensor in reached]
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        if leaf.parameter and not leaf.got:
            watcher.fresh.setdefault(leaf.site, set()).add(watcher.turn)
    return reached


def before_backward(watcher: Any, place: Pass, loss: Tensor, reached: list[Tensor]) -> None:
    looked = 0
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        stale = NOWHERE
        if tensor.grad is not None and leaf.got and (leaf.stepped or leaf.written):
            looked += 1
            kept = not leaf.stepped or tensor.grad._version == leaf.grad_version  # else scaled by hand, on purpose
            if kept and (looked <= 4 or watcher.turn <= EARLY) and bool(tensor.grad.any()):
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
        if entry is None:
            continue
        late = [write for write in watcher.raw_writes if write[1] >= entry.at]
        for name in dir(node) if late else ():
            kept = getattr(node, name) if name.startswith("_saved_") else None
            address = kept.data_ptr() if isinstance(kept, Tensor) else 0
            for pointer, _, here in late:
                if pointer == address:
                    watcher.say(
                        1,
                        here,
                        f"The write in this line goes through .data, and {entry.name} in line "
                        f"{entry.site.line} had kept these numbers for its gradient: it is wrong.",
                    )
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
        watcher.say(
            6, cleared, f"{evidence}: a gradient of shape {tuple(tensor.shape)} was added to that of the step before."
        )
        return
    bare = line_with_bare(where.file, "zero_grad")
    if bare:
        watcher.say(
            6,
            Site(where.file, bare),
            "zero_grad is named in this line, and not called: the parentheses are "
            f"missing. backward() in line {where.line} adds to the gradients of the step before.",
            fixes.CALL_IT,
        )
        return
    watcher.say(
        6,
        where,
        f"backward() here added to a gradient of shape {tuple(tensor.shape)} that was left from "
        "before the last step, and the sum was used for the next step: zero_grad() was not called "
        "between.",
        "" if watcher.optimizers else fixes.CLEAR_BY_HAND,
    )


def owner(watcher: Any, tensor: Tensor) -> WatchedOptimizer | None:
    return next((track for track in watcher.optimizers if id(tensor) in track.owned), None)


def undivided_mean(loss: Tensor) -> bool:
    """True if the loss is a mean over a batch that nothing was divided by."""
    node: Any = loss.grad_fn
    entry = made(node)
    if entry is not None and entry.scaled:  # by a GradScaler
        node = node.next_functions[0][0]
    while node is not None and kind(node) == "Add":
        node = node.next_functions[0][0]
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


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
    if zeros:
        for node in walk(loss.grad_fn):
            entry = made(node)
            if kind(node) in FLAT and entry is not None:
                below = {id(found.variable) for found in walk(node) if hasattr(found, "variable")}
                blocked = [tensor for tensor in zeros if id(tensor) in below]
                if blocked and not any(
                    id(tensor) in below for tensor in weights if tensor is not None and not in_list(tensor, zeros)
                ):
                    evidence = f"{entry.name} in this line is flat: the gradients of {len(blocked)} weights before it "
                    evidence += "are exactly 0."
                    watcher.say(21, entry.site, evidence, fixes.STRAIGHT_THROUGH)
    if watcher.turn <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            watcher.constant.update({id(tensor): watcher.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        depth.by_depth(watcher, loss, weights)
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
