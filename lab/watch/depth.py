"""Find vanishing gradients: behind many sigmoids and tanhs, and behind weights that start too small."""

from collections import Counter
from statistics import median

import torch

from lab.watch import fixes
from lab.watch.records import GraphNode, kind, origin_of, walk
from lab.watch.run import WatchedRun
from lab.watch.sites import Site

Tensor = torch.Tensor
SATURATING = frozenset(("Sigmoid", "Tanh"))
MIN_VALUES = 5  # losses
MIN_ITERATIONS = 3
MIN_DEPTH = 4  # sigmoids or tanhs above a weight
MAX_FADED_RATIO = 1e-3  # gradient of the deepest weight, relative to the last
MAX_SMALL_RATIO = 1e-5  # gradient of a weight, relative to the largest of a bias


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
        run.numbers.faded.append((smallest / largest, filled[0][1], evidence, fixes.LARGER_WEIGHTS))


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
    """Report vanishing gradients: behind filled weights only if the loss also stood still."""
    calls = run.training.calls.values()
    iterations = {number for call in calls for number in call.iterations}
    runs = [call.losses for call in calls if len(call.losses) >= MIN_VALUES]
    still = bool(runs) and all(median(values[-5:]) > 0.9 * median(values[:3]) for values in runs)
    if run.numbers.faded and len(iterations) >= MIN_ITERATIONS:
        _, where, evidence, advice = min(run.numbers.faded, key=lambda entry: entry[0])
        if still or not advice:
            run.report(15, where, evidence, advice)
