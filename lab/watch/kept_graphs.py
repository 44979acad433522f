"""Find graphs that are alive after their turn: sums and lists of tensors, models that are evaluated with a graph."""

import gc
from collections import deque
from typing import Any

from torch import Tensor

from lab.watch import sites
from lab.watch.graph import node_of, origin_of
from lab.watch.records import MIN_ITERATIONS
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site

MIN_KEPT_GRAPHS = 3


def judge(run: WatchedRun) -> None:
    """Report what is alive at the end although its turn is over."""
    report_kept_graphs(run, report_carried_graphs(run))
    report_evaluations(run)


def report_carried_graphs(run: WatchedRun) -> set[Site]:
    """Report sums of tensors carried from iteration to iteration that no backward pass went through, but for those of
    such sums; return their lines."""
    reported: set[Site] = set()
    for where, (ref, source, entry, spans) in run.graphs.chains.items():
        alive = (tensor := ref()) is not None and tensor.grad_fn is not None
        idle = where.whole_line not in run.graphs.passed and where in run.graphs.evaluation_sums
        left = where not in run.graphs.passed_later and entry.sum_site not in reported - {where}
        if left and (alive or idle or entry.past_iterations >= MIN_ITERATIONS):
            reported.add(where)
            kept = NOWHERE if source == where else sites.site_that_keeps(source)
            evidence = f"The result of line {where.line} keeps the graphs of at least {spans} iterations."
            run.report(10, kept or where, evidence)
    return reported


def report_kept_graphs(run: WatchedRun, sums: set[Site]) -> None:
    """Report results of one line that containers hold with their graphs, after several iterations or the last one."""
    by_line: dict[Site, list[Tensor]] = {}
    for value in gc.get_objects():
        entry = origin_of(node_of(value)) if type(value) is Tensor else None
        if entry is not None and entry.watcher_number == run.number and entry.sum_site not in sums - {entry.site}:
            by_line.setdefault(entry.site, []).append(value)
    for made, kept in by_line.items():
        iterations = {entry.iteration for value in kept if (entry := origin_of(value.grad_fn)) is not None}
        idle = made.whole_line not in run.graphs.passed and run.clock.iteration and len(iterations) == 1
        several = len(iterations) >= MIN_KEPT_GRAPHS or idle
        if len(kept) >= MIN_KEPT_GRAPHS and several and made not in run.graphs.passed_later:
            held, names = holders_of(kept)
            where = sites.site_that_keeps(made, names)
            if where and held >= MIN_KEPT_GRAPHS:
                evidence = f"{held} results of line {made.line} are kept here, each with its graph, from "
                run.report(10, where, evidence + f"{len(iterations)} iterations.")


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
    detached = any(cut.kind == "detach" for cut in run.cuts.lines.values())
    for where, iterations in run.graphs.evaluations.items():
        left = where not in run.graphs.passed and (10, where.file, where.line) not in run.found
        if left and len(iterations) >= MIN_ITERATIONS and not detached:
            evidence = f"The model ran here between {len(iterations)} steps, with graphs that no backward() used."
            run.report(12, where, evidence)
