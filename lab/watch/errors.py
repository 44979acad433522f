"""Explain the exception that ended a script, with what was recorded before it."""

import re
import traceback

import torch

from lab.failures import find
from lab.watch import advice, cuts
from lab.watch.records import GraphNode, leaves_of, origin_of, seen_nodes, skip, storage_of, walk, writes_in_place
from lab.watch.run import Report, WatchedRun
from lab.watch.sites import NOWHERE, Site, is_library
from lab.watch.training_events import Act

Tensor = torch.Tensor
INTEGERS = 22  # the failure's number
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
    evidence = f"{name} gives {loss.numel()} numbers, of shape {tuple(loss.shape)}, and backward() in line {here.line} "
    return 3, where, evidence + "needs one.", ""


def explain_in_place(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Blame the write that changed a tensor backward() needs, if it was seen; else say what is known of the tensor."""
    match = VERSION_MISMATCH.search(text)
    if match is None:
        return 1, here, f"backward() in this line: {text.splitlines()[0]}", ""
    now, saved = int(match[2]), int(match[3])
    about = f"a tensor of shape {tuple(map(int, match[1].split(', ') if match[1] else ()))}"
    for node in () if run.clock.hidden_saves else walk(loss.grad_fn):
        if not any(is_overwritten(node, name) for name in dir(node) if name.startswith(("_saved_", "saved_tensors"))):
            continue
        used, storages = origin_of(node), storages_of(node, loss)
        number = 0 if used is None else used.node_number
        # The node keeps the memory alive, so a write there after the node was made is a write to what it saved
        seen = [
            write
            for write in run.tensors.writes
            if write.storage in storages and write.nodes >= number and saved <= write.before < write.after <= now
        ]
        if seen:
            evidence = f"This line wrote to {about} that backward() in line {here.line} needs: it is at version {now}, "
            evidence += f"and version {saved} was saved."
            return 1, min(seen, key=lambda write: write.before).site, evidence, ""
        if used is not None:
            about += f", as it was saved by {used.name} in line {used.site.line}"
        break
    evidence = f"backward() needs {about}, at version {saved}. It is at version {now} now; what wrote to it was not "
    evidence += "seen. Look for an optimizer step between the forward pass and backward(), a layer with inplace=True, "
    return 1, here, evidence + "and `+=` or a method that ends in `_`.", ""


def storages_of(node: GraphNode, loss: Tensor) -> set[int]:
    """Return the addresses of the memory that a node may have saved: of its operands and of its result, which is also
    that of a write to the result."""
    parts = [node, *(other for other, _ in node.next_functions if other is not None)]
    users = [user for user, _ in seen_nodes(loss.grad_fn) if any(other is node for other, _ in user.next_functions)]
    parts += [user for user in users if writes_in_place(origin_of(user).name)]  # type: ignore[union-attr]
    known = {entry.storage for part in parts if (entry := origin_of(part)) is not None}
    return (known | {storage_of(part.variable) for part in parts if hasattr(part, "variable")}) - {0}


def is_overwritten(node: GraphNode, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def explain_second_backward(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Explain a graph that was already freed: the same loss twice, or a tensor of an earlier iteration in the graph."""
    entries = list(seen_nodes(loss.grad_fn))
    now, training = run.clock.iteration, run.training
    freed_at = [entry.freed_at for _, entry in entries if entry.freed_at.line]
    if freed_at:
        evidence = f"autograd.grad() in this line went through the graph that backward() in line {here.line} needs, "
        return 2, freed_at[0], evidence + "and freed it.", ""
    carried = [entry for _, entry in entries if entry.carry_site.line]
    freed = [(node, entry) for node, entry in entries if 0 < entry.first_backward <= now]
    latest = {entry.site: (node, entry) for node, entry in sorted(entries, key=lambda seen: seen[1].iteration)}
    # A state is computed from what the same line computed before; a result that is only used again is not
    behind = {site: {id(other) for _, other in seen_nodes(node)} for site, (node, _) in latest.items()}
    old = (entry for _, entry in entries if entry.iteration < latest[entry.site][1].iteration)
    repeated = [entry for entry in old if id(entry) in behind[entry.site]]
    if carried and repeated:
        evidence = f"The state from before the last backward() is still part of the graph: {len(repeated)} nodes of "
        return 11, carried[-1].carry_site, evidence + "earlier iterations are behind this line.", ""
    names = sorted({entry.site.line for _, entry in freed})[:3]
    evidence = f"backward() number {now + 1} needs a graph that an earlier one freed; it was made in line "
    unknown = 2, here, f"{evidence}{', '.join(map(str, names)) or here.line}.", ""
    if not freed:
        return unknown
    node, first = freed[0]
    call, recent = training.calls.get((here.file, here.line)), any(entry.iteration == now for _, entry in entries)
    step = run.events.last(Act.STEP)
    moved = step is not None and step.iteration >= first.first_backward
    if call is not None and call.losses and recent and moved and not repeated:
        evidence = f"A result of {first.name} in line {first.site.line} was computed once, and backward() in line "
        evidence += f"{here.line} of iteration {now + 1} needs its graph again: the first one freed it."
        return 2, first.site if latest[first.site][1].iteration < now else here, evidence, ""
    for opt in training.optimizers if now else ():
        step = run.events.last(Act.STEP, by=opt)
        reached = [set(map(id, leaves_of(node))) for node, _ in freed]
        others = all(leaves and not opt.parameter_ids & leaves for leaves in reached)
        if step is not None and step.iteration == now and others:
            evidence = f"The backward pass for one optimizer also went through {first.name} of line {first.site.line}, "
            evidence += f"and freed it; backward() in line {here.line} needs it again."
            return 11, first.consumers[0] if first.consumers else here, evidence, ""
    before = run.events.last(Act.BACKWARD)
    if before is not None and call is not before.by and node is not loss.grad_fn:
        evidence = f"backward() in this line frees the graph that this loss shares with that of line {here.line}: keep "
        return 2, before.site, evidence + "it with retain_graph=True, or add the two losses.", ""
    return unknown


def explain_no_graph(run: WatchedRun, text: str, loss: Tensor, here: Site) -> Report:
    """Explain a loss without a graph: a cut, or nothing that requires a gradient."""
    origin, where = run.origin(loss), here
    if origin is not None:
        if origin.cut is not None:
            return cuts.diagnose_cut(origin.cut, here)
        given = [p for opt in run.training.optimizers for group in opt.groups for p in group["params"]]
        frozen = bool(given) and all(isinstance(p, torch.nn.Parameter) and not p.requires_grad for p in given)
        where = run.cuts.freeze_site if run.cuts.freeze_site.line and frozen else origin.site
    evidence = f"backward() in line {here.line}: nothing that the loss was computed from requires a gradient."
    return 4, where, evidence, advice.ASK_FOR_GRADIENTS


def explain(run: WatchedRun, error: BaseException) -> None:
    """Add the finding that belongs to the exception that ended the script."""
    for raised in filter(None, (error, error.__context__, error.__cause__)):
        if str(raised) in run.pending:
            run.report(*run.pending[str(raised)])
            return
    here, text = user_line(error), str(error)
    if isinstance(error, AttributeError) and error.name == "backward":  # of a number or an array
        cut = run.cut_of_number(error.obj) if isinstance(error.obj, float) else run.cuts.last_numpy
        if cut is not None:
            evidence = f"{cut.name} in this line gave plain numbers, without a graph, and line {here.line} calls "
            run.report(13, cut.site, evidence + "backward() on what was computed from them.", advice.NO_ITEM)
    elif not explain_with_records(run, error, here, text):
        known = [match.failure.number for match in find(f"{type(error).__name__}: {text}") if match.sure]
        if known and here.line and known[0] not in {found.failure for found in run.found.values()}:
            where = run.tensors.refused if known[0] == INTEGERS and run.tensors.refused.line else here
            line = "this line" if where is here else f"line {here.line}, which got the integers of this one"
            run.report(known[0], where, f"{type(error).__name__} in {line}: {text.splitlines()[0]}")


def explain_with_records(run: WatchedRun, error: BaseException, here: Site, text: str) -> bool:
    """Explain errors whose cause lies in what was recorded, not in the line of the error; return whether it did."""
    if "can't optimize a non-leaf Tensor" in text:
        *_, frame = traceback.walk_tb(error.__traceback__)  # the last is of the optimizer's check
        results = [value for value in frame[0].f_locals.values() if isinstance(value, Tensor) and not value.is_leaf]
        entry = origin_of(results[0].grad_fn) if results else None
        where = entry.site if entry is not None else here
        evidence = f"The optimizer in line {here.line} got the result of the operation in this line, not a leaf."
        run.report(19, where, evidence)
    elif "optimizer got an empty parameter list" in text:
        run.report(19, here, "The optimizer in this line got no parameters.", advice.REGISTER)
    elif isinstance(error, (AttributeError, TypeError)) and run.training.missing_gradient[0][:2] == here[:2]:
        run.report(*run.training.missing_gradient[1])
    elif "Inference tensors cannot be saved" in text and run.cuts.inference_site.line:
        evidence = f"Line {here.line} uses tensors made in inference mode, which is switched on here."
        run.report(12, run.cuts.inference_site, evidence, advice.NO_INFERENCE_MODE)
    else:
        return False
    return True
