"""Find parameters that nothing trains: a cut lies before them, or no optimizer has them."""

import torch

from lab.watch import advice, cuts
from lab.watch.event_order import UsedPasses, passes_by_step
from lab.watch.loss_graph import LossTerm
from lab.watch.records import MIN_ITERATIONS, Leaf, WatchedOptimizer, has_numbers, shapes_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site
from lab.watch.training_events import Act

Tensor = torch.Tensor


def judge(run: WatchedRun) -> None:
    """Report parameters that nothing trains."""
    for opt in run.training.optimizers:
        report_never_reached(run, opt)
    report_unoptimized(run)
    report_recreated_parameters(run)
    report_unused_updates(run)
    report_idle_terms(run)


def report_idle_terms(run: WatchedRun) -> None:
    """Report terms of a loss that lost their graph, and those behind which no step moved anything although a cut lies
    between them and what the other terms teach."""
    Key = tuple[Site, Site]  # the line of backward(), and that of the term
    seen: dict[Key, list[LossTerm]] = {}
    filled: dict[Key, frozenset[int]] = {}  # the leaves whose gradient was not cleared since
    moved: dict[Key, frozenset[int]] = {}  # by a step, before that
    for event in run.events:
        for where, term in event.terms.items():
            seen.setdefault((event.site, where), []).append(term)
            filled[event.site, where] = term.leaves
        if event.act is Act.ZERO_GRAD:
            filled = {key: leaves - event.touched for key, leaves in filled.items()}
        elif event.act is Act.STEP:
            moved |= {key: moved.get(key, frozenset()) | leaves & event.touched for key, leaves in filled.items()}
    for (call, where), terms in seen.items():
        taught = frozenset().union(*(leaves for key, leaves in moved.items() if key[0] == call))
        cut = next((cut for cut in terms[-1].cuts if cut.leaves & taught), None)
        if len(terms) >= MIN_ITERATIONS and not moved.get((call, where)) and cut is not None:
            evidence = f"No step moved what the term of line {where.line} reaches: {cut.name} in this line cuts "
            evidence += "the way to the parameters that the other terms teach."
            run.report(*cuts.report_of(cut, evidence))


def report_never_reached(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report parameters of an optimizer that no gradient ever reached because a cut lies in between."""
    if opt.steps < 2:
        return
    leaves = [(key, leaf) for key, leaf in run.tensors.leaves.copy().items() if key in opt.parameter_ids]
    left = {key: tensor for key, leaf in leaves if not leaf.backward_count and (tensor := leaf.ref()) is not None}
    unreached = {key for key, tensor in left.items() if tensor.requires_grad}
    # A graph may also be cut where it should be; the wrong cut is the last before the step.
    step, lines = run.events.last(Act.STEP, by=opt), run.cuts.lines.values()
    before = step.cuts if step is not None else 0
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
                run.report(19, where, evidence + "and no optimizer ever had them.", advice.MAKE_ONCE)


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
    steps, by_place = list(passes_by_step(run)), dict[Site, list[Leaf]]()
    for key, leaf in leaves.items():
        idle = key not in owned and leaf.backward_count >= MIN_ITERATIONS
        tensor = None if not idle or leaf.loaded or leaf.has_graph_grad or leaf.changed else leaf.ref()
        if tensor is not None and tensor.requires_grad:
            by_place.setdefault(cause_of_unoptimized(run, leaf, steps), []).append(leaf)
    for where, lost in by_place.items():
        made_at = lost[0].site.line
        made_in = f", made in line {made_at}," if made_at and made_at != where.line else ""
        evidence = f"{len(lost)} tensors that require gradients (shapes {shapes_of(lost)}){made_in} got one in "
        evidence += f"{lost[0].backward_count} backward passes, and no optimizer has them."
        run.report(19, where, evidence, advice.GIVE_TO_OPTIMIZER)


def cause_of_unoptimized(run: WatchedRun, leaf: Leaf, steps: list[UsedPasses]) -> Site:
    """Return the line that made a leaf, if the optimizer that steps after its backward passes was made before it, else
    the line of that optimizer."""
    stepped = [opt for opt in run.training.optimizers if opt.steps]
    users = [step.by for step, call, _ in steps if id(leaf.ref()) in call.touched]
    last = ([opt for opt in stepped if opt in users] or stepped)[-1]
    above = leaf.site.file == last.site.file and leaf.site.line < last.site.line
    late = leaf.optimizers_before > run.training.optimizers.index(last) if leaf.is_parameter else not above
    return Site(*(leaf if late else last).site[:2])


def report_unused_updates(run: WatchedRun) -> None:
    """Report a leaf's new value that nothing uses: `p = p - lr * p.grad` in a loop gives the name to another tensor."""
    for cut in run.cuts.lines.values():
        behind = [leaf for key in cut.leaves if (leaf := run.tensors.leaves.get(key)) is not None]
        still = behind and not any(leaf.changed or leaf.backward_count < MIN_ITERATIONS for leaf in behind)
        if cut.kind == "update" and not cut.used and still:
            evidence = f"Nothing used the new tensors of this line: the {len(behind)} that got gradients kept their "
            evidence += f"values in {behind[0].backward_count} backward passes."
            run.report(5, cut.site, evidence, advice.STEP_IN_PLACE)
