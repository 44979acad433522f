"""The sign of a loss, and the order of clearing, backward(), clipping and the step."""

import math
from typing import Any

from lab.watch import fixes
from lab.watch.sites import NOWHERE, Site, line_with_bare
from lab.watch.tracks import VIEWS, WatchedOptimizer, kind, made

SQUARED = frozenset(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"))
COSTS = SQUARED | {"NllLoss", "NllLoss2D", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"}
TERMS = frozenset(("Mean", "Sum", "Neg", "Add", "Sub", "Mul", "Div", "Stack", "Cat"))
PICKS = frozenset(("Mean", "Sum", "Index", "Gather", "Diagonal"))
MAX_TERMS = 40
MIN_TURNS = 3
MIN_IDLE = 5  # turns without a step


def cost_sign(node: Any) -> tuple[int, Site]:
    """1 for a known cost (cross entropy, a squared error), -1 for one with a minus, and where that is; else 0."""
    sign, where = 1, NOWHERE
    while node is not None:
        name, entry = kind(node), made(node)
        if name in COSTS or (name == "Pow" and getattr(node, "_saved_exponent", 0) == 2):
            return sign, where
        if name == "Neg":
            sign, where = -sign, entry.site if entry is not None else where
        elif name not in VIEWS | {"Mean", "Sum"}:
            return 0, NOWHERE
        node = node.next_functions[0][0] if node.next_functions else None
    return 0, NOWHERE


def wrong_way(watcher: Any) -> None:
    """A cost that is made larger, or the likelihood of the data that is made smaller."""
    for place in watcher.passes.values():
        values = place.values
        if len(values) < MIN_TURNS:
            continue
        reached = {id(tensor) for ref in place.leaves if (tensor := ref()) is not None}
        tracks = [track for track in watcher.optimizers if track.steps >= MIN_TURNS and track.owned & reached]
        upward = [track for track in tracks if any(group.get("maximize") for group in groups_of(track))]
        alone = len(watcher.passes) == 1 and len(tracks) == 1 and reached <= tracks[0].owned and len(reached) > 1
        if place.likelihood and tracks and not upward and values[-1] < values[0]:
            watcher.say(
                18,
                place.site,
                "The loss is a sum or mean of log-probabilities without a minus: "
                f"{len(values)} steps made the data less likely.",
                fixes.ADD_A_MINUS,
            )
        elif place.policy.line and tracks and not upward:
            watcher.say(
                18,
                place.policy,
                "Log-probabilities times their gain are a term of the loss with a plus: each "
                "step makes what paid well less likely.",
                fixes.ADD_A_MINUS,
            )
        elif alone and place.cost > 0 and upward and not values[-1] < values[0]:
            watcher.say(
                18,
                upward[0].site,
                f"maximize=True, and the loss is a cost: {len(values)} steps brought it "
                f"from {values[0]:.3g} to {values[-1]:.3g}.",
                fixes.NO_MAXIMIZE,
            )
        elif alone and place.cost < 0 and not upward and not values[-1] > values[0]:
            watcher.say(
                18,
                place.cost_site,
                f"The minus in this line turns the cost around: {len(values)} steps "
                f"brought the cost from {-values[0]:.3g} to {-values[-1]:.3g}.",
                fixes.NO_MINUS,
            )


def stepped_between(watcher: Any, loss: Any, reached: list[Any], here: Site) -> None:
    """A step between the forward pass of a loss and its backward(): the gradient is of the parameters before."""
    entry = made(loss.grad_fn)
    if entry is None or entry.turn < watcher.turn:
        return
    for track in watcher.optimizers:
        between = track.steps and track.last_turn == watcher.turn and 0 < entry.at <= track.clock
        track.late = track.late + 1 if between and any(id(tensor) in track.owned for tensor in reached) else 0
        if track.late == MIN_TURNS:
            evidence = f"step() in this line comes after the forward pass of line {entry.site.line} and before its "
            evidence += f"backward() in line {here.line}: each step uses the gradient of the batch before."
            watcher.say(18, track.last_step, evidence)


def policy_uphill(node: Any, sign: int = 1, depth: int = 0) -> Site:
    """Where log-probabilities times a gain are a term of a loss with a plus, so that a step makes the gain smaller."""
    while node is not None and depth < MAX_TERMS:
        name, entry = kind(node), made(node)
        if entry is not None and entry.gain:
            return entry.site if sign > 0 and not entry.negative else NOWHERE
        sign = -sign if name == "Neg" or (entry is not None and entry.negative) else sign
        if name not in VIEWS | TERMS:
            return NOWHERE
        terms = [other for other, _ in node.next_functions if other is not None]
        depth += 1
        for index, other in enumerate(terms[1:], 1):
            found = policy_uphill(other, -sign if name == "Sub" and index == 1 else sign, depth)
            if found.line:
                return found
        node = terms[0] if terms else None
    return NOWHERE


def groups_of(track: WatchedOptimizer) -> list[Any]:
    optimizer = track.ref()
    return [] if optimizer is None else list(optimizer.param_groups)


def never_stepped(watcher: Any) -> None:
    """An optimizer whose gradients were computed and cleared, turn after turn, and that took no step."""
    for track in watcher.optimizers:
        leaves = [leaf for key, leaf in watcher.leaves.items() if key in track.owned]
        if track.steps or watcher.scalers or not any(leaf.got >= MIN_IDLE for leaf in leaves):
            continue
        cleared = any(watcher.cleared.get(key) for key in track.owned)
        if cleared and not any(leaf.changed for leaf in leaves):
            last = max((place for place in watcher.passes.values()), key=lambda place: place.turns[-1:])
            bare = line_with_bare(last.site.file, "step")
            watcher.say(
                18,
                Site(last.site.file, bare or last.site.line),
                "step is named in this line, and not called: the parentheses are missing."
                if bare
                else f"{watcher.turn} backward passes filled the "
                f"gradients, and {track.kind} in line {track.site.line} never took a step.",
                fixes.CALL_IT if bare else "",
            )


def clipped(watcher: Any, parameters: Any, limit: Any, here: Site) -> None:
    """Gradients are clipped: too late if the step that used them is over."""
    given = [parameters] if hasattr(parameters, "grad") else list(parameters)
    leaves = [watcher.leaves.get(id(tensor)) for tensor in given if tensor.grad is not None]
    known = [leaf for leaf in leaves if leaf is not None and leaf.got]
    late = known and all(leaf.stepped for leaf in known)
    watcher.late_clips[here] = watcher.late_clips.get(here, 0) + 1 if late and math.isfinite(float(limit)) else 0
    if watcher.late_clips[here] == MIN_TURNS:
        evidence = "The gradients are clipped here after the step that used them: clip between backward() and step()."
        watcher.say(18, here, evidence)


def of_log_probabilities(loss: Any) -> bool:
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
