"""Findings that need the whole run; Watcher.findings calls `judge` at its end."""

import ast
import gc
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any

import torch

from lab.failures.analysis.registry import MISNAMED_SWITCHES
from lab.watch import cuts, depth, differences, fixes, order, rates, sites
from lab.watch.finding import RunFinding
from lab.watch.records import BackwardCall, CutRecord, NodeOrigin, WatchedOptimizer, graph_freed, origin_of
from lab.watch.sites import NOWHERE, Site

Tensor = torch.Tensor
MIN_RUNNING_SUM = 3  # iterations through which a sum of tensors is carried
MIN_KEPT_GRAPHS = 3  # graphs in one container
MIN_ITERATIONS = 3
MIN_DEAD_SHARE = 0.9  # share of the units of a layer
# All lists of the process are searched, and most of their elements have one of these types
GRAPHLESS_TYPES = {str, int, float, bool, NoneType, CodeType, FunctionType, ModuleType, type}
# Cause -> its consequences, by number of the failure
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
    report_running_sums(watcher)
    report_kept_graphs(watcher)
    if not any(found.failure == 10 for found in watcher.found.values()):
        report_joined_graphs(watcher)
    move_double_softmaxes(watcher)
    for opt in watcher.optimizers:
        report_never_reached(watcher, opt)
    report_unoptimized(watcher)
    report_misnamed_switches(watcher)
    report_unused_updates(watcher)
    report_accumulation(watcher)
    report_dead_units(watcher)
    iterations = {number for call in watcher.backward_calls.values() for number in call.iterations}
    if watcher.depth_ratios and len(iterations) >= MIN_ITERATIONS:
        _, where, evidence = min(watcher.depth_ratios, key=lambda entry: entry[0])
        watcher.report(15, where, evidence)
    report_constant_weights(watcher)
    report_hand_steps_uphill(watcher)
    order.check_direction(watcher)
    order.check_never_stepped(watcher)
    for opt in watcher.optimizers:
        rates.check_rate(watcher, opt)
    rates.check_hand_rate(watcher)
    differences.check_hand_comparison(watcher)
    depth.judge(watcher)
    report_lost_terms(watcher)
    report_item_multiples(watcher)
    report_recorded_evaluations(watcher)
    report_recreated_parameters(watcher)
    report_carried_states(watcher)
    report_recorded_steps(watcher)
    for index, where in watcher.early_scheduler_steps.items():
        if watcher.optimizers[index].steps:
            watcher.report(
                18, where, "The scheduler was stepped before its optimizer had taken a step: the first rate is skipped."
            )


def without_consequences(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Return the findings that are causes, sorted by line, without those that another finding explains."""
    numbers = {finding.failure for finding in findings}
    explained = {other for number in numbers for other in EXPLAINS.get(number, ())}
    too_long = {(found.file, found.line) for found in findings if found.failure == 17}
    causes = [
        found
        for found in findings
        if found.failure not in explained
        and not (found.failure == 14 and (found.file, found.line) in too_long)  # too long steps killed the units
    ]
    return sorted(causes, key=lambda found: (found.file, found.line, found.failure))


def report_running_sums(watcher: Any) -> None:
    """Report sums of tensors carried from iteration to iteration that no backward pass went through."""
    for where, (ref, chain, iterations, passed_at) in watcher.running_sums.items():
        tensor = ref()
        alive = tensor is not None and tensor.grad_fn is not None and origin_of(tensor.grad_fn) is not None
        carried = chain >= MIN_RUNNING_SUM and (alive or iterations >= MIN_RUNNING_SUM)
        if carried and where not in watcher.passed_later:
            held = "still holds" if alive else "held"
            what = f"The sum in line {where.line} gets its numbers here and" if passed_at.line else "This sum"
            evidence = f"{what} {held} the graphs of at least {chain} iterations: each value is a tensor with a "
            evidence += "grad_fn, and no backward() ever went through it."
            watcher.report(10, passed_at if passed_at.line else where, evidence)


def report_kept_graphs(watcher: Any) -> None:
    """Report lists that hold results of several iterations with their graphs."""
    for holder in gc.get_objects():
        if type(holder) not in (list, deque) or len(holder) < MIN_KEPT_GRAPHS:
            continue
        graphs = graphs_in(holder)
        if len(graphs) < MIN_KEPT_GRAPHS:
            continue
        seen = [entry for part in graphs if (entry := origin_of(part.grad_fn)) is not None]
        entries = [entry for entry in seen if entry.watcher_number == watcher.number]
        iterations = {entry.iteration for entry in entries}
        if len(entries) < MIN_KEPT_GRAPHS or entries[0].site in watcher.passed_later:
            continue
        idle = not graph_freed(graphs[-1], watcher.hidden_saves) and len({entry.site for entry in entries}) == 1
        if len(iterations) < MIN_KEPT_GRAPHS and not (idle and len(iterations) == 1 and watcher.iteration):
            continue
        file, made_in = entries[0].site.file, entries[0].site.line
        filled = [(f"`{name}`", line) for name in names_of(holder) if (line := sites.line_that_fills(file, name))]
        name, line = filled[0] if filled else ("A list", sites.line_that_stores(file, made_in))
        if line:
            evidence = f"{name} holds {len(graphs)} tensors, each with its graph, from {len(iterations)} iterations."
            watcher.report(10, Site(file, line), evidence)


def report_joined_graphs(watcher: Any) -> None:
    """Report results that were kept with their graphs, joined later, and that no later backward pass went through."""
    for where, joins in watcher.joins.items():
        sources = [source for _, joined in joins for source in joined]
        passed = any(entry is not None and entry.first_backward for entry, _ in joins)
        if sources and not passed and sources[0].site not in watcher.passed_later:
            evidence = f"{len(joins[0][1])} results were kept, each with its graph, until line {where.line} joined "
            evidence += f"them: they are of {len({source.iteration for source in joins[0][1]})} iterations."
            watcher.report(10, site_of_keeping(sources[0]) or sources[0].site, evidence)


def site_of_keeping(source: NodeOrigin) -> Site | None:
    """Return the line that puts a result into the container that a later line joined, or None."""
    join, made = source.joined_at, source.site
    names = map(sites.last_name, sites.nodes_of(join.file, ast.Name, ast.Attribute, line=join.line))
    line = next((line for name in names if (line := sites.line_that_fills(join.file, name))), 0)
    line = line or sites.line_that_stores(made.file, made.line)
    return Site(made.file, line) if line else None


def move_double_softmaxes(watcher: Any) -> None:
    """Blame the line of the loss for a second softmax if the first one has other uses: it is sampled from, or its
    function is called elsewhere. A table of layers is right too; blame the line that chose from it."""
    for key, (softmax, loss, name) in watcher.double_softmaxes.items():
        found = watcher.found.get(key)
        shared = softmax in watcher.sampled_softmaxes or len(watcher.softmax_callers.get(softmax, ())) > 1
        chosen = None if found is None else sites.line_of_choice(found.file, found.line, name)
        if found is None or not (shared or chosen is not None):
            continue
        del watcher.found[key]
        where = Site(found.file, chosen) if chosen else loss
        evidence = f"The loss in line {loss.line} got the result of the {name} of line {found.line}, which "
        evidence += f"{'was chosen here' if chosen else 'other lines use too'}, and another one follows it: give the "
        evidence += "loss logits."
        moved = replace(found, file=where.file, line=where.line, evidence=evidence)
        watcher.found.setdefault((25, where.file, where.line), moved)


def graphs_in(holder: Sequence[Any]) -> list[Tensor]:
    """Return the tensors with a graph in a container, also in its tuples, dicts and objects, three levels deep."""
    graphs: list[Tensor] = []
    members = list(holder)
    for _ in range(3):
        inside: list[Any] = []
        for member in members:
            kind = type(member)
            if kind in GRAPHLESS_TYPES:
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
    """Yield the names of variables, attributes and keys that refer to a container."""
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


def report_never_reached(watcher: Any, opt: WatchedOptimizer) -> None:
    """Report parameters of an optimizer that no gradient ever reached because a cut lies in between."""
    if opt.steps < 2:
        return
    unreached = {
        key
        for key, leaf in watcher.leaves.items()
        if key in opt.parameter_ids
        and not leaf.backward_count
        and (tensor := leaf.ref()) is not None
        and tensor.requires_grad
    }
    # A graph may also be cut where it should be; the wrong cut is the last before the step.
    cuts_before = opt.cuts_before_step
    before_step = sorted(
        watcher.cuts.values(), key=lambda cut: (cut.last_number > cuts_before, cut.bypassed, -cut.last_number)
    )
    for cut in before_step:
        behind = unreached & cut.leaves
        each_iteration = cut.kind == "number" and watcher.cut_repeats[key_of(cut)] >= opt.steps
        if behind and (cut.used or each_iteration) and cut.kind != "update":
            # With one optimizer, all lines that cut off a tensor keep it from the same loss
            if len(watcher.optimizers) == 1 and any(cut.source):
                same = [other for other in before_step if (other.source, other.kind) == (cut.source, cut.kind)]
                cut = min(same, key=lambda other: (other.bypassed, other.last_number))
            stored = cut.first_use.line and sites.stores_in_attribute(cut.site.file, cut.site.line)
            where = cut.first_use if stored else cut.site
            evidence = f"{len(behind)} parameters of the optimizer in line {opt.site.line} got no gradient in "
            evidence += f"{opt.steps} steps: {cut.name} in line {cut.site.line} cuts the way to them."
            watcher.report(cuts.number_of(cut), where, evidence, cuts.advice(cut))
            unreached -= cut.leaves


def report_lost_terms(watcher: Any) -> None:
    """Report terms without a graph that were added to a loss in several iterations."""
    for where, terms in watcher.lost_terms.items():
        if len(terms) >= MIN_ITERATIONS:
            evidence = f"A term of the loss was a plain number in each of {len(terms)} backward passes: "
            evidence += f"{terms[0].name} in this line cut it off, so it teaches nothing."
            watcher.report(cuts.number_of(terms[0]), where, evidence, cuts.advice(terms[0]))


def report_item_multiples(watcher: Any) -> None:
    """Report numbers added to a loss that are always the same multiple of what one item() returned."""
    for where, known in watcher.item_multiples.items():
        used = [(number, number / value) for entry, number, value in known if entry.first_backward]
        shares = [share for _, share in used]
        varied = len({number for number, _ in used}) >= MIN_ITERATIONS
        if varied and max(shares) - min(shares) <= 1e-9 * max(map(abs, shares)):
            evidence = f"{shares[0]:.3g} times the number that item() gave in this line was added to the loss in each "
            evidence += "iteration: a plain number teaches nothing."
            watcher.report(13, where, evidence, fixes.NO_ITEM)


def report_recorded_evaluations(watcher: Any) -> None:
    """Report a model in eval mode whose graphs were recorded between training steps for no backward pass."""
    detached = {key for cut in watcher.cuts.values() if cut.kind == "detach" for key in cut.leaves}
    for where, runs in watcher.eval_runs.items():
        iterations = {iteration for _, iteration, _ in runs}
        used = any(entry.first_backward or detached & owned for entry, _, owned in runs)
        if len(iterations) < MIN_ITERATIONS or used:
            continue
        joined = [entry for entry, *_ in runs if entry.joined_at.line]
        if len(joined) >= MIN_KEPT_GRAPHS:
            evidence = f"{len(joined)} outputs of the model in eval mode were kept, each with its graph, until line "
            evidence += f"{joined[0].joined_at.line} joined them, and no backward() ever went through them."
            watcher.report(10, site_of_keeping(joined[0]) or where, evidence)
            continue
        evidence = f"The model ran here in eval mode between {len(iterations)} training steps, each time with its "
        evidence += "graph, and no backward() ever went through it."
        watcher.report(12, where, evidence, fixes.UNDER_NO_GRAD)


def report_recreated_parameters(watcher: Any) -> None:
    """Report parameters that are made in each forward pass, get one gradient and are discarded."""
    owned = {key for opt in watcher.optimizers for key in opt.parameter_ids}
    if any(opt.steps >= MIN_ITERATIONS for opt in watcher.optimizers):
        for where, iterations in watcher.fresh_parameters.items():
            old = any(
                leaf.site == where and (key in owned or leaf.backward_count > 1) for key, leaf in watcher.leaves.items()
            )
            if len(iterations) >= MIN_ITERATIONS and where not in watcher.optimizer_parameter_sites and not old:
                evidence = f"This line made new parameters in {len(iterations)} iterations; each got one gradient, "
                evidence += "and no optimizer ever had them."
                watcher.report(19, where, evidence, fixes.MAKE_ONCE)


def key_of(cut: CutRecord) -> tuple[Site, str]:
    return Site(cut.site.file, cut.site.line), cut.kind


def report_unoptimized(watcher: Any) -> None:
    """Report parameters that get gradients again and again, and that nothing ever changes."""
    if not any(opt.steps >= 2 for opt in watcher.optimizers):
        return
    owned = set().union(*(opt.parameter_ids for opt in watcher.optimizers))
    if not any(leaf.is_parameter for key, leaf in watcher.leaves.items() if key in owned):
        return  # only an image or a state is to be optimized; the network stays as it is
    lost = [
        leaf
        for key, leaf in watcher.leaves.items()
        if key not in owned
        and leaf.backward_count >= MIN_ITERATIONS
        and not (leaf.loaded or leaf.has_graph_grad or leaf.changed)
        and (tensor := leaf.ref()) is not None
        and tensor.requires_grad
    ]
    by_place: dict[Site, list[Any]] = {}
    for leaf in lost:
        by_place.setdefault(cause_of_unoptimized(watcher, leaf), []).append(leaf)
    for where, leaves in by_place.items():
        made_at = leaves[0].site.line
        made_in = f", made in line {made_at}," if made_at and made_at != where.line else ""
        listed = watcher.plain_container(leaves[0].ref()) is not None
        evidence = f"{len(leaves)} tensors that require gradients (shapes {shapes_of(leaves)}){made_in} got one in "
        evidence += f"{leaves[0].backward_count} backward passes, and no optimizer has them."
        watcher.report(19, where, evidence, fixes.REGISTER if listed else fixes.GIVE_TO_OPTIMIZER)


def report_unused_updates(watcher: Any) -> None:
    """Report a leaf's new value that nothing uses: `p = p - lr * p.grad` in a loop gives the name to another tensor."""
    for cut in watcher.cuts.values():
        behind = [leaf for key in cut.leaves if (leaf := watcher.leaves.get(key)) is not None]
        still = behind and not any(leaf.changed or leaf.backward_count < MIN_ITERATIONS for leaf in behind)
        if cut.kind == "update" and not cut.used and still:
            evidence = f"Nothing used the new tensors of this line: the {len(behind)} that got gradients kept their "
            evidence += f"values in {behind[0].backward_count} backward passes."
            watcher.report(5, cut.site, evidence, fixes.STEP_IN_PLACE)


def report_misnamed_switches(watcher: Any) -> None:
    """Report parameters that are frozen although an attribute with nearly the right name says that they learn."""
    for opt in watcher.optimizers:
        frozen = [p for group in order.param_groups(opt) for p in group["params"] if not p.requires_grad]
        for name in MISNAMED_SWITCHES:
            misled = [p for p in frozen if vars(p).get(name) is True]
            line = sites.line_that_sets(opt.site.file, name) if misled else 0
            if line:
                evidence = f"{len(misled)} parameters of the optimizer in line {opt.site.line} are frozen: "
                evidence += f"`{name} = True` only stores an attribute of that name."
                watcher.report(12, Site(opt.site.file, line), evidence, fixes.UNFREEZE)


def shapes_of(leaves: Sequence[Any]) -> str:
    return ", ".join(str(leaf.shape) for leaf in leaves[:3]) + (", ..." if len(leaves) > 3 else "")


def cause_of_unoptimized(watcher: Any, leaf: Any) -> Site:
    """Return the line because of which the optimizer that steps after its backward passes lacks a leaf."""
    stepped: list[WatchedOptimizer] = [opt for opt in watcher.optimizers if opt.steps]
    after_it = [opt for opt in stepped if any(ref() is leaf.ref() for call, *_ in opt.windows for ref in call.leaves)]
    last = (after_it or stepped)[-1]
    if leaf.optimizers_before > last.index if leaf.is_parameter else not made_above(leaf.site, last.site):
        return Site(leaf.site.file, leaf.site.line)
    container = watcher.plain_container(leaf.ref())
    filtered = len(order.param_groups(last)) > 1 and sites.line_that_filters(last.site.file, "params")
    return container or Site(last.site.file, filtered or last.site.line)


def made_above(leaf: Site, optimizer: Site) -> bool:
    """Tell whether a tensor was made above the optimizer, in the same function."""
    same = sites.function_start(leaf.file, leaf.line) == sites.function_start(optimizer.file, optimizer.line)
    return same and leaf.file == optimizer.file and leaf.line < optimizer.line


def report_accumulation(watcher: Any) -> None:
    """Report several backward passes per step whose losses were not divided, or whose gradients were cleared."""
    for opt in watcher.optimizers:
        groups: dict[Site, list[int]] = {}
        for call, count, mean, step in opt.windows:
            here = call.site
            if count >= 2 and sites.steps_conditionally(here.file, here.line, step.line):
                lost = watcher.lost_gradients.get(here, (0, NOWHERE))
                if lost[0] and len(watcher.optimizers) == 1:
                    if lost[0] < 2 * (count - 1):
                        evidence = "Gradients of backward passes that no step had used were cleared in line "
                        evidence += f"{lost[1].line}: the batches that are left over after a group of {count} are "
                        evidence += "lost."
                        watcher.report(24, step, evidence, fixes.STEP_FOR_THE_REST)
                        return
                    evidence = "zero_grad() here runs between backward passes whose gradients should add up: of "
                    evidence += f"{count} for each step only the last counts."
                    watcher.report(24, lost[1], evidence)
                    return
            places = here.file, here.line, step.line
            summed = count >= 2 and mean and here not in watcher.lost_gradients
            if summed and (sites.steps_conditionally(*places) or sites.loops_over_micro_batches(*places)):
                groups.setdefault(here, []).append(count)
        for where, counts in groups.items():
            if (
                len(counts) < 2
                or watcher.gradients_scaled
                or sites.argument_is_quotient(opt.site.file, opt.site.line, "lr")
            ):
                continue
            evidence = f"{counts[0]} backward passes were added up for each of {len(counts)} steps, and the loss is a "
            evidence += f"mean that was not divided by {counts[0]}."
            watcher.report(24, where, evidence)


def report_dead_units(watcher: Any) -> None:
    """Report relus most of whose units stayed 0 for whole batches."""
    for where, shares in watcher.dead_shares.items():
        if len(shares) >= MIN_ITERATIONS and min(shares[-3:]) >= MIN_DEAD_SHARE and watcher.optimizers:
            cause = watcher.relu_init_sites.get(where, where)
            if cause == where and shares[0] < MIN_DEAD_SHARE and len(watcher.optimizers) == 1:
                cause = rates.rate_line(watcher.optimizers[0])  # a step killed them
            units = "units" if cause == where else f"units of the relu in line {where.line}"
            evidence = f"{shares[-1]:.0%} of the {units} were 0 for the whole batch, in each of the last "
            evidence += f"{min(3, len(shares))} batches that were checked."
            watcher.report(14, cause, evidence)


def report_constant_weights(watcher: Any) -> None:
    """Report weight matrices that began with the same number everywhere."""
    leaves = list(watcher.constant_weights.values())
    if not leaves:
        return
    first = leaves[0]
    where = first.init_site if first.init_site.line else first.site
    evidence = f"{len(leaves)} weight matrices (shapes {shapes_of(leaves)}) began with the same number "
    evidence += "everywhere, so all units of a layer get the same gradient."
    watcher.report(16, where, evidence)


def report_hand_steps_uphill(watcher: Any) -> None:
    """Report steps by hand along the gradient with a loss that rose."""
    if has_frozen_network(watcher):  # what moves by hand may be its input, which an attack moves uphill on purpose
        return
    for where, moves in watcher.hand_steps.items():
        climbs = any(climbs_by_hand(watcher, call) for call in watcher.backward_calls.values())
        if len(moves) >= MIN_ITERATIONS and all(move.along_gradient > 0 for move in moves) and climbs:
            evidence = f"In {len(moves)} of {len(moves)} steps by hand the parameters went along their gradient, "
            evidence += "uphill, and the loss rose."
            watcher.report(18, where, evidence)


def has_frozen_network(watcher: Any) -> bool:
    """Return whether a module has parameters that require no gradient."""
    modules = [module for ref, _ in watcher.modules.values() if (module := ref()) is not None]
    return any(not parameter.requires_grad for module in modules for parameter in module.parameters(recurse=False))


def climbs_by_hand(watcher: Any, call: BackwardCall) -> bool:
    """Tell whether a cost rose although all its leaves are moved by hand; a score may rise, a cost should not.

    A leaf that another line moves too may be moved back there, as sharpness-aware minimisation does."""
    known = [watcher.leaves.get(id(tensor)) for ref in call.leaves if (tensor := ref()) is not None]
    by_hand = bool(known) and all(
        leaf is not None and leaf.hand_step_count and len(leaf.step_sites) == 1 and not leaf.stepped for leaf in known
    )
    cost = call.cost_sign > 0 or (len(known) > 1 and call.cost_sign == 0)
    return by_hand and cost and len(call.losses) >= MIN_ITERATIONS and rises(call.losses)


def rises(values: Sequence[float]) -> bool:
    return not math.isfinite(values[-1]) or values[-1] > values[0]


def report_recorded_steps(watcher: Any) -> None:
    """Report steps by hand whose graphs hold all earlier steps, where no gradient goes back through them."""
    for where, steps in watcher.recorded_steps.items():
        if steps >= MIN_RUNNING_SUM:
            evidence = f"The step by hand in this line is recorded: {steps} times its result held the graphs of all "
            evidence += "earlier steps, and no gradient went back through them. Step under torch.no_grad() or detach "
            evidence += "the result."
            watcher.report(12, where, evidence)


def report_carried_states(watcher: Any) -> None:
    """Report states whose graph grows from iteration to iteration under retain_graph=True."""
    for where, chain in watcher.carried_states.items():
        if chain >= 4 and where != NOWHERE:
            watcher.report(
                11, where, f"The graph behind this line reaches back through {chain} iterations and grows with each."
            )
