"""What is judged at the end of a run, from all that was seen."""

import gc
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any

import torch

from lab.watch import cuts, depth, differences, fixes, order, rates
from lab.watch.finding import RunFinding
from lab.watch.sites import (
    NOWHERE,
    Site,
    function_at,
    given_a_quotient,
    kept_aside,
    line_that_fills,
    line_that_stores,
    micro_batches,
    stepped_now_and_then,
)
from lab.watch.tracks import CutRecord, Pass, WatchedOptimizer, freed, made

Tensor = torch.Tensor
MIN_CHAIN = 3  # turns through which a sum of tensors is carried
MIN_KEPT = 3  # graphs of earlier turns in one container
MIN_TURNS = 3
DEAD = 0.9  # share of the units of a layer
# Most of what the lists of a process hold, all of which are looked through
WITHOUT_GRAPHS = {str, int, float, bool, NoneType, CodeType, FunctionType, ModuleType, type}
# A finding on the left explains one on the right: the right one is a consequence.
EXPLAINS = {
    1: (10,),
    6: (17, 24),
    7: (19,),
    9: (17, 10),
    20: (9, 17),
    16: (14, 15, 17),
    18: (6, 17, 24),
    24: (6,),
    21: (19,),
    25: (17,),
    14: (15,),
    8: (17,),
    11: (19, 10),
    12: (19,),
    13: (19,),
}


def judge(watcher: Any, error: BaseException | None) -> None:
    """Add the findings that need the whole run."""
    totals(watcher)
    kept(watcher)
    normalized_for_others(watcher)
    for track in watcher.optimizers:
        never_reached(watcher, track)
    without_optimizer(watcher)
    accumulated(watcher)
    dead_units(watcher)
    if watcher.depths and len({turn for place in watcher.passes.values() for turn in place.turns}) >= MIN_TURNS:
        _, where, evidence = min(watcher.depths, key=lambda entry: entry[0])
        watcher.say(15, where, evidence)
    constant_weights(watcher)
    uphill(watcher)
    order.wrong_way(watcher)
    order.never_stepped(watcher)
    for track in watcher.optimizers:
        rates.rate(watcher, track)
    rates.rate_by_hand(watcher)
    differences.compared_by_hand(watcher)
    depth.judge(watcher)
    lost_terms(watcher)
    multiples_of_numbers(watcher)
    evaluated(watcher)
    made_anew(watcher)
    carried(watcher)
    recorded_steps(watcher)
    for index, where in watcher.early_schedules.items():
        if watcher.optimizers[index].steps:
            watcher.say(
                18, where, "The scheduler was stepped before its optimizer had taken a step: the first rate is skipped."
            )


def sorted_out(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """The causes without their consequences, by line."""
    numbers = {finding.failure for finding in findings}
    explained = {other for number in numbers for other in EXPLAINS.get(number, ())}
    too_long = {(found.file, found.line) for found in findings if found.failure == 17}
    causes = [
        found
        for found in findings
        if found.failure not in explained
        and not (found.failure == 14 and (found.file, found.line) in too_long)  # the steps killed the units
    ]
    return sorted(causes, key=lambda found: (found.file, found.line, found.failure))


def totals(watcher: Any) -> None:
    """Sums of tensors that were carried from turn to turn, and that no backward pass went through."""
    for where, (ref, chain, turns, giver) in watcher.totals.items():
        tensor = ref()
        alive = tensor is not None and tensor.grad_fn is not None and made(tensor.grad_fn) is not None
        if where not in watcher.summed and chain >= MIN_CHAIN and (alive or turns >= MIN_CHAIN):
            held = "still holds" if alive else "held"
            what = f"The sum in line {where.line} is handed its numbers here, and" if giver.line else "This sum"
            watcher.say(
                10,
                giver if giver.line else where,
                f"{what} {held} the graphs of at least {chain} turns: each "
                "value is a tensor with a grad_fn, and no backward() ever went through it.",
            )


def kept(watcher: Any) -> None:
    """Lists that hold results with their graphs, of several turns."""
    for holder in gc.get_objects():
        if type(holder) not in (list, deque) or len(holder) < MIN_KEPT:
            continue
        graphs = graphs_in(holder)
        if len(graphs) < MIN_KEPT:
            continue
        seen = [entry for part in graphs if (entry := made(part.grad_fn)) is not None]
        entries = [entry for entry in seen if entry.watcher == watcher.number]
        turns = {entry.turn for entry in entries}
        if len(entries) < MIN_KEPT:
            continue
        idle = not freed(graphs[-1]) and len({entry.site for entry in entries}) == 1
        if len(turns) < MIN_KEPT and not (idle and len(turns) == 1 and watcher.turn):
            continue
        file, made_in = entries[0].site.file, entries[0].site.line
        filled = [(f"`{name}`", line) for name in names_of(holder) if (line := line_that_fills(file, name))]
        name, line = filled[0] if filled else ("A list", line_that_stores(file, made_in))
        if line:
            evidence = f"{name} holds {len(graphs)} tensors, each with its graph, from {len(turns)} turns."
            watcher.say(10, Site(file, line), evidence)


def normalized_for_others(watcher: Any) -> None:
    """A softmax that is right where it stands, as others draw from its result or call its function, and that the loss
    should not get: the cause is the line of the loss."""
    for key, (softmax, loss) in watcher.twice.items():
        found = watcher.found.get(key)
        if found is not None and (softmax in watcher.drawn or len(watcher.callers.get(softmax, ())) > 1):
            del watcher.found[key]
            evidence = (
                f"The loss in this line got the result of the softmax of line {found.line}, which other lines "
                "use, too, and another one comes after it: give it logits."
            )
            moved = replace(found, file=loss.file, line=loss.line, evidence=evidence)
            watcher.found.setdefault((25, loss.file, loss.line), moved)


def graphs_in(holder: Sequence[Any]) -> list[Tensor]:
    """The tensors with a graph in a container, in its tuples, dicts and objects, and in those in them."""
    graphs: list[Tensor] = []
    members = list(holder)
    for _ in range(3):
        inside: list[Any] = []
        for member in members:
            kind = type(member)
            if kind in WITHOUT_GRAPHS:
                continue
            if kind is tuple:
                inside += member
            elif kind is dict:
                inside += list(member.values())
            elif isinstance(member, Tensor):
                if member.grad_fn is not None:
                    graphs.append(member)
            elif not isinstance(member, (type, torch.nn.Module)):
                inside += list(getattr(member, "__dict__", {}).values())
        members = inside
    return graphs


def names_of(holder: Any) -> Iterator[str]:
    """The variables, attributes and keys that refer to a container."""
    for referrer in gc.get_referrers(holder):
        known = referrer if type(referrer) is dict else getattr(referrer, "__dict__", None)
        if type(known) is dict:
            for key, value in list(known.items()):
                if value is holder and isinstance(key, str):
                    yield key
        elif hasattr(referrer, "f_locals"):
            for key, value in list(referrer.f_locals.items()):
                if value is holder:
                    yield str(key)


def never_reached(watcher: Any, track: WatchedOptimizer) -> None:
    """Parameters of an optimizer that no gradient ever reached, because the way to them is cut."""
    if track.steps < 2:
        return
    dry = {
        key
        for key, leaf in watcher.leaves.items()
        if key in track.owned and not leaf.got and (tensor := leaf.ref()) is not None and tensor.requires_grad
    }
    # A graph may be cut at a right place, too: the wrong one is the last before the step.
    before_step = sorted(watcher.cuts.values(), key=lambda cut: (cut.last > track.cuts, -cut.last))
    for cut in before_step:
        behind = dry & cut.leaves
        each_turn = cut.kind == "number" and watcher.cut_counts[key_of(cut)] >= track.steps
        if behind and (cut.used or each_turn) and cut.kind != "update":
            number = {"step": 21, "number": 13, "numpy": 13, "no_grad": 12, "call": 12}.get(cut.kind, 11)
            where = cut.user if cut.user.line and kept_aside(cut.site.file, cut.site.line) else cut.site
            evidence = f"{len(behind)} parameters of the optimizer in line {track.site.line} got no gradient in "
            evidence += f"{track.steps} steps: {cut.name} in line {cut.site.line} cuts the way to them."
            watcher.say(number, where, evidence, cuts.advice(cut))
            dry -= cut.leaves


def lost_terms(watcher: Any) -> None:
    """Terms without a graph that were added to a loss, turn after turn."""
    for where, terms in watcher.lost_terms.items():
        if len(terms) >= MIN_TURNS:
            number = {"step": 21, "no_grad": 12, "call": 12}.get(terms[0].kind, 13)
            watcher.say(
                number,
                where,
                f"A term of the loss was a plain number in each of {len(terms)} backward passes: "
                f"{terms[0].name} in this line cut it off, so it teaches nothing.",
                cuts.advice(terms[0]),
            )


def multiples_of_numbers(watcher: Any) -> None:
    """Numbers that were added to a loss, and that were the same multiple of what one item() gave in each turn."""
    for where, known in watcher.multiples.items():
        used = [(number, number / value) for entry, number, value in known if entry.passed]
        shares = [share for _, share in used]
        varied = len({number for number, _ in used}) >= MIN_TURNS
        if varied and max(shares) - min(shares) <= 1e-9 * max(map(abs, shares)):
            watcher.say(
                13,
                where,
                f"{shares[0]:.3g} times the number that item() gave in this line was added to the "
                "loss, turn after turn: a plain number teaches nothing.",
                fixes.NO_ITEM,
            )


def evaluated(watcher: Any) -> None:
    """A model in eval mode whose graphs were recorded between training steps, for no backward pass."""
    detached = {key for cut in watcher.cuts.values() if cut.kind == "detach" for key in cut.leaves}
    for where, runs in watcher.evaluations.items():
        turns = {turn for _, turn, _ in runs}
        if len(turns) < MIN_TURNS or any(entry.passed or detached & owned for entry, _, owned in runs):
            continue
        watcher.say(
            12,
            where,
            f"The model ran here in eval mode between {len(turns)} training steps, each time with "
            "its graph, and no backward() ever went through it.",
            fixes.UNDER_NO_GRAD,
        )


def made_anew(watcher: Any) -> None:
    """Parameters that are made in each forward pass, get one gradient, and are forgotten."""
    owned = {key for track in watcher.optimizers for key in track.owned}
    if any(track.steps >= MIN_TURNS for track in watcher.optimizers):
        for where, turns in watcher.fresh.items():
            old = any(leaf.site == where and (key in owned or leaf.got > 1) for key, leaf in watcher.leaves.items())
            if len(turns) >= MIN_TURNS and where not in watcher.owned_sites and not old:
                watcher.say(
                    19,
                    where,
                    f"This line made new parameters in {len(turns)} turns; each got one gradient, "
                    "and no optimizer ever had them.",
                    fixes.MAKE_ONCE,
                )


def key_of(cut: CutRecord) -> tuple[Site, str]:
    return Site(cut.site.file, cut.site.line), cut.kind


def without_optimizer(watcher: Any) -> None:
    """Parameters that get gradients, turn after turn, and that nothing ever changes."""
    if not any(track.steps >= 2 for track in watcher.optimizers):
        return
    owned = set().union(*(track.owned for track in watcher.optimizers))
    if not any(leaf.parameter for key, leaf in watcher.leaves.items() if key in owned):
        return  # an image, or a state, is what should change: a network that gives its slope should not
    lost = [
        leaf
        for key, leaf in watcher.leaves.items()
        if key not in owned
        and leaf.got >= MIN_TURNS
        and not (leaf.loaded or leaf.asked or leaf.changed)
        and (tensor := leaf.ref()) is not None
        and tensor.requires_grad
    ]
    by_place: dict[Site, list[Any]] = {}
    for leaf in lost:
        by_place.setdefault(cause_of(watcher, leaf), []).append(leaf)
    for where, leaves in by_place.items():
        made_at = leaves[0].site.line
        told = f", made in line {made_at}," if made_at and made_at != where.line else ""
        listed = watcher.plain_container(leaves[0].ref()) is not None
        watcher.say(
            19,
            where,
            f"{len(leaves)} tensors that require gradients (shapes {shapes_of(leaves)}){told} got "
            f"one in {leaves[0].got} backward passes, and no optimizer has them.",
            fixes.REGISTER if listed else fixes.GIVE_TO_OPTIMIZER,
        )


def shapes_of(leaves: Sequence[Any]) -> str:
    return ", ".join(str(leaf.shape) for leaf in leaves[:3]) + (", ..." if len(leaves) > 3 else "")


def cause_of(watcher: Any, leaf: Any) -> Site:
    """The line because of which the optimizer that steps after its backward passes does not have a leaf."""
    stepped: list[WatchedOptimizer] = [track for track in watcher.optimizers if track.steps]
    after_it = [
        track for track in stepped if any(ref() is leaf.ref() for place, *_ in track.windows for ref in place.leaves)
    ]
    last = (after_it or stepped)[-1]
    if leaf.order > last.order if leaf.parameter else not at_hand(leaf.site, last.site):
        return Site(leaf.site.file, leaf.site.line)
    container = watcher.plain_container(leaf.ref())
    return container or Site(last.site.file, last.site.line)


def at_hand(leaf: Site, optimizer: Site) -> bool:
    """True if a plain tensor was made above the optimizer, in the same function."""
    same = function_at(leaf.file, leaf.line) == function_at(optimizer.file, optimizer.line)
    return same and leaf.file == optimizer.file and leaf.line < optimizer.line


def accumulated(watcher: Any) -> None:
    """Several backward passes for a step, of losses that were not divided; or cleared before the step."""
    for track in watcher.optimizers:
        groups: dict[Site, list[int]] = {}
        for place, count, mean, step in track.windows:
            here = place.site
            if count >= 2 and stepped_now_and_then(here.file, here.line, step.line):
                lost = watcher.lost_gradients.get(here, (0, NOWHERE))
                if lost[0] and len(watcher.optimizers) == 1:
                    if lost[0] < 2 * (count - 1):
                        watcher.say(
                            24,
                            step,
                            f"Gradients of backward passes that no step had used were cleared in "
                            f"line {lost[1].line}: the batches that are left over after a group of {count} "
                            "count for nothing.",
                            fixes.STEP_FOR_THE_REST,
                        )
                        return
                    watcher.say(
                        24,
                        lost[1],
                        f"zero_grad() here runs between the backward passes that are to be added "
                        f"up: of {count} for each step the last one alone counts.",
                    )
                    return
            if (
                count >= 2
                and mean
                and (
                    stepped_now_and_then(here.file, here.line, step.line)
                    or micro_batches(here.file, here.line, step.line)
                )
            ):
                groups.setdefault(here, []).append(count)
        for where, counts in groups.items():
            if len(counts) < 2 or watcher.scaled or given_a_quotient(track.site.file, track.site.line, "lr"):
                continue
            watcher.say(
                24,
                where,
                f"{counts[0]} backward passes were added up for each of {len(counts)} steps, and "
                f"the loss is a mean that was not divided by {counts[0]}.",
            )


def dead_units(watcher: Any) -> None:
    for where, shares in watcher.relus.items():
        if len(shares) >= MIN_TURNS and min(shares[-3:]) >= DEAD and shares[-1] >= DEAD and watcher.optimizers:
            cause = watcher.relu_init.get(where, where)
            if cause == where and shares[0] < DEAD and len(watcher.optimizers) == 1:
                cause = rates.rate_line(watcher.optimizers[0])  # a step has killed them
            units = "units" if cause == where else f"units of the relu in line {where.line}"
            watcher.say(
                14,
                cause,
                f"{shares[-1]:.0%} of the {units} were 0 for the whole batch, in each of the last "
                f"{min(3, len(shares))} batches that were looked at.",
            )


def constant_weights(watcher: Any) -> None:
    """Weight matrices that began with one and the same number everywhere."""
    leaves = list(watcher.constant.values())
    if not leaves:
        return
    first = leaves[0]
    where = first.init if first.init.line else first.site
    evidence = f"{len(leaves)} weight matrices (shapes {shapes_of(leaves)}) began with the same number in every "
    evidence += "place, so all units of a layer get the same gradient."
    watcher.say(16, where, evidence)


def uphill(watcher: Any) -> None:
    """Steps by hand along the gradient, with a loss that climbs."""
    for where, moves in watcher.hand_moves.items():
        climbs = any(climbs_by_hand(watcher, place) for place in watcher.passes.values())
        if len(moves) >= MIN_TURNS and all(move.along > 0 for move in moves) and climbs:
            watcher.say(
                18,
                where,
                f"In {len(moves)} of {len(moves)} steps by hand the parameters went along their "
                "gradient, uphill, and the loss rose.",
            )


def climbs_by_hand(watcher: Any, place: Pass) -> bool:
    """True if a cost rose, all leaves of which are moved by hand; a score that is to rise is no cost."""
    known = [watcher.leaves.get(id(tensor)) for ref in place.leaves if (tensor := ref()) is not None]
    by_hand = bool(known) and all(leaf is not None and leaf.moved for leaf in known)
    cost = place.cost > 0 or (len(known) > 1 and place.cost == 0)
    return by_hand and cost and len(place.values) >= MIN_TURNS and rises(place.values)


def rises(values: Sequence[float]) -> bool:
    return not math.isfinite(values[-1]) or values[-1] > values[0]


def recorded_steps(watcher: Any) -> None:
    """Steps by hand, each of which holds the graph of all before, and that no gradient went back through."""
    for where, steps in watcher.recorded_steps.items():
        if steps >= MIN_CHAIN:
            watcher.say(
                12,
                where,
                f"The step by hand in this line is recorded: {steps} times its result held the graphs of all steps "
                "before, and no gradient went back through them. Step under torch.no_grad(), or detach the result.",
            )


def carried(watcher: Any) -> None:
    """A state that is carried from turn to turn under retain_graph=True."""
    for where, chain in watcher.carried_states.items():
        if chain >= 4 and where != NOWHERE:
            watcher.say(
                11, where, f"The graph behind this line reaches back through {chain} turns, and grows with each."
            )
