"""Find gradients that are 0, equal for all units of a layer, or vanish, and relus whose units are 0 for all inputs."""

from collections import Counter

from torch import Tensor

from lab.watch.graph import GraphNode, kind, seen_nodes, walk
from lab.watch.learning_rates import REPLACING_STEP, rate_line
from lab.watch.records import MIN_ITERATIONS, NodeOrigin, shapes_of
from lab.watch.run import WatchedRun
from lab.watch.training_events import Act

SATURATING = frozenset(("Sigmoid", "Tanh"))
MIN_DEAD_SHARE = 0.9  # share of the units of a layer
MIN_DEPTH = 4  # sigmoids or tanhs above a weight
MAX_FADED_RATIO = 1e-3  # gradient of the deepest weight, relative to the last


def measure_dead_units(run: WatchedRun, entry: NodeOrigin, result: Tensor) -> None:
    """Record the share of a relu's units that are 0 for the whole batch, once per iteration."""
    shares = run.numbers.dead_shares.setdefault(entry.place, {})
    if result.dim() < 2 or result.shape[0] < 4 or run.clock.iteration in shares:
        return
    over = (0, *range(2, result.dim()))
    shares[run.clock.iteration] = float((result.detach() == 0).all(dim=over).double().mean())


def inspect_gradients(run: WatchedRun, loss: Tensor, reached: list[Tensor]) -> None:
    """Run the expensive checks: constant weights, gradients by depth."""
    weights = [tensor for tensor in reached if tensor.dim() >= 2 and tensor.grad is not None]
    zeros = [tensor for tensor in weights if all_zero(tensor.grad)]  # type: ignore[arg-type]
    if run.clock.iteration <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t) and is_symmetric(t.grad)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            run.numbers.constant_weights.update({id(tensor): run.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        compare_by_depth(run, loss, weights)


def all_zero(tensor: Tensor) -> bool:
    """Return whether every number is 0. Most tensors show in their first row that they are not."""
    return (tensor.is_sparse or not bool(tensor[:1].any())) and not bool(tensor.any())


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


def compare_by_depth(run: WatchedRun, loss: Tensor, weights: list[Tensor]) -> None:
    """Compare the gradients of the deepest and the last weight by the sigmoids and tanhs above them."""
    saturating = [entry.place for node, entry in seen_nodes(loss.grad_fn) if kind(node) in SATURATING]
    above = saturating_above(loss.grad_fn) if saturating else {}
    known = sorted((tensor for tensor in weights if id(tensor) in above), key=lambda tensor: above[id(tensor)])
    if known:
        depth, low, high = above[id(known[-1])], gradient_size(known[-1]), gradient_size(known[0])
        if depth >= MIN_DEPTH and high > 0 and low < high * MAX_FADED_RATIO:
            evidence = f"Behind {depth} sigmoids or tanhs, gradients fade from {high:.1e} to {low:.1e}."
            run.numbers.faded.append((low / high, Counter(saturating).most_common(1)[0][0], evidence))


def saturating_above(root: GraphNode) -> dict[int, int]:
    """Return the number of sigmoids and tanhs between the loss and each leaf, by the leaf's id."""
    level: dict[GraphNode, int] = {root: 0}
    for node in walk(root):
        level[node] += kind(node) in SATURATING
        for other, _ in node.next_functions:
            if other is not None:
                level[other] = min(level[node], level.get(other, level[node]))
    return {id(node.variable): depth for node, depth in level.items() if hasattr(node, "variable")}


def gradient_size(tensor: Tensor) -> float:
    """Return the root of the mean square of a gradient."""
    return 0.0 if tensor.grad is None else float(tensor.grad.double().square().mean().sqrt())


def judge(run: WatchedRun) -> None:
    """Report weights that began equal, dead relus, and vanishing gradients."""
    trained = any(map(run.events.last, (Act.STEP, Act.WRITE)))  # others may be numbers for a picture of broadcasting
    if trained and (equal := list(run.numbers.constant_weights.values())):
        where = equal[0].init_site or equal[0].site
        evidence = f"{len(equal)} weight matrices (shapes {shapes_of(equal)}) began with the same number "
        run.report(16, where, evidence + "everywhere, so all units of a layer get the same gradient.")
    for where, by_iteration in run.numbers.dead_shares.items() if run.training.optimizers else ():
        last = list(by_iteration.values())[-3:]
        if len(by_iteration) < MIN_ITERATIONS or min(last) < MIN_DEAD_SHARE:
            continue
        evidence = f"{last[-1]:.0%} of the units of the relu in line {where.line} were 0 for all inputs "
        alive = max((n for n, share in by_iteration.items() if share < MIN_DEAD_SHARE), default=-1)
        steps = [(step, opt) for opt in run.training.optimizers for step in opt.measured_steps]
        steps = [one for one in steps if one[0].iteration <= alive + 1 and one[0].relative_length > REPLACING_STEP]
        if steps:
            step, opt = steps[0]
            size = f"{step.relative_length:.2g} times their size."
            how = f"after a step of {opt.kind} that changed the parameters by {size}"
            run.report(17, rate_line(opt), evidence + how)
        else:
            run.report(14, where, f"{evidence}in each of the last {len(last)} batches that were checked.")
    if run.numbers.faded and run.clock.iteration >= MIN_ITERATIONS:
        run.report(15, *min(run.numbers.faded)[1:])
