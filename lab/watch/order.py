"""Check the sign of a loss, and the order of zero_grad(), backward(), clipping and step()."""

import math
from typing import Any

from lab.watch import fixes
from lab.watch.records import VIEWS, WatchedOptimizer, kind, origin_of
from lab.watch.sites import NOWHERE, Site, line_of_missing_call

SQUARED = frozenset(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"))
LIKELIHOODS = frozenset(("NllLoss", "NllLoss2D", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"))
COSTS = SQUARED | LIKELIHOODS
TERMS = frozenset(("Mean", "Sum", "Neg", "Add", "Sub", "Mul", "Div", "Stack", "Cat"))
REDUCTIONS = frozenset(("Mean", "Sum", "Index", "Gather", "Diagonal"))
MAX_TERMS = 40
MIN_ITERATIONS = 3
MIN_IDLE = 5  # backward passes without a step


def cost_sign(node: Any) -> tuple[int, Site]:
    """Return 1 for a known cost (cross entropy, squared error), -1 for minus one, else 0, and the line of the minus.
    A sum has the sign of its first term, if that is a cross entropy; its minus may be right, as in a bound."""
    sign, where, costs = 1, NOWHERE, COSTS
    while node is not None:
        name, entry = kind(node), origin_of(node)
        if name in costs or (costs is COSTS and name == "Pow" and getattr(node, "_saved_exponent", 0) == 2):
            return sign, where if costs is COSTS else NOWHERE
        if name == "Neg":
            sign, where = -sign, entry.site if entry is not None else where
        elif name in ("Add", "Sub"):
            costs = LIKELIHOODS  # a squared distance minus another may be wanted large
        elif name not in VIEWS | {"Mean", "Sum"}:
            return 0, NOWHERE
        node = node.next_functions[0][0] if node.next_functions else None
    return 0, NOWHERE


def check_direction(watcher: Any) -> None:
    """Report a cost that steps make larger, or a likelihood of the data that they make smaller."""
    for call in watcher.backward_calls.values():
        values = call.losses
        if len(values) < MIN_ITERATIONS:
            continue
        reached = {id(tensor) for ref in call.leaves if (tensor := ref()) is not None}
        optimizers = [opt for opt in watcher.optimizers if opt.steps >= MIN_ITERATIONS and opt.parameter_ids & reached]
        upward = [opt for opt in optimizers if any(group.get("maximize") for group in param_groups(opt))]
        single = len(watcher.backward_calls) == len(optimizers) == 1 and len(reached) > 1
        alone = single and reached <= optimizers[0].parameter_ids
        if call.is_log_likelihood and optimizers and not upward and values[-1] < values[0]:
            evidence = f"The loss is a sum or mean of log-probabilities without a minus: {len(values)} steps made the "
            evidence += "data less likely."
            watcher.report(18, call.site, evidence, fixes.ADD_A_MINUS)
        elif call.policy_site.line and optimizers and not upward:
            evidence = "Log-probabilities times their gain enter the loss with a plus: each step makes actions with a "
            evidence += "high gain less likely."
            watcher.report(18, call.policy_site, evidence, fixes.ADD_A_MINUS)
        elif alone and call.cost_sign > 0 and upward and not values[-1] < values[0]:
            evidence = f"maximize=True, and the loss is a cost: {len(values)} steps took it from {values[0]:.3g} to "
            evidence += f"{values[-1]:.3g}."
            watcher.report(18, upward[0].site, evidence, fixes.NO_MAXIMIZE)
        elif alone and call.cost_sign > 0 and not upward and climbs(optimizers[0]) and values[-1] > values[0]:
            evidence = f"{optimizers[0].kind}.step() moves the parameters along their gradient, and the loss rose from "
            evidence += f"{values[0]:.3g} to {values[-1]:.3g}."
            watcher.report(18, optimizers[0].write_site, evidence, fixes.STEP_DOWN)
        elif alone and call.cost_sign < 0 and not upward and not values[-1] > values[0]:
            if call.minus_site.line:
                took = f"{len(values)} steps took it from {-values[0]:.3g} to {-values[-1]:.3g}."
                watcher.report(18, call.minus_site, f"The minus in this line reverses the cost: {took}", fixes.NO_MINUS)
            else:
                evidence = f"The loss begins with minus a cross entropy, and {len(values)} steps took the loss from "
                evidence += f"{values[0]:.3g} to {values[-1]:.3g}: the data became less likely."
                watcher.report(18, call.site, evidence, fixes.ADD_A_MINUS)


def climbs(opt: WatchedOptimizer) -> bool:
    """Tell whether each measured step of an optimizer that the script defines went along the gradient."""
    moves = opt.measured_steps
    return bool(opt.write_site.line) and len(moves) >= MIN_ITERATIONS and all(move.along_gradient > 0 for move in moves)


def check_step_before_backward(watcher: Any, loss: Any, reached: list[Any], here: Site) -> None:
    """Report steps between the forward pass of a loss and its backward(), whose gradient is then one step old."""
    entry = origin_of(loss.grad_fn)
    if entry is None or entry.iteration < watcher.iteration:
        return
    for opt in watcher.optimizers:
        between = opt.steps and opt.last_iteration == watcher.iteration and 0 < entry.node_number <= opt.node_count
        late = between and any(id(tensor) in opt.parameter_ids for tensor in reached)
        opt.late_backwards = opt.late_backwards + 1 if late else 0
        if opt.late_backwards == MIN_ITERATIONS:
            evidence = f"step() in this line comes after the forward pass of line {entry.site.line} and before its "
            evidence += f"backward() in line {here.line}: each step uses the gradient of the previous batch."
            watcher.report(18, opt.last_step_site, evidence)


def policy_gradient_site(node: Any, sign: int = 1, depth: int = 0) -> Site:
    """Return the line where log-probabilities times a gain enter a loss with a plus, or NOWHERE."""
    while node is not None and depth < MAX_TERMS:
        name, entry = kind(node), origin_of(node)
        if entry is not None and entry.has_gain:
            return entry.site if sign > 0 and not entry.has_negative_factor else NOWHERE
        sign = -sign if name == "Neg" or (entry is not None and entry.has_negative_factor) else sign
        if name not in VIEWS | TERMS:
            return NOWHERE
        terms = [other for other, _ in node.next_functions if other is not None]
        depth += 1
        for index, other in enumerate(terms[1:], 1):
            found = policy_gradient_site(other, -sign if name == "Sub" and index == 1 else sign, depth)
            if found.line:
                return found
        node = terms[0] if terms else None
    return NOWHERE


def param_groups(opt: WatchedOptimizer) -> list[Any]:
    optimizer = opt.ref()
    return [] if optimizer is None else list(optimizer.param_groups)


def check_never_stepped(watcher: Any) -> None:
    """Report an optimizer that never stepped although its gradients were computed and cleared again and again."""
    for opt in watcher.optimizers:
        leaves = [leaf for key, leaf in watcher.leaves.items() if key in opt.parameter_ids]
        if opt.steps or watcher.uses_grad_scaler or not any(leaf.backward_count >= MIN_IDLE for leaf in leaves):
            continue
        cleared = any(watcher.zero_grad_sites.get(key) for key in opt.parameter_ids)
        if cleared and not any(leaf.changed for leaf in leaves):
            last = max((call for call in watcher.backward_calls.values()), key=lambda call: call.iterations[-1:])
            bare = line_of_missing_call(last.site.file, "step")
            watcher.report(
                18,
                Site(last.site.file, bare or last.site.line),
                "This line names step without calling it: the parentheses are missing."
                if bare
                else f"{watcher.iteration} backward passes filled the "
                f"gradients, and {opt.kind} in line {opt.site.line} never took a step.",
                fixes.CALL_IT if bare else "",
            )


def check_clip(watcher: Any, given: list[Any], limit: Any, here: Site) -> None:
    """Report gradients that are clipped after the step that used them, or before backward() computes them."""
    known = [leaf for tensor in given if (leaf := watcher.leaves.get(id(tensor))) is not None and leaf.backward_count]
    filled = [leaf for leaf in known if (tensor := leaf.ref()) is not None and tensor.grad is not None]
    late = bool(filled) and all(leaf.stepped for leaf in filled)
    useless = (late or (known and not filled)) and math.isfinite(float(limit))
    watcher.useless_clips[here] = watcher.useless_clips.get(here, 0) + 1 if useless else 0
    if watcher.useless_clips[here] == MIN_ITERATIONS:
        what = "clips gradients that the step has used" if late else "finds no gradient to clip"
        watcher.report(18, here, f"This line {what}: clip between backward() and step().")


def is_log_probability(loss: Any) -> bool:
    """Tell whether a loss is a sum or mean of parts of a log-softmax or of a distribution's `log_prob`."""
    node = loss.grad_fn
    while node is not None:
        entry = origin_of(node)
        if kind(node) == "LogSoftmax" or (entry is not None and entry.is_log_prob):
            return True
        if kind(node) not in REDUCTIONS | VIEWS | {"Stack", "Cat"} or not node.next_functions:
            return False
        node = node.next_functions[0][0]
    return False
