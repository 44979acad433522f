"""Steps that are too long: by how much they move the parameters, and by how much the loss should fall for them."""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

import torch

from lab.watch.sites import Site, line_of_argument, line_of_factor
from lab.watch.tracks import MeasuredStep, Pass, WatchedOptimizer

Tensor = torch.Tensor
MIN_VALUES = 5  # of the loss
MAX_SAMPLE = 32_768  # about so many numbers of a tensor are measured
LONG = 0.3  # of the size of the parameters, in one step
REPLACED = 1.0  # a step as long as the parameters: little of them is left
# On a parabola a step of gradient descent that is stable (lr < 2 / curvature) promises less than 4 times the loss.
STABLE = 4.0
PROMISED = 0.5  # of the loss, in the longest step: below it a step overshoots no valley


def measure(watcher: Any, track: WatchedOptimizer, parameters: Sequence[Tensor]) -> None:
    """Compare the parameters with what they were before a step."""
    change = size = along = 0.0
    for tensor, before in zip(parameters, track.before, strict=True):
        share = tensor.numel() / max(1, before.numel())
        moved = sample(tensor) - before
        size += share * float(torch.dot(before, before).real)
        change += share * float(torch.dot(moved, moved).real)
        if tensor.grad is not None and not tensor.grad.is_sparse:
            along += share * float(torch.dot(moved, sample(tensor.grad)).real)
    track.before = []
    track.moves.append(MeasuredStep(watcher.turn, change, size, along, last_loss(watcher)))


def sample(tensor: Tensor) -> Tensor:
    """The numbers of a tensor in one row; of many, some that are evenly spaced. An odd distance meets each column."""
    return tensor.detach().flatten()[:: tensor.numel() // MAX_SAMPLE | 1]


def measure_by_hand(watcher: Any, here: Site, parameter: Tensor, moved: Tensor, along: float) -> None:
    moves = watcher.hand_moves.setdefault(here, [])
    if not moves or moves[-1].turn != watcher.rounds:
        moves.append(MeasuredStep(watcher.rounds, 0.0, 0.0, 0.0, last_loss(watcher)))
    moves[-1].change += float(moved.detach().square().sum())
    moves[-1].size += float(parameter.detach().square().sum())
    moves[-1].along += along


def last_loss(watcher: Any) -> float:
    return float(watcher.last_place.values[-1]) if watcher.last_place and watcher.last_place.values else math.nan


def too_long(values: Sequence[float], moves: Sequence[MeasuredStep]) -> str:
    """The evidence that steps were too long for a loss, or nothing."""
    if len(values) < MIN_VALUES or not moves:
        return ""
    begin, end = before_long_steps(values, moves), sorted(values[-5:], key=lambda v: (math.isnan(v), v))[2]
    if not math.isfinite(begin):  # the data hold it
        return ""
    jump = max(move.jump for move in moves)
    worse = not math.isfinite(end) or end > (10 if jump < 1 else 2) * abs(begin) + 1e-6
    promised = max((move.fall for move in moves if not math.isnan(move.fall)), default=math.inf)
    if promised <= PROMISED and math.isfinite(end):
        return ""
    if worse and jump > LONG:
        return (
            f"changed the parameters by {jump:.2g} times their size, and the loss went from {begin:.3g} to {end:.3g}."
        )
    early, late = median(values[:3]), median(values[-max(3, len(values) // 3) :])
    stands = min(values) >= 0 and not late < 0.9 * early
    high = max(values[1:MIN_VALUES])
    if jump > REPLACED and high > 2 * begin >= 0 and len(values) >= 2 * MIN_VALUES and not late < 0.9 * begin:
        return (
            f"changed the parameters by {jump:.2g} times their size: the loss went from {begin:.3g} to {high:.3g}, "
            f"and only came back to {late:.3g}."
        )
    falls = [move.fall for move in moves]
    long = sum(not fall <= STABLE for fall in falls)
    if len(falls) >= 3 and 2 * long > len(falls) and (stands or not math.isfinite(end)):
        return (
            f"promised a fall of {median(falls):.2g} times the loss by its slope, over {STABLE:g} in {long} of "
            f"{len(falls)}; the loss went from {early:.3g} to {late:.3g}."
        )
    return ""


def before_long_steps(values: Sequence[float], moves: Sequence[MeasuredStep]) -> float:
    """The largest loss up to the first long step: a single one, of a few samples, can be tiny by chance."""
    first = next((index for index, move in enumerate(moves) if move.jump > LONG), len(moves))
    return max([values[0], *(move.loss for move in moves[: first + 1] if math.isfinite(move.loss))])


def rate_line(track: WatchedOptimizer) -> Site:
    """The line of the number that an optimizer was given as its rate."""
    return Site(track.site.file, line_of_argument(track.site.file, track.site.line, "lr"))


def rate(watcher: Any, track: WatchedOptimizer) -> None:
    """Say that the steps of an optimizer were too long."""
    places = [place for place in watcher.passes.values() if any(id(ref()) in track.owned for ref in place.leaves)]
    evidence = too_long(places[0].values, track.moves) if len(places) == 1 else ""
    if evidence:
        watcher.say(17, rate_line(track), f"Steps of {track.kind} {evidence}")


def rate_by_hand(watcher: Any) -> None:
    """Say that steps by hand were too long."""
    places: list[Pass] = list(watcher.passes.values())
    for here, moves in watcher.hand_moves.items():
        evidence = too_long(places[0].values, moves) if len(places) == 1 else ""
        if evidence and all(move.along <= 0 for move in moves):
            line = line_of_factor(here.file, here.line) or here.line
            watcher.say(17, Site(here.file, line), f"Steps by hand in line {here.line} {evidence}")
            return
