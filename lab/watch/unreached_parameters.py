"""Find parameters that nothing trains: a cut lies before them, or no optimizer has them."""

from torch import Tensor

from lab.watch import advice, cuts
from lab.watch.graph import VIEWS, GraphNode, kind, leaves_of, origin_of, seen_nodes
from lab.watch.records import MIN_ITERATIONS, Leaf, LossTerm, WatchedOptimizer, has_numbers, shapes_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site, in_attribute_list
from lab.watch.training_events import Act

TERMS = VIEWS | {"Add", "Sub", "Neg", "Mul", "Div"}  # what joins the terms of a loss
LOSING = frozenset(("step", "no_grad", "number", "numpy", "derivative"))  # cuts that lose a graph by mistake
MAX_TERMS = 12  # nodes at the end of a loss that are searched


def judge(run: WatchedRun) -> None:
    """Report parameters that nothing trains."""
    for opt in run.training.optimizers:
        report_never_reached(run, opt)
    report_unoptimized(run)
    report_idle_terms(run)


def terms_of(loss: Tensor) -> dict[Site, LossTerm]:
    """Return the terms of a loss by their lines; the line of the cut for one that has lost its graph."""
    terms: dict[Site, LossTerm] = {}
    queue: list[GraphNode] = [loss.grad_fn]
    for node in queue:
        entry = origin_of(node)
        behind = [other for other, _ in node.next_functions if other is not None and not hasattr(other, "variable")]
        if kind(node) in TERMS and behind and len(queue) < MAX_TERMS:
            queue += behind
            if entry is not None and entry.cut is not None and entry.cut.kind in LOSING:
                terms[entry.cut.site] = LossTerm(frozenset(), [entry.cut])
        elif entry is not None:
            cuts_behind = [other.cut for _, other in seen_nodes(node) if other.cut is not None]
            terms[entry.site] = LossTerm(frozenset(map(id, leaves_of(node))), cuts_behind)
    return terms


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
            evidence = f"The term of line {where.line} moved no parameter: {cut.name} in this line cuts it off."
            run.report(*cuts.report_of(cut, evidence))


def report_never_reached(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report parameters of an optimizer that no gradient ever reached because a cut lies in between."""
    if opt.steps < 2:
        return
    leaves = run.tensors.leaves.copy().items()
    left = {key: leaf.ref() for key, leaf in leaves if key in opt.parameter_ids and not leaf.backward_count}
    unreached = {key for key, tensor in left.items() if tensor is not None and tensor.requires_grad}
    # A graph may also be cut where it should be; the wrong cut is the last before the step.
    step, lines = run.events.last(Act.STEP, opt=opt), run.cuts.lines.values()
    before = step.cuts if step is not None else 0
    for cut in sorted(lines, key=lambda cut: (cut.last_number > before, cut.bypassed, -cut.last_number)):
        behind = unreached & cut.leaves
        each_iteration = cut.kind == "number" and cut.count >= opt.steps
        if behind and (cut.used or each_iteration) and cut.kind != "update":
            run.report(*cuts.report_of(cut, f"{len(behind)} parameters got no gradient in {opt.steps} steps: {{}}"))
            unreached -= cut.leaves


def report_unoptimized(run: WatchedRun) -> None:
    """Report parameters that get gradients again and again, and that nothing ever changes."""
    optimizers, leaves = run.training.optimizers, run.tensors.leaves.copy()
    if not any(opt.steps >= 2 for opt in optimizers):
        return
    owned = set().union(*(opt.parameter_ids for opt in optimizers))
    given = [leaf for key, leaf in leaves.items() if key in owned]
    inputs_alone = not any(leaf.is_parameter for leaf in given)  # as an image or a state; the network stays as it is
    known = all(has_numbers(tensor) for leaf in given if (tensor := leaf.ref()) is not None)  # shards are not
    if inputs_alone or not known:
        return
    for where, iterations in run.training.made_in_forward.items():
        if len(iterations) >= MIN_ITERATIONS:
            evidence = f"This line made new parameters in {len(iterations)} forward passes; each got one gradient, "
            run.report(19, where, evidence + "and no optimizer has them.", advice.MAKE_ONCE)
    by_place: dict[Site, list[Leaf]] = {}
    for key, leaf in leaves.items():
        idle = key not in owned and leaf.backward_count >= MIN_ITERATIONS
        tensor = None if not idle or leaf.loaded or leaf.differentiated or leaf.changed else leaf.ref()
        if tensor is not None and tensor.requires_grad:
            by_place.setdefault(cause_of_unoptimized(run, leaf), []).append(leaf)
    for where, lost in by_place.items():
        made_in = f", made in line {lost[0].site.line}" if lost[0].site else ""
        evidence = f"{len(lost)} tensors (shapes {shapes_of(lost)}{made_in}) got gradients, and no optimizer has them."
        run.report(19, where, evidence, advice.GIVE_TO_OPTIMIZER)


def cause_of_unoptimized(run: WatchedRun, leaf: Leaf) -> Site:
    """Return the line that made a leaf, if the last optimizer that steps was made before it or if a plain list holds
    it, which registers nothing; else that optimizer's."""
    last = [opt for opt in run.training.optimizers if opt.steps][-1]
    above = leaf.site.file == last.site.file and leaf.site.line < last.site.line
    late = leaf.number > last.number if leaf.is_parameter else not above
    return (leaf if late or in_attribute_list(leaf.site) else last).site.whole_line
