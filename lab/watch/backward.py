"""Inspect each backward pass: its graph before it runs, its gradients afterwards."""

import weakref
from typing import Any

import torch

from lab.watch import cuts, depth, errors, fixes, values
from lab.watch.onlooker import Look, arguments, tensors_in
from lab.watch.order import check_step_before_backward, cost_sign, report_missing_call
from lab.watch.records import (
    VIEWS,
    BackwardCall,
    GraphNode,
    LossTerm,
    has_numbers,
    kind,
    leaves_of,
    origin_of,
    seen_nodes,
    skip,
)
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, site

Tensor = torch.Tensor
FLAT_OPERATIONS = frozenset(("Round", "Floor", "Ceil", "Sign", "Trunc", "Bernoulli"))
TERMS = VIEWS | {"Add", "Sub", "Neg", "Mul", "Div"}  # what joins the terms of a loss
LOSING = frozenset(("step", "no_grad", "number", "numpy"))  # kinds of cuts that take a term its graph by mistake
MAX_FIRST_WALKS = 3  # of one line that calls backward(); later, one in WALK_EVERY
WALK_EVERY = 10
EARLY_ITERATIONS = 10  # iterations in which everything is inspected; later, one in SAMPLE_EVERY
SAMPLE_EVERY = 11  # odd, so that two alternating backward() lines are both inspected
MAX_TERMS = 12  # nodes at the end of a loss that are searched


def look_at_backward(run: WatchedRun, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Look:
    """Look at the graph before a backward pass, and at the gradients afterwards."""
    bound, here = arguments(function, args, kwargs), site()
    # Tensor.backward and autograd.backward name it differently; several losses are one pass
    given = bound.get("self", bound.get("tensors"))
    losses = tensors_in((given,))
    if not losses or not all(map(has_numbers, losses)):  # nothing to inspect
        return
    run.hold_variables()
    reached: dict[int, Tensor] = {}
    call = run.training.calls.setdefault((here.file, here.line), BackwardCall(here))
    only = None if bound.get("inputs") is None else set(map(id, tensors_in((bound["inputs"],))))
    for loss in losses:
        if loss.grad_fn is not None:
            leaves = leaves_reached(run, call, loss)
            reached |= {id(tensor): tensor for tensor in leaves if only is None or id(tensor) in only}
        else:
            cuts.loss_without_graph(run, loss, here)
    tensors, loss = list(reached.values()), losses[0]
    if len(losses) > 1 or only is not None:
        call.leaves = list(map(weakref.ref, tensors))
    if loss.grad_fn is not None:
        before_backward(run, call, loss, tensors)
    try:
        yield
    except RuntimeError as error:
        errors.explain_backward(run, error, loss, here)
        raise
    run.clock.iteration += 1
    run.training.last_call = call
    if all(part.numel() == 1 for part in losses):
        call.losses.append(sum(float(part.detach().real) for part in losses))
        call.iterations.append(run.clock.iteration)
    after_backward(run, call, loss, tensors)


def look_at_grad(run: WatchedRun, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Look:
    """Look at autograd.grad(), and record what it reached and returned."""
    bound, here = arguments(function, args, kwargs), site()
    given = bound.get("inputs")
    inputs = tensors_in((tuple(given.values()) if isinstance(given, dict) else given,))
    run.hold_variables()
    first = next(iter(tensors_in((bound.get("outputs"),))), None)
    if first is None or not all(map(has_numbers, (first, *inputs))):
        return
    create_graph = bound["create_graph"]
    if first.grad_fn is not None:
        mark_nodes(run, first)
        keeps = create_graph if bound["retain_graph"] is None else bound["retain_graph"]
        for _, entry in () if keeps else seen_nodes(first.grad_fn):
            entry.freed_at = here
    try:
        result = yield
    except RuntimeError as error:
        errors.explain_backward(run, error, first, here)
        raise
    for part in tensors_in((tuple(result.values()) if isinstance(result, dict) else result,)):
        if part.grad_fn is None:
            run.remember_origin(part, here, None)
    for tensor in inputs:
        if tensor.is_leaf and tensor.requires_grad:
            leaf = run.leaf(tensor)
            leaf.asked, leaf.has_graph_grad = True, leaf.has_graph_grad or create_graph


def mark_nodes(run: WatchedRun, loss: Tensor) -> None:
    """Mark the nodes of a graph as passed by the coming backward pass."""
    now, graphs = run.clock.iteration, run.graphs
    for _, entry in seen_nodes(loss.grad_fn):
        graphs.passed.add(entry.site[:2])
        if entry.chain or entry.past_iterations or entry.iteration < now - 1:
            graphs.passed_later.add(entry.site)
        entry.first_backward = entry.first_backward or now + 1


def leaves_reached(run: WatchedRun, call: BackwardCall, loss: Tensor) -> list[Tensor]:
    """Return the leaves that a backward pass will reach; after the first passes, search the graph only now and then."""
    if call.walk_count > MAX_FIRST_WALKS and len(call.iterations) % WALK_EVERY:
        known = call.tensors
        top = origin_of(loss.grad_fn)
        if top is not None and not top.first_backward:
            top.first_backward = run.clock.iteration + 1
        if len(known) == len(call.leaves):
            return known
    mark_nodes(run, loss)
    call.walk_count += 1
    reached = leaves_of(loss.grad_fn)
    call.leaves = list(map(weakref.ref, reached))
    for tensor in reached:
        leaf = run.leaf(tensor)
        if leaf.is_parameter and not leaf.backward_count:
            run.training.fresh_parameters.setdefault(leaf.site, set()).add(run.clock.iteration)
    if run.training.optimizers:
        note_terms(call, loss)
    return reached


def note_terms(call: BackwardCall, loss: Tensor) -> None:
    """Record which term of a loss reaches which leaves, and through which cuts its operands came."""
    queue: list[GraphNode] = [loss.grad_fn]
    for node in queue:
        entry = origin_of(node)
        behind = [other for other, _ in node.next_functions if other is not None and not hasattr(other, "variable")]
        if kind(node) in TERMS and behind and len(queue) < MAX_TERMS:
            queue += behind
            if entry is not None and entry.cut is not None and entry.cut.kind in LOSING:
                lost = call.terms.setdefault(entry.cut.site, LossTerm(cuts=[entry.cut]))  # a term that has no graph
                lost.passes += 1
        elif entry is not None:
            term = call.terms.setdefault(entry.site, LossTerm())
            term.passes += 1
            term.waiting = set(map(id, leaves_of(node)))
            term.cuts = [other.cut for _, other in seen_nodes(node) if other.cut is not None]


def before_backward(run: WatchedRun, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> None:
    """Check the leaves for gradients left from an earlier step, and the graph of the loss for its sign and cuts."""
    checked = 0
    for tensor in reached:
        leaf = run.leaf(tensor)
        stale = NOWHERE
        if tensor.grad is not None and leaf.backward_count and (leaf.stepped or leaf.written_by_hand):
            checked += 1
            kept = not leaf.stepped or tensor.grad._version == leaf.grad_version  # else scaled by hand
            if kept and (checked <= 4 or run.clock.iteration <= EARLY_ITERATIONS) and bool(tensor.grad.any()):
                stale = call.site
                owned = any(id(tensor) in opt.parameter_ids for opt in run.training.optimizers)
                if leaf.stale_site.line and leaf.written_by_hand and not leaf.stepped and not owned:
                    report_stale_gradient(run, leaf.stale_site, tensor)
        elif tensor.grad is not None and leaf.stale_site.line:
            stale = leaf.stale_site
        leaf.stale_site = stale
    call.undivided_mean = is_undivided_mean(loss)
    check_step_before_backward(run, loss, reached, call.site)
    if not call.iterations:
        call.cost_sign, call.minus_site = cost_sign(loss.grad_fn)
    if not values.is_finite(loss):
        values.check_batch(run, loss)


def report_stale_gradient(run: WatchedRun, where: Site, tensor: Tensor) -> None:
    """Report that a gradient was added to one that an earlier step had used."""
    training, shape = run.training, tuple(tensor.shape)
    iteration, others = training.last_zero_grad
    others = others if iteration >= run.clock.iteration - 1 else NOWHERE
    own = run.leaf(tensor).zero_grad_site
    cleared = own if own.line else others
    if cleared.line:
        evidence = f"zero_grad() here does not clear all that each backward() in line {where.line} reaches: a gradient "
        run.report(6, cleared, f"{evidence}of shape {shape} was added to that of the previous step.")
    elif not report_missing_call(run, 6, where.file, "zero_grad"):
        evidence = f"backward() here added to a gradient of shape {shape} that the last step had already used, and the "
        evidence += "next step used the sum: zero_grad() was not called in between."
        run.report(6, where, evidence, "" if training.optimizers else fixes.CLEAR_BY_HAND)


def is_undivided_mean(loss: Tensor) -> bool:
    """Return whether the loss is a mean over a batch, not divided by anything."""
    node: GraphNode = loss.grad_fn
    entry = origin_of(node)
    scaled = entry is not None and entry.loss_scaled  # by a GradScaler
    node = skip(node.next_functions[0][0] if scaled else node, {"Add"})
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


def after_backward(run: WatchedRun, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> None:
    """Update the leaves that a backward pass reached; check its gradients in some iterations."""
    early = run.clock.inspect_closely and (len(call.iterations) <= 3 or run.clock.iteration > EARLY_ITERATIONS)
    run.clock.forward_ran = False
    call.since_step.append(run.clock.iteration)
    for tensor in reached:
        leaf = run.leaf(tensor)
        written = leaf.backward_count > 0 and tensor._version != leaf.version_at_backward
        leaf.changed |= leaf.written_by_hand or written
        leaf.version_at_backward = tensor._version
        leaf.backward_count += 1
        leaf.last_backward = run.clock.iteration
        leaf.written_by_hand = leaf.stepped = False
    if any(danger.iteration == run.clock.iteration - 1 for danger in run.numbers.dangers):
        values.report_non_finite(run, loss, reached)
    if early and reached:
        inspect_gradients(run, loss, reached)
    run.clock.inspect_closely = run.clock.iteration < EARLY_ITERATIONS or not run.clock.iteration % SAMPLE_EVERY


def inspect_gradients(run: WatchedRun, loss: Tensor, reached: list[Tensor]) -> None:
    """Run the expensive checks: operations with slope 0, constant weights, gradients by depth."""
    weights = [tensor for tensor in reached if tensor.dim() >= 2 and tensor.grad is not None]
    zeros = [tensor for tensor in weights if all_zero(tensor.grad)]  # type: ignore[arg-type]
    known_zero = set(map(id, zeros))
    for node, entry in seen_nodes(loss.grad_fn) if zeros else ():
        below = set(map(id, leaves_of(node))) if kind(node) in FLAT_OPERATIONS else set()
        blocked = known_zero & below
        if blocked and not any(id(tensor) in below - known_zero for tensor in weights):
            evidence = f"{entry.name} in this line is flat: the gradients of {len(blocked)} weights before it are "
            run.report(21, entry.site, evidence + "exactly 0.", fixes.STRAIGHT_THROUGH)
    if run.clock.iteration <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t) and is_symmetric(t.grad)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            run.numbers.constant_weights.update({id(tensor): run.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        depth.compare_by_depth(run, loss, weights, reached)


def all_zero(tensor: Tensor) -> bool:
    """Return whether every number is 0. Most tensors show in their first row that they are not."""
    if not tensor.is_sparse and bool(tensor[:1].any()):
        return False
    return not bool(tensor.any())


def is_symmetric(gradient: Tensor | None) -> bool:
    """Return whether all outputs of a layer get the same gradient, or all its inputs: nothing tells the units apart."""
    if gradient is None or gradient.is_sparse:
        return False
    least = 1e-5 * float(gradient.abs().max())
    return any(float((gradient - part).abs().max()) <= least for part in (gradient[:1], gradient[:, :1]))


def all_equal(tensor: Tensor) -> bool:
    """Return whether all numbers are equal. Most tensors show in their first row that they are not."""
    numbers = tensor.detach()
    return all(float(part.max()) == float(part.min()) for part in (numbers[:1], numbers))
