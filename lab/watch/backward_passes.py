"""Inspect each backward pass: its graph before it runs, its gradients afterwards."""

from typing import TypeAlias

import torch
from torch import Tensor

from lab.watch import cuts, errors, event_order, gradient_sizes, learning_rates, operations, values
from lab.watch.graph import leaves_of, origin_of, seen_nodes
from lab.watch.onlooker import Args, Function, Kwargs, Look, arguments, tensors_in
from lab.watch.records import EARLY_ITERATIONS, BackwardCall, LossTerm, has_numbers
from lab.watch.run import WatchedRun
from lab.watch.sites import Site, site, site_of_argument
from lab.watch.training_events import Act
from lab.watch.unreached_parameters import terms_of

Facts: TypeAlias = tuple[int, dict[int, Site], dict[Site, LossTerm]]  # made, stale and terms of a TrainingEvent
MAX_FIRST_WALKS = 3  # of one line that calls backward(); later, one in WALK_EVERY
WALK_EVERY = 10
MIN_SINGLE_STEP = 1e-3  # smallest step of finite differences for which float32 has enough digits
SAMPLE_EVERY = 11  # odd, so that two alternating backward() lines are both inspected


def look_at_backward(run: WatchedRun, function: Function, args: Args, kwargs: Kwargs) -> Look:
    """Look at the graph before a backward pass, and at the gradients afterwards."""
    bound, here = arguments(function, args, kwargs), site()
    # Tensor.backward and autograd.backward name it differently; several losses are one pass
    given = bound.get("self", bound.get("tensors"))
    losses = tensors_in((given,))
    if not losses or not all(map(has_numbers, losses)):  # nothing to inspect
        return
    run.hold_variables()
    reached: dict[int, Tensor] = {}
    call = run.training.calls.setdefault(here.whole_line, BackwardCall(here))
    only = None if bound.get("inputs") is None else set(map(id, tensors_in((bound["inputs"],))))
    for loss in losses:
        if loss.grad_fn is not None:
            leaves = leaves_reached(run, call, loss)
            reached |= {id(tensor): tensor for tensor in leaves if only is None or id(tensor) in only}
        else:
            cuts.loss_without_graph(run, loss, here)
    tensors, loss = list(reached.values()), losses[0]
    if len(losses) > 1 or only is not None:
        call.keep(tensors)
    facts = before_backward(run, call, loss, tensors) if loss.grad_fn is not None else None
    event = run.record(Act.BACKWARD, here, call.touched)
    call.in_step |= any(opt.learning for opt in run.training.optimizers)
    event.call, (event.made, event.stale, event.terms) = call, facts or (0, {}, {})
    try:
        yield
    except RuntimeError as error:
        run.events.remove(event)
        errors.explain_backward(run, error, loss, here)
        raise
    run.clock.iteration += 1
    if all(part.numel() == 1 for part in losses):
        call.losses.append(sum(float(part.detach().real) for part in losses))
    after_backward(run, call, loss, tensors)


def look_at_grad(run: WatchedRun, function: Function, args: Args, kwargs: Kwargs) -> Look:
    """Look at autograd.grad(), and record what it reached and returned."""
    bound, here = arguments(function, args, kwargs), site()
    given = bound.get("inputs")
    inputs = tensors_in((tuple(given.values()) if isinstance(given, dict) else given,))
    run.hold_variables()
    first = next(iter(tensors_in((bound.get("outputs"),))), None)
    if first is None or not all(map(has_numbers, (first, *inputs))):
        return
    if first.grad_fn is not None:
        mark_nodes(run, first)
    try:
        result = yield
    except RuntimeError as error:
        errors.explain_backward(run, error, first, here)
        raise
    for part in tensors_in((tuple(result.values()) if isinstance(result, dict) else result,)):
        if part.grad_fn is None:
            run.remember_origin(part, here, cuts.update_cut(run, "derivative", here, "autograd.grad", [first]))
    for tensor in inputs:
        if tensor.is_leaf and tensor.requires_grad:
            run.leaf(tensor).differentiated = True


def look_at_gradcheck(run: WatchedRun, check: Function, args: Args, kwargs: Kwargs) -> Look:
    """Look at a gradient check of the script, which runs unwatched; report it if it failed for lack of precision."""
    bound, here, passed = arguments(check, args, kwargs), site(), False
    given, step = tensors_in((bound.get("inputs"),)), bound.get("eps", 0)
    single = [tensor for tensor in given if tensor.requires_grad and tensor.dtype in (torch.float32, torch.float16)]
    try:
        passed = yield
    finally:
        if single and not passed and step < MIN_SINGLE_STEP:
            origin = run.origin(single[0])
            where = here if origin is None else site_of_argument(origin.site, "dtype")
            evidence = f"gradcheck in line {here.line} failed: {single[0].dtype} is too coarse for steps of {step:.0e}."
            run.report(23, where, evidence)


def mark_nodes(run: WatchedRun, loss: Tensor) -> None:
    """Mark the nodes of a graph as passed by the coming backward pass."""
    now, graphs = run.clock.iteration, run.graphs
    for _, entry in seen_nodes(loss.grad_fn):
        graphs.passed.add(entry.site.whole_line)
        if entry.chain or entry.past_iterations or entry.iteration < now - 1:
            graphs.passed_later.add(entry.site)
        entry.first_backward = entry.first_backward or now + 1


def is_searched(call: BackwardCall) -> bool:
    """Return whether the graph of the coming pass is searched: in the first passes of a line, then now and then."""
    return call.walk_count <= MAX_FIRST_WALKS or not len(call.losses) % WALK_EVERY


def leaves_reached(run: WatchedRun, call: BackwardCall, loss: Tensor) -> list[Tensor]:
    """Return the leaves that a backward pass will reach."""
    if not is_searched(call):
        known = call.tensors
        top = origin_of(loss.grad_fn)
        if top is not None and not top.first_backward:
            top.first_backward = run.clock.iteration + 1
        if len(known) == len(call.leaves):
            return known
    mark_nodes(run, loss)
    call.walk_count += 1
    reached = leaves_of(loss.grad_fn)
    call.keep(reached)
    for tensor in reached:
        run.leaf(tensor)
    return reached


def before_backward(run: WatchedRun, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> Facts:
    """Check the graph of a loss; return what else an event holds of the coming backward pass."""
    call.undivided_mean = event_order.is_undivided_mean(loss)
    if not call.losses:
        call.cost_sign, call.minus_site = learning_rates.cost_sign(loss.grad_fn)
    elif loss.numel() == 1 and (step := run.events.last(Act.STEP)) and step.iteration == run.clock.iteration:
        operations.check_likelihood(run, loss)  # only what is trained: without a step, it may pick a score
    if not values.is_finite(loss):
        values.check_batch(run, loss)
    entry = origin_of(loss.grad_fn)
    made = entry.node_number if entry is not None and entry.iteration == run.clock.iteration else 0
    terms = terms_of(loss) if run.training.optimizers and is_searched(call) else {}
    return made, event_order.find_stale(run, reached, call.site), terms


def after_backward(run: WatchedRun, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> None:
    """Update the leaves that a backward pass reached; check its gradients in some iterations."""
    early = run.clock.inspect_closely and (len(call.losses) <= 3 or run.clock.iteration > EARLY_ITERATIONS)
    run.clock.forward_ran = False
    for tensor in reached:
        leaf = run.leaf(tensor)
        if leaf.made_in_forward and not (leaf.backward_count or leaf.differentiated):
            run.training.made_in_forward.setdefault(leaf.site, set()).add(run.clock.iteration)
        leaf.changed |= leaf.backward_count > 0 and tensor._version != leaf.version_at_backward
        leaf.version_at_backward = tensor._version
        leaf.backward_count += 1
    if any(danger.iteration == run.clock.iteration - 1 for danger in run.numbers.dangers):
        values.report_non_finite(run, loss, reached)
    if early and reached:
        gradient_sizes.inspect_gradients(run, loss, reached)
    run.clock.inspect_closely = run.clock.iteration < EARLY_ITERATIONS or not run.clock.iteration % SAMPLE_EVERY
