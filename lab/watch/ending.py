"""Findings that need the whole run; the watcher calls `judge` at its end."""

import gc
from collections import deque
from collections.abc import Sequence
from typing import Any

import torch

from lab.watch import cuts, depth, differences, errors, fixes, order, rates, sites
from lab.watch.finding import RunFinding
from lab.watch.records import Leaf, WatchedOptimizer, has_numbers, node_of, origin_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site

Tensor = torch.Tensor
MIN_KEPT_GRAPHS = 3
MIN_ITERATIONS = 3
MIN_DEAD_SHARE = 0.9  # share of the units of a layer
CAUSES = {  # consequence -> what explains it, by numbers of failures
    6: {18, 24},
    9: {20},
    10: {1, 9, 11},
    14: {16},
    15: {14, 16},
    17: {6, 8, 9, 16, 18, 20, 25},
    19: {7, 11, 12, 13, 21},
    24: {6, 18},
}


def judge(run: WatchedRun, error: BaseException | None) -> None:
    """Add the findings that need the whole run, and that of the exception that ended it."""
    if error is not None:
        errors.explain(run, error)
    report_carried_graphs(run)
    report_kept_graphs(run)
    report_evaluations(run)
    for opt in run.training.optimizers:
        report_never_reached(run, opt)
        if opt.steps and opt.early_schedule.line:
            evidence = "The scheduler was stepped before its optimizer had taken a step: the first rate is skipped."
            run.report(18, opt.early_schedule, evidence)
    report_unoptimized(run)
    report_recreated_parameters(run)
    report_unused_updates(run)
    report_idle_terms(run)
    report_accumulation(run)
    report_dead_units(run)
    report_constant_weights(run)
    order.check_direction(run)
    order.check_never_stepped(run)
    rates.check_rates(run)
    differences.check_hand_comparison(run)
    depth.judge(run)


def without_consequences(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Return the findings that are causes, sorted by line, without those that another finding explains."""
    numbers = {finding.failure for finding in findings}
    explained = {number for number, causes in CAUSES.items() if numbers & causes}
    too_long = {(found.file, found.line) for found in findings if found.failure == 17}
    causes = [
        found
        for found in findings
        if found.failure not in explained
        and not (found.failure == 14 and (found.file, found.line) in too_long)  # too long steps killed the units
    ]
    return sorted(causes, key=lambda found: (found.file, found.line, found.failure))


# What is alive after its turn


def report_carried_graphs(run: WatchedRun) -> None:
    """Report sums of tensors carried from iteration to iteration that no backward pass went through."""
    for where, (ref, source, spans, iterations) in run.graphs.chains.items():
        tensor = ref()
        alive = tensor is not None and tensor.grad_fn is not None
        idle = where[:2] not in run.graphs.passed and where in run.graphs.evaluation_sums
        if where not in run.graphs.passed_later and (alive or idle or iterations >= MIN_ITERATIONS):
            kept = 0 if source == where else sites.line_that_keeps(source.file, source.line, ())
            evidence = f"The result of line {where.line} {'still holds' if alive else 'held'} the graphs of at least "
            evidence += f"{spans} iterations: each value is a tensor with a grad_fn, and no backward() passed it."
            run.report(10, Site(where.file, kept or where.line), evidence)


def report_kept_graphs(run: WatchedRun) -> None:
    """Report results of one line that containers hold with their graphs, after several iterations or the last one."""
    by_line: dict[Site, list[Tensor]] = {}
    for value in gc.get_objects():
        entry = origin_of(node_of(value)) if type(value) is Tensor else None
        if entry is not None and entry.watcher_number == run.number:
            by_line.setdefault(entry.site, []).append(value)
    for made, kept in by_line.items():
        iterations = {entry.iteration for value in kept if (entry := origin_of(value.grad_fn)) is not None}
        idle = made[:2] not in run.graphs.passed and run.clock.iteration and len(iterations) == 1
        several = len(iterations) >= MIN_KEPT_GRAPHS or idle
        if len(kept) >= MIN_KEPT_GRAPHS and several and made not in run.graphs.passed_later:
            held, names = holders_of(kept)
            line = sites.line_that_keeps(made.file, made.line, names) if held >= MIN_KEPT_GRAPHS else 0
            if line:
                evidence = f"{held} results of line {made.line} are kept here, each with its graph, from "
                run.report(10, Site(made.file, line), evidence + f"{len(iterations)} iterations.")


def holders_of(kept: list[Tensor]) -> tuple[int, set[str]]:
    """Return how many of some tensors containers hold, and the names of these, and of containers that hold them."""
    wanted, held, names = set(map(id, kept)), set[int](), set[str]()
    level: list[Any] = [*kept]
    for _ in range(4):
        known = {id(value) for value in level}
        holders = [holder for holder in gc.get_referrers(*level) if holder is not kept and holder is not level]
        for holder in holders:
            named = holder if isinstance(holder, dict) else getattr(holder, "__dict__", {})
            members = holder if isinstance(holder, (list, tuple, deque)) else list(named.values())
            held |= wanted & set(map(id, members))
            names |= {str(key) for key, value in named.items() if id(value) in known}
        level = [one for one in holders if isinstance(one, (list, tuple, dict, deque))]
    return len(held), names


def report_evaluations(run: WatchedRun) -> None:
    """Report a model in eval mode whose graphs were recorded between training steps for no backward pass."""
    detached = {key for cut in run.cuts.lines.values() if cut.kind == "detach" for key in cut.leaves}
    for where, runs in run.graphs.evaluations.items():
        iterations = {iteration for _, iteration, _ in runs}
        used = any(entry.site[:2] in run.graphs.passed or detached & owned for entry, _, owned in runs)
        summed = (10, where.file, where.line) in run.found
        if len(iterations) >= MIN_ITERATIONS and not used and not summed:
            evidence = f"The model ran here in eval mode between {len(iterations)} training steps, each time with its "
            evidence += "graph, and no backward() ever went through it."
            run.report(12, where, evidence, fixes.UNDER_NO_GRAD)


# Which term reaches which parameter


def report_idle_terms(run: WatchedRun) -> None:
    """Report terms of a loss that lost their graph, and those behind which no step moved anything although a cut lies
    between them and what the other terms teach."""
    for call in run.training.calls.values():
        taught = {key for term in call.terms.values() for key in term.taught}
        for where, term in call.terms.items():
            cut = next((cut for cut in term.cuts if cut.leaves & taught), None)
            if term.passes >= MIN_ITERATIONS and not term.taught and cut is not None:
                evidence = f"No step moved what the term of line {where.line} reaches: {cut.name} in this line cuts "
                evidence += "the way to the parameters that the other terms teach."
                run.report(*cuts.report_of(cut, evidence))


def report_never_reached(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report parameters of an optimizer that no gradient ever reached because a cut lies in between."""
    if opt.steps < 2:
        return
    unreached = {
        key
        for key, leaf in run.tensors.leaves.copy().items()
        if key in opt.parameter_ids
        and not leaf.backward_count
        and (tensor := leaf.ref()) is not None
        and tensor.requires_grad
    }
    # A graph may also be cut where it should be; the wrong cut is the last before the step.
    before, lines = opt.cuts_before_step, run.cuts.lines.values()
    ordered = sorted(lines, key=lambda cut: (cut.last_number > before, cut.bypassed, -cut.last_number))
    for cut in ordered:
        behind = unreached & cut.leaves
        each_iteration = cut.kind == "number" and cut.count >= opt.steps
        if behind and (cut.used or each_iteration) and cut.kind != "update":
            evidence = f"{len(behind)} parameters of the optimizer in line {opt.site.line} got no gradient in "
            evidence += f"{opt.steps} steps: {cut.name} in line {cut.site.line} cuts the way to them."
            run.report(*cuts.report_of(cut, evidence))
            unreached -= cut.leaves


def report_recreated_parameters(run: WatchedRun) -> None:
    """Report parameters that are made in each forward pass, get one gradient and are discarded."""
    training, leaves = run.training, run.tensors.leaves.copy()
    owned = {key for opt in training.optimizers for key in opt.parameter_ids}
    if any(opt.steps >= MIN_ITERATIONS for opt in training.optimizers):
        for where, iterations in training.fresh_parameters.items():
            old = any(leaf.site == where and (key in owned or leaf.backward_count > 1) for key, leaf in leaves.items())
            if len(iterations) >= MIN_ITERATIONS and where not in training.optimizer_parameter_sites and not old:
                evidence = f"This line made new parameters in {len(iterations)} iterations; each got one gradient, "
                run.report(19, where, evidence + "and no optimizer ever had them.", fixes.MAKE_ONCE)


def report_unoptimized(run: WatchedRun) -> None:
    """Report parameters that get gradients again and again, and that nothing ever changes."""
    optimizers, leaves = run.training.optimizers, run.tensors.leaves.copy()
    if not any(opt.steps >= 2 for opt in optimizers):
        return
    owned = set().union(*(opt.parameter_ids for opt in optimizers))
    given = [leaf for key, leaf in leaves.items() if key in owned]
    if not any(leaf.is_parameter for leaf in given):
        return  # only an image or a state is to be optimized; the network stays as it is
    if not all(has_numbers(tensor) for leaf in given if (tensor := leaf.ref()) is not None):
        return  # shards of parameters, which get their gradients from others
    by_place: dict[Site, list[Leaf]] = {}
    for key, leaf in leaves.items():
        idle = key not in owned and leaf.backward_count >= MIN_ITERATIONS
        tensor = None if not idle or leaf.loaded or leaf.has_graph_grad or leaf.changed else leaf.ref()
        if tensor is not None and tensor.requires_grad:
            by_place.setdefault(cause_of_unoptimized(run, leaf), []).append(leaf)
    for where, lost in by_place.items():
        made_at = lost[0].site.line
        made_in = f", made in line {made_at}," if made_at and made_at != where.line else ""
        evidence = f"{len(lost)} tensors that require gradients (shapes {shapes_of(lost)}){made_in} got one in "
        evidence += f"{lost[0].backward_count} backward passes, and no optimizer has them."
        run.report(19, where, evidence, fixes.GIVE_TO_OPTIMIZER)


def cause_of_unoptimized(run: WatchedRun, leaf: Leaf) -> Site:
    """Return the line that made a leaf, if the optimizer that steps after its backward passes was made before it, else
    the line of that optimizer."""
    stepped = [opt for opt in run.training.optimizers if opt.steps]
    after_it = [opt for opt in stepped if any(ref() is leaf.ref() for call, *_ in opt.windows for ref in call.leaves)]
    last = (after_it or stepped)[-1]
    above = leaf.site.file == last.site.file and leaf.site.line < last.site.line
    late = leaf.optimizers_before > run.training.optimizers.index(last) if leaf.is_parameter else not above
    return Site(*(leaf if late else last).site[:2])


def shapes_of(leaves: Sequence[Leaf]) -> str:
    return ", ".join(str(leaf.shape) for leaf in leaves[:3]) + (", ..." if len(leaves) > 3 else "")


def report_unused_updates(run: WatchedRun) -> None:
    """Report a leaf's new value that nothing uses: `p = p - lr * p.grad` in a loop gives the name to another tensor."""
    for cut in run.cuts.lines.values():
        behind = [leaf for key in cut.leaves if (leaf := run.tensors.leaves.get(key)) is not None]
        still = behind and not any(leaf.changed or leaf.backward_count < MIN_ITERATIONS for leaf in behind)
        if cut.kind == "update" and not cut.used and still:
            evidence = f"Nothing used the new tensors of this line: the {len(behind)} that got gradients kept their "
            evidence += f"values in {behind[0].backward_count} backward passes."
            run.report(5, cut.site, evidence, fixes.STEP_IN_PLACE)


# Numbers over many steps


def report_accumulation(run: WatchedRun) -> None:
    """Report several backward passes per step whose losses were not divided."""
    for opt in run.training.optimizers:
        summed: dict[Site, list[int]] = {}
        for call, count, mean, step in opt.windows:
            here = call.site
            if mean and count > 1 and sites.steps_conditionally(here.file, here.line, step.line):
                summed.setdefault(here, []).append(count)
        for where, counts in summed.items():
            divided = sites.line_has_quotient(*opt.site[:2]) or run.training.gradients_scaled
            if len(counts) >= 2 and not divided:
                evidence = f"{counts[0]} backward passes were added up for each of {len(counts)} steps, and the loss "
                run.report(24, where, evidence + f"is a mean that was not divided by {counts[0]}.")


def report_dead_units(run: WatchedRun) -> None:
    """Report relus most of whose units stayed 0 for whole batches."""
    optimizers = run.training.optimizers
    for where, by_iteration in run.numbers.dead_shares.items():
        shares = list(by_iteration.values())
        if len(shares) >= MIN_ITERATIONS and min(shares[-3:]) >= MIN_DEAD_SHARE and optimizers:
            cause = where
            if shares[0] >= MIN_DEAD_SHARE:
                cause = run.numbers.shifted.get(where, where)
            elif len(optimizers) == 1:
                cause = rates.rate_line(optimizers[0])  # a step killed them
            units = "units" if cause == where else f"units of the relu in line {where.line}"
            evidence = f"{shares[-1]:.0%} of the {units} were 0 for the whole batch, in each of the last "
            evidence += f"{min(3, len(shares))} batches that were checked."
            run.report(14, cause, evidence)


def report_constant_weights(run: WatchedRun) -> None:
    """Report weight matrices that began with the same number everywhere."""
    leaves = list(run.numbers.constant_weights.values())
    if leaves:
        where = leaves[0].init_site if leaves[0].init_site.line else leaves[0].site
        evidence = f"{len(leaves)} weight matrices (shapes {shapes_of(leaves)}) began with the same number "
        run.report(16, where, evidence + "everywhere, so all units of a layer get the same gradient.")
