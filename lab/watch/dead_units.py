"""Find relus most of whose units are 0 for whole batches."""

import torch

from lab.watch.learning_rates import rate_line
from lab.watch.records import MIN_ITERATIONS, GraphNode, NodeOrigin, node_of
from lab.watch.run import WatchedRun

Tensor = torch.Tensor
MIN_DEAD_SHARE = 0.9  # share of the units of a layer


def measure(run: WatchedRun, entry: NodeOrigin, result: Tensor) -> None:
    """Record the share of a relu's units that are 0 for the whole batch, once per iteration."""
    where = entry.place
    shares = run.numbers.dead_shares.setdefault(where, {})
    if result.dim() < 2 or result.shape[0] < 4 or run.clock.iteration in shares:
        return
    over = (0, *range(2, result.dim()))
    before: GraphNode = node_of(result).next_functions[0][0]
    for node, _ in () if before is None or shares else before.next_functions:
        bias: Tensor | None = getattr(node, "variable", None)
        leaf = run.tensors.leaves.get(id(bias))
        set_here = leaf is not None and leaf.init_site.line not in (0, leaf.site.line)
        if leaf is not None and bias is not None and set_here and bool(bias.lt(0).all()):
            run.numbers.shifted[where] = leaf.init_site
    shares[run.clock.iteration] = float((result.detach() == 0).all(dim=over).double().mean())


def judge(run: WatchedRun) -> None:
    """Report relus most of whose units stayed 0 for whole batches."""
    optimizers = run.training.optimizers
    for where, by_iteration in run.numbers.dead_shares.items():
        shares = list(by_iteration.values())
        if len(shares) >= MIN_ITERATIONS and min(shares[-3:]) >= MIN_DEAD_SHARE and optimizers:
            cause = where
            if shares[0] >= MIN_DEAD_SHARE:
                cause = run.numbers.shifted.get(where, where)
            elif len(optimizers) == 1:
                cause = rate_line(optimizers[0])  # a step killed them
            units = "units" if cause == where else f"units of the relu in line {where.line}"
            evidence = f"{shares[-1]:.0%} of the {units} were 0 for the whole batch, in each of the last "
            evidence += f"{min(3, len(shares))} batches that were checked."
            run.report(14, cause, evidence)
