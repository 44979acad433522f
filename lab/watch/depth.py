"""Find vanishing gradients: along the steps of a recurrent network, and behind weights that start too small."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from lab.watch import fixes
from lab.watch.records import NodeOrigin, kind, origin_of, walk
from lab.watch.sites import NOWHERE, Site, line_that_names

Tensor = torch.Tensor
SATURATING = frozenset(("Sigmoid", "Tanh"))
MIN_STEPS = 50  # tanhs in a chain
MIN_VALUES = 5  # losses
MAX_FADED_RATIO = 1e-8  # gradient at the first tanh, relative to the last
MAX_SMALL_RATIO = 1e-5  # gradient of a weight, relative to the largest of a bias


@dataclass
class FadingSlope:
    """The norm of the gradient at the last and the first of a long chain of tanhs."""

    steps: int
    site: Site
    last: float = 0.0
    first: float = 0.0


def hook_tanh_chain(watcher: Any, loss: Tensor) -> None:
    """Register hooks that measure the gradient at both ends of a long chain of tanhs in the coming pass."""
    nodes = [node for node in walk(loss.grad_fn) if kind(node) in ("Tanh", "Sigmoid")]
    if len(nodes) < MIN_STEPS or any(kind(node) == "Sigmoid" for node in nodes):
        return
    entry: NodeOrigin | None = origin_of(nodes[0])
    slope = FadingSlope(len(nodes), entry.site if entry is not None else recurrent_layer_site(watcher))
    watcher.fading_slopes.append(slope)
    nodes.sort(key=lambda node: node._sequence_nr())
    nodes[-1].register_prehook(norm_hook(slope, "last"))
    nodes[0].register_prehook(norm_hook(slope, "first"))


def norm_hook(slope: FadingSlope, name: str) -> Callable[[Any], None]:
    def hook(gradients: Any) -> None:
        if gradients[0] is not None:
            setattr(slope, name, float(gradients[0].detach().norm()))

    return hook


def recurrent_layer_site(watcher: Any) -> Site:
    """Return the line that made a recurrent layer, or that filled its recurrent weights if their norm is below 1."""
    for ref, where in watcher.modules.values():
        layer = ref()
        if isinstance(layer, torch.nn.RNNBase):
            init = watcher.leaf(layer.weight_hh_l0).init_site
            largest = float(torch.linalg.matrix_norm(layer.weight_hh_l0.detach(), 2))  # type: ignore[operator]
            return init if init.line and init.line != where.line and largest < 1 else where  # type: ignore[no-any-return]
    return NOWHERE


def compare_small_weights(watcher: Any, weights: list[Tensor], reached: list[Tensor]) -> None:
    """Compare the gradients of weights that the script initialised with the largest gradient of a bias."""
    sizes = [float(t.grad.square().mean().sqrt()) for t in reached if t.dim() == 1 and t.grad is not None]
    largest = max(sizes, default=0.0)
    leaves = [watcher.leaf(tensor) for tensor in weights]
    filled = [leaf for leaf in leaves if leaf.init_site.line not in (0, leaf.site.line)]
    if len(filled) < 4 or not largest or len({leaf.init_site.line for leaf in filled}) > 1:
        return
    behind = [float(leaf.ref().grad.square().mean().sqrt()) for leaf in filled]
    if min(behind) < MAX_SMALL_RATIO * largest:
        spread = float(filled[0].ref().detach().std())
        evidence = f"{len(filled)} weights filled in this line (standard deviation {spread:.1e}) get gradients down to "
        evidence += f"{min(behind):.1e}; a bias gets {largest:.1e}."
        watcher.small_weight_ratios.append((min(behind) / largest, filled[0].init_site, evidence))


def loss_stands_still(watcher: Any) -> bool:
    """Tell whether no loss has fallen."""
    runs = [call.losses for call in watcher.backward_calls.values() if len(call.losses) >= MIN_VALUES]
    return bool(runs) and all(median(values[-5:]) > 0.9 * median(values[:3]) for values in runs)


def judge(watcher: Any) -> None:
    """Report vanishing gradients if the loss also stood still."""
    if not loss_stands_still(watcher):
        return
    if watcher.small_weight_ratios and not watcher.depth_ratios:
        _, where, evidence = min(watcher.small_weight_ratios, key=lambda entry: entry[0])
        watcher.report(15, where, evidence, fixes.LARGER_WEIGHTS)
    for slope in watcher.fading_slopes:
        if slope.site.line and slope.last and slope.first < MAX_FADED_RATIO * slope.last:
            evidence = f"Of the gradient at the last of {slope.steps} steps of the network, {slope.last:.1e}, the "
            evidence += f"first one gets {slope.first:.1e}."
            watcher.report(15, slope.site, evidence)


def compare_by_depth(watcher: Any, loss: Tensor, weights: list[Tensor]) -> None:
    """Compare the gradients of the deepest and the last weight, by the number of sigmoids and tanhs above them."""
    level: dict[Any, int] = {loss.grad_fn: 0}
    squash: dict[int, int] = {}
    sites: list[tuple[Site, str]] = []
    for node in walk(loss.grad_fn):
        here = level.get(node, 0)
        if kind(node) in SATURATING:
            here += 1
            entry = origin_of(node)
            if entry is not None:
                sites.append((entry.module_site if entry.module_site.line else entry.site, kind(node)))
        if hasattr(node, "variable"):
            squash[id(node.variable)] = here
        for other, _ in node.next_functions:
            if other is not None:
                level[other] = min(here, level.get(other, here))
    known = [tensor for tensor in weights if id(tensor) in squash]
    if not known or not sites:
        return
    first, last = max(known, key=lambda t: squash[id(t)]), min(known, key=lambda t: squash[id(t)])
    low, high = (float(t.grad.double().square().mean().sqrt()) for t in (first, last))  # type: ignore[union-attr]
    if squash[id(first)] >= 4 and high > 0 and low < high * 1e-3:
        most, name = Counter(sites).most_common(1)[0][0]
        most = Site(most.file, line_that_names(most.file, most.line, name))
        evidence = f"After {squash[id(first)]} sigmoids or tanhs the gradient of the first layer has size {low:.1e}, "
        evidence += f"that of the last {high:.1e}."
        watcher.depth_ratios.append((low / high, most, evidence))
