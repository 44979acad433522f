"""Gradients that vanish on the way back: over the steps of a recurrent network, behind weights that start too small."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from lab.watch import fixes
from lab.watch.sites import NOWHERE, Site, line_that_names
from lab.watch.tracks import Made, kind, made, walk

Tensor = torch.Tensor
SATURATING = frozenset(("Sigmoid", "Tanh"))
MIN_STEPS = 50  # tanhs in a row
MIN_VALUES = 5  # of the loss
FADED = 1e-8  # what is left of a gradient after these steps
SMALL = 1e-5  # what is left of it in the weights, where the last bias gets 1


@dataclass
class FadingSlope:
    """The size of the gradient at the last and at the first of many tanhs."""

    steps: int
    site: Site
    last: float = 0.0
    first: float = 0.0


def listen(watcher: Any, loss: Tensor) -> None:
    """Have the gradient measured at both ends of a long row of tanhs, in the pass that comes."""
    nodes = [node for node in walk(loss.grad_fn) if kind(node) in ("Tanh", "Sigmoid")]
    if len(nodes) < MIN_STEPS or any(kind(node) == "Sigmoid" for node in nodes):
        return
    entry: Made | None = made(nodes[0])
    slope = FadingSlope(len(nodes), entry.site if entry is not None else recurrent(watcher))
    watcher.slopes.append(slope)
    nodes.sort(key=lambda node: node._sequence_nr())
    nodes[-1].register_prehook(measure(slope, "last"))
    nodes[0].register_prehook(measure(slope, "first"))


def measure(slope: FadingSlope, name: str) -> Callable[[Any], None]:
    def hook(gradients: Any) -> None:
        if gradients[0] is not None:
            setattr(slope, name, float(gradients[0].detach().norm()))

    return hook


def recurrent(watcher: Any) -> Site:
    """Where a recurrent layer of PyTorch was made, or where the script filled its weights with numbers that shrink."""
    for ref, where in watcher.modules.values():
        layer = ref()
        if isinstance(layer, torch.nn.RNNBase):
            init = watcher.leaf(layer.weight_hh_l0).init
            largest = float(torch.linalg.matrix_norm(layer.weight_hh_l0.detach(), 2))  # type: ignore[operator]
            return init if init.line and init.line != where.line and largest < 1 else where  # type: ignore[no-any-return]
    return NOWHERE


def small_weights(watcher: Any, weights: list[Tensor], reached: list[Tensor]) -> None:
    """Compare the gradients of weights that the script filled with those of the last bias."""
    sizes = [float(t.grad.square().mean().sqrt()) for t in reached if t.dim() == 1 and t.grad is not None]
    largest = max(sizes, default=0.0)
    filled = [leaf for t in weights if (leaf := watcher.leaf(t)).init.line and leaf.init.line != leaf.site.line]
    if len(filled) < 4 or not largest or len({leaf.init.line for leaf in filled}) > 1:
        return
    behind = [float(leaf.ref().grad.square().mean().sqrt()) for leaf in filled]
    if min(behind) < SMALL * largest:
        spread = float(filled[0].ref().detach().std())
        watcher.small.append(
            (
                min(behind) / largest,
                filled[0].init,
                f"{len(filled)} weights filled in this line "
                f"(standard deviation {spread:.1e}) get gradients down to {min(behind):.1e}; a "
                f"bias gets {largest:.1e}.",
            )
        )


def stands(watcher: Any) -> bool:
    """True if no loss has fallen."""
    runs = [place.values for place in watcher.passes.values() if len(place.values) >= MIN_VALUES]
    return bool(runs) and all(median(values[-5:]) > 0.9 * median(values[:3]) for values in runs)


def judge(watcher: Any) -> None:
    """Say so where the loss stood still, too."""
    if not stands(watcher):
        return
    if watcher.small and not watcher.depths:
        _, where, evidence = min(watcher.small, key=lambda entry: entry[0])
        watcher.say(15, where, evidence, fixes.LARGER_WEIGHTS)
    for slope in watcher.slopes:
        if slope.site.line and slope.last and slope.first < FADED * slope.last:
            watcher.say(
                15,
                slope.site,
                f"Of the gradient at the last of {slope.steps} steps of the network, "
                f"{slope.last:.1e}, the first one gets {slope.first:.1e}.",
            )


def by_depth(watcher: Any, loss: Tensor, weights: list[Tensor]) -> None:
    """Compare the gradient of the deepest weight with that of the last, behind how many sigmoids each one lies."""
    level: dict[Any, int] = {loss.grad_fn: 0}
    squash: dict[int, int] = {}
    sites: list[tuple[Site, str]] = []
    for node in walk(loss.grad_fn):
        here = level.get(node, 0)
        if kind(node) in SATURATING:
            here += 1
            entry = made(node)
            if entry is not None:
                sites.append((entry.module if entry.module.line else entry.site, kind(node)))
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
        watcher.depths.append(
            (
                low / high,
                most,
                f"After {squash[id(first)]} sigmoids or tanhs the "
                "gradient of the "
                f"first layer has size {low:.1e}, that of the last {high:.1e}.",
            )
        )
