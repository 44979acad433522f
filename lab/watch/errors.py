"""Explain the exception that ended a script, with what was recorded before it."""

import re
import traceback

import torch
from torch import Tensor

from lab.failures import find
from lab.watch import advice, cuts
from lab.watch.graph import node_of, origin_of, seen_nodes, skip
from lab.watch.run import Report, WatchedRun
from lab.watch.sites import NOWHERE, Site, is_library
from lab.watch.training_events import Act

VERSION_MISMATCH = re.compile(r"\[([\d, ]*)\]\]?.*? is at version (\d+); expected version (\d+)", re.S)


def user_line(error: BaseException) -> Site:
    """Return the innermost line of the user's code in an exception's traceback."""
    lines = [Site(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return next((here for here in reversed(lines) if not is_library(here.file)), NOWHERE)


def explain_backward(run: WatchedRun, error: RuntimeError, loss: Tensor, here: Site) -> None:
    """Keep what is behind an error of a backward pass, in case it ends the script."""
    explain = {1: explain_in_place, 2: explain_second_backward, 3: explain_non_scalar, 4: explain_no_graph}
    known = find(f"{type(error).__name__}: {error}")
    number = known[0].failure.number if known else 0
    if number in explain:
        run.pending[str(error)] = explain[number](run, str(error), loss, here)


def explain_non_scalar(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Blame the line that made several numbers, if known, for backward() from a non-scalar."""
    entry = origin_of(skip(loss.grad_fn))
    name, where = ("the loss", here) if entry is None else (f"{entry.name} in this line", entry.site)
    numbers = f"{loss.numel()} numbers, of shape {tuple(loss.shape)}"
    return 3, where, f"{name} gives {numbers}, and backward() in line {here.line} needs one.", ""


def explain_in_place(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Blame the write that changed a tensor backward() needs, if it was seen; else say what is known of the tensor."""
    match = VERSION_MISMATCH.search(text)
    if match is None:
        return 1, here, f"backward() in this line: {text.splitlines()[0]}", ""
    now, saved = int(match[2]), int(match[3])
    shape = tuple(map(int, match[1].split(", ") if match[1] else ()))
    about, savers = f"a tensor of shape {shape}", set[str]()
    for _, entry in seen_nodes(loss.grad_fn):
        for kept in entry.saved:
            if (kept.shape, kept.version) != (shape, saved):
                continue
            savers.add(f", saved by {entry.name} in line {entry.site.line}")
            since = (write for write in run.tensors.writes if write.nodes >= entry.node_number)
            writes = (write for write in since if write.storage == kept.storage)
            seen = [write for write in writes if saved <= write.before < write.after <= now]
            if seen:
                evidence = f"This line wrote to {about} that backward() in line {here.line} needs: it is at version "
                first = min(seen, key=lambda write: write.before)
                stepped = any(event.act is Act.STEP and event.site == first.site for event in run.events)
                fix = advice.STEP_LATER if stepped else ""
                return 1, first.site, f"{evidence}{now}, and version {saved} was saved.", fix
    about += savers.pop() if len(savers) == 1 else ""
    evidence = f"backward() needs {about}, at version {saved}. It is at version {now} now; what wrote to it was not "
    return 1, here, evidence + "seen. Look for a step before it, inplace=True, `+=` and methods that end in `_`.", ""


def explain_second_backward(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Explain a graph that was already freed: the same loss twice, or a tensor of an earlier iteration in the graph."""
    entries = list(seen_nodes(loss.grad_fn))
    now, training = run.clock.iteration, run.training
    carried = [entry for _, entry in entries if entry.carry_site]
    freed = [(node, entry) for node, entry in entries if 0 < entry.first_backward <= now]
    latest = {entry.site: (node, entry) for node, entry in sorted(entries, key=lambda seen: seen[1].iteration)}
    # A state is computed from what the same line computed before; a result that is only used again is not
    behind = {site: {id(other) for _, other in seen_nodes(node)} for site, (node, _) in latest.items()}
    old = (entry for _, entry in entries if entry.iteration < latest[entry.site][1].iteration)
    repeated = [entry for entry in old if id(entry) in behind[entry.site]]
    if carried and repeated:
        evidence = f"The graph behind this line still has nodes from before the last backward(): {len(repeated)}."
        return 11, carried[-1].carry_site, evidence, ""
    names = sorted({entry.site.line for _, entry in freed})[:3]
    evidence = f"backward() number {now + 1} needs a graph that an earlier one freed; it was made in line "
    unknown = 2, here, f"{evidence}{', '.join(map(str, names)) or here.line}.", ""
    if not freed:
        return unknown
    node, first = freed[0]
    call, recent = training.calls.get(here.whole_line), any(entry.iteration == now for _, entry in entries)
    step = run.events.last(Act.STEP)
    moved = step is not None and step.iteration >= first.first_backward
    if call is not None and call.losses and recent and moved and not repeated:
        evidence = f"{first.name} in line {first.site.line} ran once, and line {here.line} needs its graph again."
        return 2, first.site if latest[first.site][1].iteration < now else here, evidence, ""
    before = run.events.last(Act.BACKWARD)
    if before is not None and call is not before.call and node is not loss.grad_fn:
        evidence = f"This frees a graph that line {here.line} needs: use retain_graph=True, or add the losses."
        return 2, before.site, evidence, ""
    return unknown


def explain_no_graph(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Explain a loss without a graph: a cut, or nothing that requires a gradient."""
    origin, where = run.origin(loss), here
    if origin is not None:
        if origin.cut is not None:
            return cuts.diagnose_cut(origin.cut, here)
        given = [p for opt in run.training.optimizers for group in opt.groups for p in group["params"]]
        frozen = bool(given) and all(isinstance(p, torch.nn.Parameter) and not p.requires_grad for p in given)
        made = [known.site for p in given if not p.requires_grad and (known := run.origin(p)) is not None]
        where = run.cuts.freeze_site if frozen and run.cuts.freeze_site else next(iter(made), origin.site)
    evidence = f"backward() in line {here.line}: nothing that the loss was computed from requires a gradient."
    return 4, where, evidence, advice.ASK_FOR_GRADIENTS


def explain(run: WatchedRun, error: BaseException) -> None:
    """Add the finding that belongs to the exception that ended the script."""
    for raised in filter(None, (error, error.__context__, error.__cause__)):
        if str(raised) in run.pending:
            run.report(*run.pending[str(raised)])
            return
    here = user_line(error)
    missing = run.training.missing_gradient
    if isinstance(error, AttributeError) and error.name == "backward":  # of a number or an array
        cut = run.cut_of_number(error.obj) if isinstance(error.obj, float) else run.cuts.last_numpy
        if cut is not None:
            evidence = f"{cut.name} in this line gave plain numbers; line {here.line} calls backward() on them."
            run.report(13, cut.site, evidence)
    elif isinstance(error, (AttributeError, TypeError)) and missing[0].whole_line == here:
        run.report(*missing[1])
    else:
        explain_message(run, error, here)


def explain_message(run: WatchedRun, error: BaseException, here: Site) -> None:
    """Report the failure that the finder sees in an exception, in the line that made what PyTorch refused, if known."""
    kind, text = type(error).__name__, str(error)
    inference = run.cuts.inference_site if "Inference tensors" in text else NOWHERE
    known = [match.failure.number for match in find(f"{kind}: {text}") if match.sure or inference]
    if known and here and known[0] not in {found.failure for found in run.found.values()}:
        *_, last = traceback.walk_tb(error.__traceback__)
        given = [value for value in last[0].f_locals.values() if isinstance(value, Tensor)]
        results = [entry.site for value in given if (entry := origin_of(node_of(value))) is not None]
        causes = {12: inference, 19: results[0] if results else NOWHERE, 22: run.tensors.refused}
        where = causes.get(known[0]) or here
        line = "this line" if where is here else f"line {here.line}, which got what this one made"
        run.report(known[0], where, f"{kind} in {line}: {text.splitlines()[0]}")
