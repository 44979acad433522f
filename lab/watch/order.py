"""Check the sign of a loss, and the order of zero_grad(), backward(), clipping and step()."""

import math

import torch

from lab.watch import fixes
from lab.watch.records import VIEWS, GraphNode, has_numbers, kind, origin_of
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, line_of_missing_call

Tensor = torch.Tensor
COSTS = frozenset(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "NllLoss", "NllLoss2D", "BinaryCrossEntropy"))
COSTS |= {"BinaryCrossEntropyWithLogits"}
MIN_ITERATIONS = 3
MIN_IDLE = 5  # backward passes without a step


def cost_sign(node: GraphNode) -> tuple[int, Site]:
    """Return 1 for a known cost (cross entropy, squared error), -1 for minus one, else 0, and the line of the minus."""
    sign, where = 1, NOWHERE
    while node is not None:
        name, entry = kind(node), origin_of(node)
        if name in COSTS or (name == "Pow" and getattr(node, "_saved_exponent", 0) == 2):
            return sign, where
        if name == "Neg":
            sign, where = -sign, entry.site if entry is not None else where
        elif name not in VIEWS | {"Mean", "Sum"}:
            break
        node = node.next_functions[0][0] if node.next_functions else None
    return 0, NOWHERE


def check_direction(run: WatchedRun) -> None:
    """Report a cost that steps make larger."""
    training = run.training
    for call in training.calls.values():
        losses, reached = call.losses, set(map(id, call.tensors))
        optimizers = [opt for opt in training.optimizers if opt.steps >= MIN_ITERATIONS and opt.parameter_ids & reached]
        alone = len(training.calls) == len(optimizers) == 1 and len(reached) > 1
        if len(losses) < MIN_ITERATIONS or not alone or not reached <= optimizers[0].parameter_ids:
            continue
        (opt,) = optimizers
        upward = any(group.get("maximize") for group in opt.groups)
        worse = not call.cost_sign * (losses[-1] - losses[0]) < 0
        took = f"{len(losses)} steps took it from {losses[0]:.3g} to {losses[-1]:.3g}."
        moves = opt.measured_steps
        climbs = len(moves) >= MIN_ITERATIONS and all(move.along_gradient > 0 for move in moves)
        if call.cost_sign > 0 and worse and (upward or climbs):
            how = "maximize=True" if upward else f"{opt.kind}.step() moves the parameters along their gradient"
            evidence = f"{how}, and the loss is a cost: {took}"
            run.report(18, opt.site, evidence, fixes.NO_MAXIMIZE if upward else fixes.STEP_DOWN)
        elif call.cost_sign < 0 and worse and not upward:
            run.report(18, call.minus_site, f"The minus in this line reverses the cost: {took}", fixes.NO_MINUS)


def check_step_before_backward(run: WatchedRun, loss: Tensor, reached: list[Tensor], here: Site) -> None:
    """Report steps between the forward pass of a loss and its backward(), whose gradient is then one step old."""
    entry, now = origin_of(loss.grad_fn), run.clock.iteration
    if entry is None or entry.iteration < now:
        return
    for opt in run.training.optimizers:
        between = opt.steps and opt.last_iteration == now and 0 < entry.node_number <= opt.nodes
        late = between and any(id(tensor) in opt.parameter_ids for tensor in reached)
        opt.late_backwards = opt.late_backwards + 1 if late else 0
        if opt.late_backwards == MIN_ITERATIONS:
            evidence = f"step() in this line comes after the forward pass of line {entry.site.line} and before its "
            evidence += f"backward() in line {here.line}: each step uses the gradient of the previous batch."
            run.report(18, opt.last_step_site, evidence)


def check_never_stepped(run: WatchedRun) -> None:
    """Report an optimizer that never stepped although its gradients were computed and cleared again and again."""
    training = run.training
    for opt in training.optimizers:
        leaves = [leaf for key, leaf in run.tensors.leaves.copy().items() if key in opt.parameter_ids]
        if opt.steps or training.uses_grad_scaler or not any(leaf.backward_count >= MIN_IDLE for leaf in leaves):
            continue
        cleared = any(leaf.zero_grad_site.line for leaf in leaves)
        if cleared and not any(leaf.changed for leaf in leaves):
            last = max(training.calls.values(), key=lambda call: call.iterations[-1:]).site
            if not report_missing_call(run, 18, last.file, "step"):
                evidence = f"{run.clock.iteration} backward passes filled the gradients, and {opt.kind} in line "
                run.report(18, last, evidence + f"{opt.site.line} never took a step.")


def report_missing_call(run: WatchedRun, failure: int, file: str, method: str) -> bool:
    """Report a line that names a method and does not call it; return whether there is one."""
    line = line_of_missing_call(file, method)
    if line:
        evidence = f"This line names {method} without calling it: the parentheses are missing."
        run.report(failure, Site(file, line), evidence, fixes.CALL_IT)
    return bool(line)


def check_clip(run: WatchedRun, given: list[Tensor], limit: float, here: Site) -> None:
    """Report gradients that are clipped after the step that used them, or before backward() computes them."""
    leaves, clips = run.tensors.leaves, run.training.useless_clips
    readable = [tensor for tensor in given if has_numbers(tensor)]  # else its backward passes were not seen
    known = [leaf for tensor in readable if (leaf := leaves.get(id(tensor))) is not None and leaf.backward_count]
    filled = [leaf for leaf in known if leaf.gradient is not None]
    late = bool(filled) and all(leaf.stepped for leaf in filled)
    useless = (late or (known and not filled)) and math.isfinite(float(limit))
    clips[here] = clips.get(here, 0) + 1 if useless else 0
    if clips[here] == MIN_ITERATIONS:
        what = "clips gradients that the step has used" if late else "finds no gradient to clip"
        run.report(18, here, f"This line {what}: clip between backward() and step().")
