"""Explain the exception that ended a script, with what was recorded before it."""

import re
import sys
import traceback
from types import TracebackType
from typing import Any

import torch

from lab.watch import cuts, fixes
from lab.watch.finding import RunFinding
from lab.watch.records import leaves_of, node_of, origin_of, seen_nodes, skip_views, storage_of, walk, writes_in_place
from lab.watch.sites import (
    NOWHERE,
    Site,
    is_library,
    line_that_makes,
    names_read_for_grad,
    outer_frame,
    user_frame,
    user_frames,
)

Tensor = torch.Tensor
VERSION_MISMATCH = re.compile(r"\[([\d, ]*)\]\]?.*? is at version (\d+); expected version (\d+)", re.S)
DTYPE_MISMATCH = re.compile(
    r"same dtype|can't be cast|[Ff]ound dtype|expected scalar type|must match the dtype|"
    r"not implemented for '(Long|Int)'"
)
INTEGER_DTYPE = re.compile(r"Long|Int|Short|Char|Byte|Bool|int\d|long|bool|not implemented")


def user_line(error: BaseException) -> Site:
    """Return the innermost line of the user's code in an exception's traceback."""
    here, trace = NOWHERE, error.__traceback__
    while isinstance(trace, TracebackType):
        if not is_library(trace.tb_frame.f_code.co_filename):
            here = Site(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return here


def finding(number: int, where: Site, evidence: str, advice: str = "") -> RunFinding:
    return RunFinding(number, where.file, where.line, evidence, advice=advice)


def explain_backward(watcher: Any, error: RuntimeError, loss: Tensor, here: Site) -> RunFinding | None:
    """Return the finding behind an error of backward(), or None."""
    text = str(error)
    if "modified by an inplace operation" in text:
        return explain_in_place(watcher, text, loss, here)
    if "second time" in text:
        return explain_second_backward(watcher, loss, here)
    if "only for scalar outputs" in text or "only for real scalar outputs" in text:
        return explain_non_scalar(loss, here)
    if "does not require grad" in text:
        return explain_no_graph(watcher, loss, here)
    if "returned nan values" in text and watcher.dangers:
        danger = watcher.dangers[0]
        number, where = (20, danger.masked_at) if danger.masked_at.line else (9, danger.site)
        return finding(number, where, f"{danger.evidence}; backward() met nan.")
    return None


def explain_non_scalar(loss: Tensor, here: Site) -> RunFinding:
    """Blame the line that made several numbers, if known, for backward() from a non-scalar."""
    node = skip_views(loss.grad_fn)
    entry = origin_of(node)
    text = f"{loss.numel()} numbers, of shape {tuple(loss.shape)}"
    if entry is not None and entry.site.line:
        evidence = f"{entry.name} in this line gives {text}, and backward() in line {here.line} needs one."
        return finding(3, entry.site, evidence)
    return finding(3, here, f"backward() was called on {text}.")


def explain_in_place(watcher: Any, text: str, loss: Tensor, here: Site) -> RunFinding:
    """Blame the write that changed a tensor backward() needs, if it was seen; else say what is known of the tensor."""
    match = VERSION_MISMATCH.search(text)
    if match is None:
        return finding(1, here, "A tensor that backward() needs was written to in place.")
    now, saved = int(match[2]), int(match[3])
    about = f"a tensor of shape ({match[1]})"
    for node in () if watcher.hidden_saves else walk(loss.grad_fn):
        if not any(is_overwritten(node, name) for name in dir(node) if name.startswith(("_saved_", "saved_tensors"))):
            continue
        used, storages = origin_of(node), storages_of(node, loss)
        number = 0 if used is None else used.node_number
        # The node keeps the memory alive, so a write there after the node was made is a write to what it saved
        seen = [
            write
            for write in watcher.writes
            if write.storage in storages and write.node_count >= number and saved <= write.before < write.after <= now
        ]
        if seen:
            evidence = f"This line wrote to {about} that backward() in line {here.line} needs: it is at version {now}, "
            evidence += f"and version {saved} was saved."
            return finding(1, min(seen, key=lambda write: write.before).site, evidence)
        by = f" by {used.name} in line {used.site.line}" if used is not None and used.site.line else ""
        made = next(filter(None, (origin_of(other) for other, _ in node.next_functions)), None)
        of = f", the result of {made.name} in line {made.site.line}," if made is not None and made.site.line else ""
        about += f"{of} as it was saved{by}"
        break
    return finding(1, here, f"backward() needs {about}, at version {saved}. {UNSEEN_WRITE.format(now)}")


UNSEEN_WRITE = (
    "It is at version {} now; what wrote to it was not seen. Look for an optimizer step between the forward pass and "
    "backward(), a layer with inplace=True, and `+=` or a method that ends in `_`."
)


def storages_of(node: Any, loss: Tensor) -> set[int]:
    """Return the addresses of the memory that a node may have saved: of its operands and of its result, which is also
    that of a write to the result."""
    parts = [node, *(other for other, _ in node.next_functions if other is not None)]
    users = [user for user, _ in seen_nodes(loss.grad_fn) if any(other is node for other, _ in user.next_functions)]
    parts += [user for user in users if writes_in_place(origin_of(user).name)]  # type: ignore[union-attr]
    known = {entry.storage for part in parts if (entry := origin_of(part)) is not None}
    return (known | {storage_of(part.variable) for part in parts if hasattr(part, "variable")}) - {0}


def is_overwritten(node: Any, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def explain_second_backward(watcher: Any, loss: Tensor, here: Site) -> RunFinding:
    """Explain a graph that was already freed: the same loss twice, or a tensor of an earlier iteration in the graph."""
    entries = list(seen_nodes(loss.grad_fn))
    freed_at = [entry.freed_at for _, entry in entries if entry.freed_at.line]
    if freed_at:
        evidence = f"autograd.grad() in this line went through the graph that backward() in line {here.line} needs, "
        evidence += "and freed it."
        return finding(2, freed_at[0], evidence)
    carried = [entry for _, entry in entries if entry.carry_site.line]
    freed = [node for node, entry in entries if 0 < entry.first_backward <= watcher.iteration]
    iterations: dict[Site, set[int]] = {}
    for _, entry in entries:
        iterations.setdefault(entry.site, set()).add(entry.iteration)
    recent = any(entry.iteration == watcher.iteration for _, entry in entries)
    repeated = [
        entry for _, entry in entries if entry.iteration < watcher.iteration and len(iterations[entry.site]) > 1
    ]
    if carried and repeated:
        evidence = f"The state from before the last backward() is still part of the graph: {len(repeated)} nodes of "
        evidence += "earlier iterations are behind this line."
        return finding(11, carried[-1].carry_site, evidence)
    call = watcher.backward_calls.get((here.file, here.line))
    first: Any = origin_of(freed[0]) if freed else None
    moved = freed and any(opt.steps and opt.last_iteration >= first.first_backward for opt in watcher.optimizers)
    if call is not None and call.iterations and recent and moved and not repeated:
        evidence = f"{first.name} in line {first.site.line} ran once, and backward() in line {here.line} of iteration "
        evidence += f"{watcher.iteration + 1} needs its graph again: the first one freed it."
        return finding(2, site_made_once(freed) or first.site, evidence)
    stepped = [opt for opt in watcher.optimizers if opt.last_iteration == watcher.iteration and opt.steps]
    for opt in stepped:
        shared = [node for node in freed if reaches_only_others(node, opt.parameter_ids)]
        if shared and watcher.iteration:
            first = origin_of(shared[0])
            where = first.consumers[0] if first.consumers else here
            evidence = f"The backward pass for one optimizer also went through {first.name} of line {first.site.line}, "
            evidence += f"and freed it; backward() in line {here.line} needs it again."
            return finding(11, where, evidence)
    before = watcher.last_call
    if call is not before and before is not None and freed and loss.grad_fn not in freed:
        evidence = f"backward() in this line frees the graph that this loss shares with that of line {here.line}: keep "
        evidence += "it with retain_graph=True, or add the two losses."
        return finding(2, before.site, evidence)
    names = sorted({entry.site.line for node, entry in entries if node in freed})[:3]
    evidence = f"backward() number {watcher.iteration + 1} needs a graph that an earlier one freed; it was made in "
    evidence += f"line {', '.join(map(str, names)) or here.line}."
    return finding(2, here, evidence)


def site_made_once(nodes: list[Any]) -> Site | None:
    """Return the line that keeps the result of one of these nodes in a variable, an attribute or a cached property."""
    for frame in user_frames():
        known = dict(frame.f_locals)
        for value in frame.f_locals.values():
            if not is_library(getattr(sys.modules.get(type(value).__module__), "__file__", None) or "<"):
                known |= vars(value) if hasattr(value, "__dict__") else {}
        for name, value in known.items():
            file = frame.f_code.co_filename
            line = line_that_makes(file, name) if isinstance(value, Tensor) and node_of(value) in nodes else 0
            if line:
                return Site(file, line)
    return None


def reaches_only_others(node: Any, owned: set[int]) -> bool:
    """Tell whether a part of the graph has leaves, none of which belongs to the optimizer that stepped."""
    leaves = set(map(id, leaves_of(node)))
    return bool(leaves) and not owned & leaves


def explain_no_graph(watcher: Any, loss: Tensor, here: Site) -> RunFinding:
    """Explain a loss without a graph: a cut, or nothing that requires a gradient."""
    origin = watcher.origin(loss)
    if origin is not None:
        if origin.cut is not None:
            return finding(*cuts.diagnose_cut(origin.cut, here))
        plain = site_of_grad_read(watcher, here) or plain_parameter_site(watcher)
        freeze = watcher.last_freeze_site
        where = plain or (freeze if freeze.line and all_frozen(watcher) else origin.site)
        evidence = f"backward() in line {here.line}: nothing that the loss was computed from requires a gradient."
        return finding(4, where, evidence, fixes.ASK_FOR_GRADIENTS)
    text = "Nothing that the loss was computed from requires a gradient."
    return finding(4, here, text, fixes.ASK_FOR_GRADIENTS)


def site_of_grad_read(watcher: Any, here: Site) -> Site | None:
    """Return where a tensor was made whose .grad is read below backward() and that requires no gradient."""
    frame = user_frame(outer_frame())
    if frame is None:
        return None
    for name, line in names_read_for_grad(here.file, here.line).items():
        tensor = frame.f_locals.get(name)
        origin = watcher.origin(tensor)
        if origin is not None and isinstance(tensor, Tensor) and not tensor.requires_grad:
            return Site(here.file, line) if line else origin.site
    return None


def plain_parameter_site(watcher: Any) -> Site | None:
    """Return where a tensor in an optimizer was made that never required a gradient."""
    for opt in watcher.optimizers:
        for key in opt.parameter_ids:
            leaf = watcher.leaves.get(key)
            tensor = None if leaf is None else leaf.ref()
            if tensor is not None and not leaf.is_parameter and not tensor.requires_grad and leaf.site.line:
                return leaf.site  # type: ignore[no-any-return]
    return None


def all_frozen(watcher: Any) -> bool:
    """Tell whether there are optimizers and none of their parameters requires a gradient."""
    live = [opt.ref() for opt in watcher.optimizers]
    groups = [group for optimizer in live if optimizer is not None for group in optimizer.param_groups]
    return bool(groups) and not any(tensor.requires_grad for group in groups for tensor in group["params"])


def explain(watcher: Any, error: BaseException) -> None:
    """Add the finding that belongs to the exception that ended the script."""
    for raised in filter(None, (error, error.__context__, error.__cause__)):
        found = watcher.pending_findings.get(str(raised))
        if found is not None:
            watcher.found.setdefault((found.failure, found.file, found.line), found)
            return
    here, text = user_line(error), str(error)
    for number, words in MESSAGES:
        if words in text:
            watcher.report(number, here, f"{type(error).__name__} in this line: {text.splitlines()[0]}")
            return
    explain_with_records(watcher, error, here, text)


MESSAGES = (
    (7, "leaf Variable that requires grad is being used in an in-place"),
    (7, "leaf Variable that requires grad has been used in an in-place"),
    (1, "is a view and is being modified inplace"),
    (1, "a view and its base or another view of its base has been modified"),
    (22, "Only Tensors of floating point and complex dtype can require gradients"),
    (22, "only Tensors of floating point dtype can require gradients"),
    (13, "Can't call numpy() on Tensor that requires grad"),
    (13, "unsupported format string passed to Tensor.__format__"),
)


def explain_with_records(watcher: Any, error: BaseException, here: Site, text: str) -> None:
    """Explain errors whose cause lies in what was recorded, not in the line of the error."""
    if isinstance(error, AttributeError) and error.name == "backward":
        for number, cut in reversed(watcher.recent_numbers):
            if isinstance(error.obj, float) and number == float(error.obj):
                evidence = f"{cut.name} in this line returned a plain number; line {here.line} calls backward() on it."
                watcher.report(13, cut.site, evidence, fixes.NO_ITEM)
                return
        if watcher.last_numpy_cut is not None and not isinstance(error.obj, Tensor):
            evidence = f"The values left the graph as a NumPy array in this line; line {here.line} calls backward() "
            evidence += "on a result computed from them."
            watcher.report(13, watcher.last_numpy_cut.site, evidence)
    elif "can't optimize a non-leaf Tensor" in text:
        *_, frame = traceback.walk_tb(error.__traceback__)  # the last is of the optimizer's check
        results = [value for value in frame[0].f_locals.values() if isinstance(value, Tensor) and not value.is_leaf]
        entry = origin_of(results[0].grad_fn) if results else None
        where = entry.site if entry is not None else here
        watcher.report(
            19, where, f"The optimizer in line {here.line} got the result of the operation in this line, not a leaf."
        )
    elif "optimizer got an empty parameter list" in text:
        evidence = f"The optimizer in line {here.line} got no parameters."
        watcher.report(19, watcher.plain_container() or here, evidence, fixes.REGISTER)
    elif "Inference tensors cannot be saved" in text and watcher.inference_mode_site.line:
        evidence = f"Line {here.line} uses tensors made in inference mode, which is switched on here."
        watcher.report(12, watcher.inference_mode_site, evidence, fixes.NO_INFERENCE_MODE)
    elif DTYPE_MISMATCH.search(text):
        report_integers(watcher, error, here)


def report_integers(watcher: Any, error: BaseException, here: Site) -> None:
    """Blame the line that made the integers when an operation got integers and floats."""
    trace, found = error.__traceback__, None
    if not INTEGER_DTYPE.search(str(error)):  # both are floats, of different precision
        return
    wanted_float = "Long but found Float" in str(error) or "Int but found Float" in str(error)
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            if not isinstance(value, Tensor) or value.requires_grad or value.is_floating_point() != wanted_float:
                continue
            origin = watcher.origin(value)
            if origin is not None and value.dim():
                found = origin.site, value.dtype
        trace = trace.tb_next
    where, dtype = found or (here, "integers")
    evidence = f"The tensor made here has dtype {dtype}; line {here.line} cannot compute with it: "
    evidence += f"{str(error).splitlines()[0]}"
    watcher.report(22, where, evidence, fixes.WHOLE_LABELS if wanted_float else "")
