"""Inspect each backward pass: its graph before it runs, its gradients afterwards."""

import itertools
import math
import weakref
from typing import Any

import torch

from lab.watch import cuts, depth, errors, fixes, values
from lab.watch.onlooker import Look, arguments
from lab.watch.order import check_step_before_backward, cost_sign, is_log_probability, policy_gradient_site
from lab.watch.records import BackwardCall, address_of, has_numbers, kind, leaves_of, origin_of, seen_nodes, walk
from lab.watch.sites import NOWHERE, Site, line_of_missing_call, site

Tensor = torch.Tensor
FLAT_OPERATIONS = frozenset(("Round", "Floor", "Ceil", "Sign", "Trunc", "Bernoulli"))
MAX_FIRST_WALKS = 3  # of one line that calls backward(); later, one in WALK_EVERY
WALK_EVERY = 10
EARLY_ITERATIONS = 10  # iterations in which everything is inspected; later, one in SAMPLE_EVERY
SAMPLE_EVERY = 11  # odd, so that two alternating backward() lines are both inspected
MAX_HOOKED_PASSES = 3  # backward passes with hooks on a chain of tanhs
MAX_STEP_NODES = 60  # nodes of a step by hand that are searched
MAX_TERMS = 12  # nodes at the end of a loss that are searched


def look_at_backward(watcher: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Look:
    """Look at the graph before a backward pass, and at the gradients afterwards."""
    bound, here = arguments(function, args, kwargs), site()
    # Tensor.backward and autograd.backward name it differently; several losses are one pass
    given = bound.get("self", bound.get("tensors"))
    losses = [given] if isinstance(given, Tensor) else [part for part in given or () if isinstance(part, Tensor)]
    if not losses or not all(map(has_numbers, losses)):  # nothing to inspect
        return
    watcher.hold_variables()
    reached: dict[int, Tensor] = {}
    call = watcher.backward_calls.setdefault((here.file, here.line), BackwardCall(here))
    only = bound.get("inputs")
    only = None if only is None else {id(tensor) for tensor in ([only] if isinstance(only, Tensor) else only)}
    for loss in losses:
        note_differentiated_steps(watcher, loss)
        if loss.grad_fn is not None:
            leaves = leaves_reached(watcher, call, loss)
            reached |= {id(tensor): tensor for tensor in leaves if only is None or id(tensor) in only}
        else:
            cuts.loss_without_graph(watcher, loss, here)
    tensors, loss = list(reached.values()), losses[0]
    if len(losses) > 1 or only is not None:
        call.leaves = [weakref.ref(tensor) for tensor in tensors]
    if loss.grad_fn is not None:
        before_backward(watcher, call, loss, tensors)
    try:
        yield
    except RuntimeError as error:
        explain_later(watcher, error, loss, here)
        raise
    watcher.iteration += 1
    watcher.gradient_count += 1
    top = origin_of(loss.grad_fn)
    if top is not None and top.past_iterations and watcher.last_carry_site.line:
        watcher.carried_states[watcher.last_carry_site] = top.past_iterations
    watcher.last_call = call
    if all(part.numel() == 1 for part in losses):
        call.losses.append(sum(float(part.detach().real) for part in losses))
        call.iterations.append(watcher.iteration)
    after_backward(watcher, call, loss, tensors)


def explain_later(watcher: Any, error: RuntimeError, loss: Tensor, here: Site) -> None:
    """Keep the finding behind an error of a backward pass, in case it ends the script."""
    finding = errors.explain_backward(watcher, error, loss, here)
    if finding is not None:
        watcher.pending_findings[str(error)] = finding


def look_at_grad(watcher: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Look:
    """Look at autograd.grad(), and record what it reached and returned."""
    bound, here = arguments(function, args, kwargs), site()
    outputs, inputs = bound.get("outputs"), bound.get("inputs")
    if isinstance(inputs, dict):
        inputs = inputs.values()
    watcher.hold_variables()
    first = outputs if isinstance(outputs, Tensor) else outputs[0] if isinstance(outputs, (list, tuple)) else None
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs or ())
    if not isinstance(first, Tensor) or not all(isinstance(t, Tensor) and has_numbers(t) for t in (first, *inputs)):
        return
    create_graph = bound["create_graph"]
    if first.grad_fn is not None:
        mark_nodes(watcher, first)
        keeps = create_graph if bound["retain_graph"] is None else bound["retain_graph"]
        for _, entry in () if keeps else seen_nodes(first.grad_fn):
            entry.freed_at = here
    try:
        result = yield
    except RuntimeError as error:
        explain_later(watcher, error, first, here)
        raise
    gradients = tuple(result.values()) if isinstance(result, dict) else result
    for part in gradients:
        if isinstance(part, Tensor) and part.grad_fn is None:
            watcher.remember_origin(part, here, None)
    note_recorded_steps(watcher, first, inputs)
    if create_graph:
        watcher.second_order = True
        for tensor in inputs:
            if tensor.is_leaf and tensor.requires_grad:
                watcher.leaf(tensor).has_graph_grad = True
    elif first.numel() == 1:
        note_gradients(watcher, first, inputs, gradients, here)


def note_gradients(
    watcher: Any, loss: Tensor, inputs: tuple[Tensor, ...], gradients: tuple[Any, ...], here: Site
) -> None:
    """Record gradients of leaves returned by autograd.grad(), which are used for steps by hand."""
    leaves = [(tensor, grad) for tensor, grad in zip(inputs, gradients, strict=False) if tensor.is_leaf]
    if not leaves or {id(t) for t in leaves_of(loss.grad_fn)} - {id(t) for t, _ in leaves}:
        return  # gradients of some leaves, such as an input: not a training step
    watcher.last_call = call = watcher.backward_calls.setdefault((here.file, here.line), BackwardCall(here))
    call.losses.append(float(loss.detach().real))
    call.iterations.append(watcher.iteration)
    call.leaves = [weakref.ref(tensor) for tensor, _ in leaves]
    call.cost_sign, _ = cost_sign(loss.grad_fn)
    watcher.gradient_count += 1
    for tensor, grad in leaves:
        watcher.leaf(tensor).autograd_grad = None if grad is None else weakref.ref(grad)


def note_recorded_steps(watcher: Any, output: Any, inputs: tuple[Tensor, ...]) -> None:
    """Count steps by hand whose results hold the graphs of earlier steps."""
    if any(tensor.is_leaf for tensor in inputs):
        note_differentiated_steps(watcher, output)
    for tensor in inputs:
        last = origin_of(tensor.grad_fn)
        behind = () if last is None else itertools.islice(walk(tensor.grad_fn), 1, MAX_STEP_NODES)
        if last is not None and any(
            entry.site == last.site for node in behind if (entry := origin_of(node)) is not None
        ):
            watcher.recorded_steps[last.site] = watcher.recorded_steps.get(last.site, 0) + 1


def note_differentiated_steps(watcher: Any, output: Any) -> None:
    """Note the recorded steps by hand that a gradient goes back through: they are recorded on purpose."""
    for _, entry in seen_nodes(output.grad_fn) if watcher.recorded_steps and isinstance(output, Tensor) else ():
        if entry.site in watcher.recorded_steps:
            watcher.recorded_steps[entry.site] = -math.inf


def mark_nodes(watcher: Any, loss: Tensor) -> None:
    """Mark the nodes of a graph as passed by the coming backward pass."""
    for _, entry in seen_nodes(loss.grad_fn):
        if entry.running_sum_length or entry.past_iterations or entry.iteration < watcher.iteration - 1:
            watcher.passed_later.add(entry.site)
        entry.first_backward = entry.first_backward or watcher.iteration + 1


def leaves_reached(watcher: Any, call: BackwardCall, loss: Tensor) -> list[Tensor]:
    """Return the leaves that a backward pass will reach; after the first passes, search the graph only now and then."""
    if call.walk_count > MAX_FIRST_WALKS and len(call.iterations) % WALK_EVERY:
        known = [tensor for ref in call.leaves if (tensor := ref()) is not None]
        top = origin_of(loss.grad_fn)
        if top is not None and not top.first_backward:
            top.first_backward = watcher.iteration + 1
        if len(known) == len(call.leaves):
            return known
    mark_nodes(watcher, loss)
    call.walk_count += 1
    reached = leaves_of(loss.grad_fn)
    call.leaves = [weakref.ref(tensor) for tensor in reached]
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        if leaf.is_parameter and not leaf.backward_count:
            watcher.fresh_parameters.setdefault(leaf.site, set()).add(watcher.iteration)
    return reached


def before_backward(watcher: Any, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> None:
    """Check the leaves for gradients left from an earlier step, and the graph of the loss for its sign and cuts."""
    checked = 0
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        stale = NOWHERE
        if tensor.grad is not None and leaf.backward_count and (leaf.stepped or leaf.written_by_hand):
            checked += 1
            kept = not leaf.stepped or tensor.grad._version == leaf.grad_version  # else scaled by hand
            if kept and (checked <= 4 or watcher.iteration <= EARLY_ITERATIONS) and bool(tensor.grad.any()):
                stale = call.site
                by_hand = leaf.written_by_hand and not leaf.stepped
                if (
                    leaf.stale_site.line
                    and by_hand
                    and not any(id(tensor) in opt.parameter_ids for opt in watcher.optimizers)
                ):
                    report_stale_gradient(watcher, leaf.stale_site, tensor)
        elif tensor.grad is not None and leaf.stale_site.line:
            stale = leaf.stale_site
        leaf.stale_site = stale
    call.undivided_mean = is_undivided_mean(loss)
    check_step_before_backward(watcher, loss, reached, call.site)
    iteration, cleared = watcher.last_zero_grad
    call.cleared_site = cleared if iteration == watcher.iteration else NOWHERE
    if watcher.iteration < MAX_HOOKED_PASSES:
        depth.hook_tanh_chain(watcher, loss)
    if not call.iterations:
        call.is_log_likelihood = is_log_probability(loss)
        call.cost_sign, call.minus_site = cost_sign(loss.grad_fn)
        call.policy_site = policy_gradient_site(loss.grad_fn)
    if watcher.lost_term_sums:
        note_lost_terms(watcher, loss)
    if watcher.data_writes:
        check_data_writes(watcher, loss)


def check_data_writes(watcher: Any, loss: Tensor) -> None:
    """Report writes through .data, which PyTorch does not see, to values that a node has saved."""
    for node, entry in () if watcher.hidden_saves else seen_nodes(loss.grad_fn):
        late = [write for write in watcher.data_writes if write[1] >= entry.node_number]
        for name in dir(node) if late else ():
            kept = getattr(node, name) if name.startswith("_saved_") else None
            address = address_of(kept) if isinstance(kept, Tensor) else 0
            for pointer, _, here in late:
                if pointer == address:
                    evidence = f"The write in this line goes through .data, and {entry.name} in line {entry.site.line} "
                    evidence += "had saved these numbers for its gradient, which is now wrong."
                    watcher.report(1, here, evidence)
    watcher.data_writes.clear()


def note_lost_terms(watcher: Any, loss: Tensor) -> None:
    """Record the terms of a loss that have lost their graph."""
    for count, node in enumerate(walk(loss.grad_fn)):
        entry = origin_of(node)
        if count > MAX_TERMS or entry is None:
            break
        _, cut = watcher.lost_term_sums.get(id(entry), (None, None))
        if cut is not None:
            watcher.lost_terms.setdefault(cut.site, []).append(cut)
    watcher.lost_term_sums.clear()


def report_stale_gradient(watcher: Any, where: Site, tensor: Tensor) -> None:
    """Report that a gradient was added to one that an earlier step had used."""
    cleared = watcher.zero_grad_sites.get(id(tensor))
    if cleared is not None:
        evidence = f"zero_grad() here does not run before each backward() in line {where.line}"
    elif watcher.last_call is not None and watcher.last_call.cleared_site.line:
        cleared = watcher.last_call.cleared_site
        evidence = f"zero_grad() here clears other parameters, not all that backward() in line {where.line} reaches"
    if cleared is not None:
        watcher.report(
            6, cleared, f"{evidence}: a gradient of shape {tuple(tensor.shape)} was added to that of the previous step."
        )
        return
    bare = line_of_missing_call(where.file, "zero_grad")
    if bare:
        evidence = "This line names zero_grad without calling it: the parentheses are missing. backward() in line "
        evidence += f"{where.line} adds to the gradients of the previous step."
        watcher.report(6, Site(where.file, bare), evidence, fixes.CALL_IT)
        return
    evidence = f"backward() here added to a gradient of shape {tuple(tensor.shape)} that the last step had already "
    evidence += "used, and the next step used the sum: zero_grad() was not called in between."
    watcher.report(6, where, evidence, "" if watcher.optimizers else fixes.CLEAR_BY_HAND)


def is_undivided_mean(loss: Tensor) -> bool:
    """Tell whether the loss is a mean over a batch, not divided by anything."""
    node: Any = loss.grad_fn
    entry = origin_of(node)
    if entry is not None and entry.loss_scaled:  # by a GradScaler
        node = node.next_functions[0][0]
    while node is not None and kind(node) == "Add":
        node = node.next_functions[0][0]
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


def after_backward(watcher: Any, call: BackwardCall, loss: Tensor, reached: list[Tensor]) -> None:
    """Update the leaves that a backward pass reached; check its gradients in some iterations."""
    early = watcher.inspect_closely and (len(call.iterations) <= 3 or watcher.iteration > EARLY_ITERATIONS)
    watcher.forward_ran = False
    call.since_step.append(watcher.iteration)
    for tensor in reached:
        leaf = watcher.leaf(tensor)
        leaf.changed |= leaf.written_by_hand or (
            leaf.backward_count > 0 and tensor._version != leaf.version_at_backward
        )
        leaf.version_at_backward = tensor._version
        leaf.backward_count += 1
        leaf.last_backward = watcher.iteration
        leaf.written_by_hand = leaf.stepped = False
    if any(danger.iteration == watcher.iteration - 1 for danger in watcher.dangers):
        values.report_non_finite(watcher, loss, reached)
    if early and reached:
        inspect_gradients(watcher, loss, reached)
    watcher.inspect_closely = watcher.iteration < EARLY_ITERATIONS or not watcher.iteration % SAMPLE_EVERY


def inspect_gradients(watcher: Any, loss: Tensor, reached: list[Tensor]) -> None:
    """Run the expensive checks: operations with slope 0, constant weights, gradients by depth."""
    weights = [tensor for tensor in reached if tensor.dim() >= 2 and tensor.grad is not None]
    zeros = [tensor for tensor in weights if all_zero(tensor.grad)]  # type: ignore[arg-type]
    if zeros:
        known_zero = set(map(id, zeros))
        for node, entry in seen_nodes(loss.grad_fn):
            if kind(node) in FLAT_OPERATIONS:
                below = set(map(id, leaves_of(node)))
                blocked = known_zero & below
                if blocked and not any(id(tensor) in below - known_zero for tensor in weights):
                    evidence = f"{entry.name} in this line is flat: the gradients of {len(blocked)} weights before it "
                    evidence += "are exactly 0."
                    watcher.report(21, entry.site, evidence, fixes.STRAIGHT_THROUGH)
    if watcher.iteration <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t) and is_symmetric(t.grad)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            watcher.constant_weights.update({id(tensor): watcher.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        depth.compare_by_depth(watcher, loss, weights)
        depth.compare_small_weights(watcher, weights, reached)


def all_zero(tensor: Tensor) -> bool:
    """Tell whether every number is 0. Most tensors show in their first row that they are not."""
    if not tensor.is_sparse and bool(tensor[:1].any()):
        return False
    return not bool(tensor.any())


def is_symmetric(gradient: Tensor | None) -> bool:
    """Tell whether all outputs of a layer get the same gradient, or all its inputs: nothing tells the units apart."""
    if gradient is None or gradient.is_sparse:
        return False
    least = 1e-5 * float(gradient.abs().max())
    return any(float((gradient - part).abs().max()) <= least for part in (gradient[:1], gradient[:, :1]))


def all_equal(tensor: Tensor) -> bool:
    """Tell whether all numbers are equal. Most tensors show in their first row that they are not."""
    numbers = tensor.detach()
    return all(float(part.max()) == float(part.min()) for part in (numbers[:1], numbers))
