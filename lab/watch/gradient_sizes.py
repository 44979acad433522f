"""Find gradients that are 0, equal for all units of a layer, or vanish, and what makes them so."""

from collections import Counter
from statistics import median

import torch

from lab.watch import advice
from lab.watch.records import MIN_ITERATIONS, GraphNode, kind, leaves_of, origin_of, seen_nodes, shapes_of, walk
from lab.watch.run import WatchedRun
from lab.watch.sites import Site

Tensor = torch.Tensor
FLAT_OPERATIONS = frozenset(("Round", "Floor", "Ceil", "Sign", "Trunc", "Bernoulli"))
SATURATING = frozenset(("Sigmoid", "Tanh"))
MIN_VALUES = 5  # losses
MIN_DEPTH = 4  # sigmoids or tanhs above a weight
MAX_FADED_RATIO = 1e-3  # gradient of the deepest weight, relative to the last
MAX_SMALL_RATIO = 1e-5  # gradient of a weight, relative to the largest of a bias


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
            run.report(21, entry.site, evidence + "exactly 0.", advice.STRAIGHT_THROUGH)
    if run.clock.iteration <= 2:
        constant = [t for t in weights if t.numel() > 1 and all_equal(t) and is_symmetric(t.grad)]
        if 2 * len(constant) > max(2, len(weights)) or (constant and len(zeros) == len(weights) > 1):
            run.numbers.constant_weights.update({id(tensor): run.leaf(tensor) for tensor in constant})
    if len(weights) >= 4:
        compare_by_depth(run, loss, weights, reached)


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


def compare_by_depth(run: WatchedRun, loss: Tensor, weights: list[Tensor], reached: list[Tensor]) -> None:
    """Compare the gradients of the deepest and the last weight by the sigmoids and tanhs above them, and those of
    weights that the script filled with the largest of a bias."""
    above, sites = saturating_above(loss.grad_fn)
    known = [tensor for tensor in weights if id(tensor) in above]
    if known and sites:
        first, last = max(known, key=lambda t: above[id(t)]), min(known, key=lambda t: above[id(t)])
        low, high = gradient_size(first), gradient_size(last)
        if above[id(first)] >= MIN_DEPTH and high > 0 and low < high * MAX_FADED_RATIO:
            evidence = f"After {above[id(first)]} sigmoids or tanhs the gradient of the first layer has size "
            evidence += f"{low:.1e}, that of the last {high:.1e}."
            run.numbers.faded.append((low / high, Counter(sites).most_common(1)[0][0], evidence, ""))
            return
    largest = max((gradient_size(t) for t in reached if t.dim() == 1 and t.grad is not None), default=0.0)
    filled = [(t, leaf.init_site) for t in weights if (leaf := run.leaf(t)).init_site.line not in (0, leaf.site.line)]
    if len(filled) < MIN_DEPTH or not largest or len({where.line for _, where in filled}) > 1:
        return
    smallest = min(gradient_size(tensor) for tensor, _ in filled)
    if smallest < MAX_SMALL_RATIO * largest:
        spread = float(filled[0][0].detach().std())
        evidence = f"{len(filled)} weights filled in this line (standard deviation {spread:.1e}) get gradients down to "
        evidence += f"{smallest:.1e}; a bias gets {largest:.1e}."
        run.numbers.faded.append((smallest / largest, filled[0][1], evidence, advice.LARGER_WEIGHTS))


def saturating_above(root: GraphNode) -> tuple[dict[int, int], list[Site]]:
    """Return the number of sigmoids and tanhs between the loss and each leaf, and the lines of all of them."""
    level: dict[GraphNode, int] = {root: 0}
    above: dict[int, int] = {}
    sites: list[Site] = []
    for node in walk(root):
        here = level.get(node, 0)
        if kind(node) in SATURATING:
            here += 1
            entry = origin_of(node)
            if entry is not None:
                sites.append(entry.place)
        if hasattr(node, "variable"):
            above[id(node.variable)] = here
        for other, _ in node.next_functions:
            if other is not None:
                level[other] = min(here, level.get(other, here))
    return above, sites


def gradient_size(tensor: Tensor) -> float:
    """Return the root of the mean square of a gradient."""
    return 0.0 if tensor.grad is None else float(tensor.grad.double().square().mean().sqrt())


def judge(run: WatchedRun) -> None:
    """Report weights that began equal, and vanishing gradients: behind filled weights only if the loss also stood
    still."""
    if equal := list(run.numbers.constant_weights.values()):
        where = equal[0].init_site if equal[0].init_site.line else equal[0].site
        evidence = f"{len(equal)} weight matrices (shapes {shapes_of(equal)}) began with the same number "
        run.report(16, where, evidence + "everywhere, so all units of a layer get the same gradient.")
    runs = [call.losses for call in run.training.calls.values() if len(call.losses) >= MIN_VALUES]
    still = bool(runs) and all(median(values[-5:]) > 0.9 * median(values[:3]) for values in runs)
    if run.numbers.faded and run.clock.iteration >= MIN_ITERATIONS:
        _, where, evidence, advice = min(run.numbers.faded, key=lambda entry: entry[0])
        if still or not advice:
            run.report(15, where, evidence, advice)
