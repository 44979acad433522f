"""What an exception says together with what was seen before it."""

import re
import sys
from types import TracebackType
from typing import Any

import torch

from lab.watch import cuts, fixes
from lab.watch.finding import RunFinding
from lab.watch.sites import NOWHERE, Site, is_library, names_read_for_grad, user_frame
from lab.watch.tracks import before_views, made, walk

Tensor = torch.Tensor
SHAPE = re.compile(r"\[([\d, ]*)\]\]?.*? is at version (\d+); expected version (\d+)", re.S)


DTYPES = re.compile(
    r"same dtype|can't be cast|[Ff]ound dtype|expected scalar type|must match the dtype|"
    r"not implemented for '(Long|Int)'"
)


INTEGERS = re.compile(r"Long|Int|Short|Char|Byte|Bool|int\d|long|bool|not implemented")


def line_of(error: BaseException) -> Site:
    """The innermost line of the user's code in a traceback."""
    here, trace = NOWHERE, error.__traceback__
    while isinstance(trace, TracebackType):
        if not is_library(trace.tb_frame.f_code.co_filename):
            here = Site(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return here


def finding(number: int, where: Site, evidence: str, advice: str = "") -> RunFinding:
    return RunFinding(number, where.file, where.line, evidence, advice=advice)


def of_backward(watcher: Any, error: RuntimeError, loss: Tensor, here: Site) -> RunFinding | None:
    """Why backward() raised."""
    text = str(error)
    if "modified by an inplace operation" in text:
        return inplace(watcher, text, loss, here)
    if "second time" in text:
        return second_time(watcher, loss, here)
    if "only for scalar outputs" in text or "only for real scalar outputs" in text:
        return many_numbers(loss, here)
    if "does not require grad" in text:
        return no_graph(watcher, loss, here)
    if "returned nan values" in text and watcher.dangers:
        danger = watcher.dangers[0]
        number, where = (20, danger.where) if danger.where.line else (9, danger.site)
        return finding(number, where, f"{danger.what}; backward() met nan.")
    return None


def many_numbers(loss: Tensor, here: Site) -> RunFinding:
    """backward() from many numbers: the line that made them, where it is known."""
    node = before_views(loss.grad_fn)
    entry = made(node)
    told = f"{loss.numel()} numbers, of shape {tuple(loss.shape)}"
    if entry is not None and entry.site.line:
        evidence = f"{entry.name} in this line gives {told}, and backward() in line {here.line} wants one."
        return finding(3, entry.site, evidence)
    return finding(3, here, f"backward() was called on {told}.")


def inplace(watcher: Any, text: str, loss: Tensor, here: Site) -> RunFinding:
    match = SHAPE.search(text)
    if match is None:
        return finding(1, here, "A tensor that backward() needs was written to in place.")
    shape = tuple(int(part) for part in match[1].split(",") if part.strip())
    now, expected = int(match[2]), int(match[3])
    near = [write for write in watcher.writes if expected < write.version <= now]
    fit = [write for write in near if write.shape == shape] or near
    first = [write for write in fit if write.version == expected + 1] or fit
    made_by, addresses = changed(loss)
    same = [write for write in first if (write.made and id(write.made) in made_by) or write.address in addresses]
    where = (same or first)[-1].site if first else steps_line(watcher) or here
    evidence = f"This line wrote to a tensor of shape {shape} that backward() in line {here.line} needs: it is at "
    evidence += f"version {now}, and version {expected} was kept."
    return finding(1, where, evidence)


def changed(loss: Tensor) -> tuple[set[int], set[int]]:
    """Of the nodes that refuse to give back what they kept, as it was written to: how their result and their operands
    were made, and the addresses of the leaves among them."""
    made_by, addresses = set(), set()
    for node in walk(loss.grad_fn):
        if any(refuses(node, name) for name in dir(node) if name.startswith("_saved_")):
            for part in (node, *(other for other, _ in node.next_functions if other is not None)):
                made_by.add(id(made(part)))
                if hasattr(part, "variable"):
                    addresses.add(part.variable.data_ptr())
    return made_by, addresses


def refuses(node: Any, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def steps_line(watcher: Any) -> Site | None:
    stepped = [track for track in watcher.optimizers if track.steps]
    return max(stepped, key=lambda track: track.last_turn).last_step if stepped else None


def second_time(watcher: Any, loss: Tensor, here: Site) -> RunFinding:
    """The same loss twice, or a tensor of an earlier turn that is still part of the graph."""
    taken = [entry.taken for node in walk(loss.grad_fn) if (entry := made(node)) is not None and entry.taken.line]
    if taken:
        return finding(
            2,
            taken[0],
            f"autograd.grad() in this line went through the graph that backward() in line "
            f"{here.line} needs, and freed it.",
        )
    entries = [(node, entry) for node in walk(loss.grad_fn) if (entry := made(node)) is not None]
    carried = [entry for _, entry in entries if entry.outer.line]
    freed = [node for node, entry in entries if 0 < entry.passed <= watcher.turn]
    turns: dict[Site, set[int]] = {}
    for _, entry in entries:
        turns.setdefault(entry.site, set()).add(entry.turn)
    recent = any(entry.turn == watcher.turn for _, entry in entries)
    repeated = [entry for _, entry in entries if entry.turn < watcher.turn and len(turns[entry.site]) > 1]
    if carried and repeated:
        return finding(
            11,
            carried[-1].outer,
            f"The state from before the last backward() is still part of the graph: "
            f"{len(repeated)} nodes of earlier turns are behind this line.",
        )
    place = watcher.passes.get((here.file, here.line))
    first: Any = made(freed[0]) if freed else None
    moved = freed and any(track.steps and track.last_turn >= first.passed for track in watcher.optimizers)
    if place is not None and place.turns and recent and moved and not repeated:
        return finding(
            2,
            first.site,
            f"{first.name} in this line ran once, and backward() in line {here.line} of "
            f"turn {watcher.turn + 1} needs its graph again: the first one has freed it.",
        )
    stepped = [track for track in watcher.optimizers if track.last_turn == watcher.turn and track.steps]
    for track in stepped:
        shared = [node for node in freed if shared_only(node, track.owned)]
        if shared and watcher.turn:
            first = made(shared[0])
            where = first.consumers[0] if first.consumers else here
            return finding(
                11,
                where,
                f"The backward pass for one optimizer also went through {first.name} of line "
                f"{first.site.line}, and freed it; backward() in line {here.line} needs it "
                "again.",
            )
    before = watcher.last_place
    if place is not before and before is not None and freed and loss.grad_fn not in freed:
        return finding(
            2,
            before.site,
            f"backward() in this line frees the graph that this loss shares with that of "
            f"line {here.line}: keep it with retain_graph=True, or add the two losses up.",
        )
    names = sorted({entry.site.line for node in freed if (entry := made(node)) is not None})[:3]
    evidence = f"backward() number {watcher.turn + 1} needs a graph that an earlier one has freed; it was made in "
    evidence += f"line {', '.join(map(str, names)) or here.line}."
    return finding(2, here, evidence)


def shared_only(node: Any, owned: set[int]) -> bool:
    """True if a part of the graph has leaves, and none of them belongs to the optimizer that has stepped."""
    leaves = [id(found.variable) for found in walk(node) if hasattr(found, "variable")]
    return bool(leaves) and not owned.intersection(leaves)


def no_graph(watcher: Any, loss: Tensor, here: Site) -> RunFinding:
    origin = watcher.origin(loss)
    if origin is not None:
        if origin.cut is not None:
            return finding(*cuts.of_cut(origin.cut, here))
        plain = place_of_gradient(watcher, here) or plain_parameter(watcher)
        where = plain or (watcher.frozen if watcher.frozen.line and frozen(watcher) else origin.site)
        evidence = f"backward() in line {here.line}: nothing that the loss was computed from requires a gradient."
        return finding(4, where, evidence, fixes.ASK_FOR_GRADIENTS)
    told = "Nothing that the loss was computed from requires a gradient."
    return finding(4, here, told, fixes.ASK_FOR_GRADIENTS)


def place_of_gradient(watcher: Any, here: Site) -> Site | None:
    """Where a tensor was made whose .grad is read below backward(), and that does not require one."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return None
    for name, line in names_read_for_grad(here.file, here.line).items():
        tensor = frame.f_locals.get(name)
        origin = watcher.origin(tensor)
        if origin is not None and isinstance(tensor, Tensor) and not tensor.requires_grad:
            return Site(here.file, line) if line else origin.site
    return None


def plain_parameter(watcher: Any) -> Site | None:
    """Where a tensor was made that an optimizer has, and that never required a gradient."""
    for track in watcher.optimizers:
        for key in track.owned:
            leaf = watcher.leaves.get(key)
            tensor = None if leaf is None else leaf.ref()
            if tensor is not None and not leaf.parameter and not tensor.requires_grad and leaf.site.line:
                return leaf.site  # type: ignore[no-any-return]
    return None


def frozen(watcher: Any) -> bool:
    """True if there are optimizers, and none of their parameters requires a gradient."""
    live = [track.ref() for track in watcher.optimizers]
    groups = [group for optimizer in live if optimizer is not None for group in optimizer.param_groups]
    return bool(groups) and not any(tensor.requires_grad for group in groups for tensor in group["params"])


def explain(watcher: Any, error: BaseException) -> None:
    """Add the finding that goes with the exception that ended the script."""
    for raised, found in watcher.pending:
        if raised is error or raised is error.__context__ or raised is error.__cause__:
            watcher.found.setdefault((found.failure, found.file, found.line), found)
            return
    here, text = line_of(error), str(error)
    for number, words in TEXTS:
        if any(word in text for word in words):
            watcher.say(number, here, f"{type(error).__name__} in this line: {text.splitlines()[0]}")
            return
    special(watcher, error, here, text)


TEXTS = (
    (
        7,
        (
            "leaf Variable that requires grad is being used in an in-place",
            "leaf Variable that requires grad has been used in an in-place",
        ),
    ),
    (
        1,
        (
            "is a view and is being modified inplace",
            "a view and its base or another view of its base has been modified",
        ),
    ),
    (
        22,
        (
            "Only Tensors of floating point and complex dtype can require gradients",
            "only Tensors of floating point dtype can require gradients",
        ),
    ),
    (13, ("Can't call numpy() on Tensor that requires grad", "unsupported format string passed to Tensor.__format__")),
)


def special(watcher: Any, error: BaseException, here: Site, text: str) -> None:
    """Errors that need a look at what was there."""
    if isinstance(error, AttributeError) and error.name == "backward":
        for number, cut in reversed(watcher.items):
            if isinstance(error.obj, float) and number == float(error.obj):
                watcher.say(
                    13,
                    cut.site,
                    f"{cut.name} in this line gave a plain number; line {here.line} calls backward() on it.",
                    fixes.NO_ITEM,
                )
                return
        if watcher.last_numpy is not None and not isinstance(error.obj, Tensor):
            evidence = f"The numbers left the graph as a NumPy array in this line; line {here.line} calls backward() "
            evidence += "on what was made of them."
            watcher.say(13, watcher.last_numpy.site, evidence)
    elif "can't optimize a non-leaf Tensor" in text:
        results = [t for t in flat(watcher.last_params) if isinstance(t, Tensor) and not t.is_leaf]
        entry = made(results[0].grad_fn) if results else None
        where = entry.site if entry is not None else here
        watcher.say(
            19, where, f"The optimizer in line {here.line} was given the result of an operation in this line, no leaf."
        )
    elif "optimizer got an empty parameter list" in text:
        watcher.say(
            19,
            watcher.plain_container() or here,
            f"The optimizer in line {here.line} was given no parameters.",
            fixes.REGISTER,
        )
    elif "Inference tensors cannot be saved" in text and watcher.inference.line:
        watcher.say(
            12,
            watcher.inference,
            f"Line {here.line} computes with tensors that were made in inference mode, switched on here.",
            fixes.NO_INFERENCE_MODE,
        )
    elif DTYPES.search(text):
        whole_numbers(watcher, error, here)
    elif "NoneType" in text and any(f.failure == 5 for f in watcher.found.values()):
        return


def flat(params: Any) -> list[Any]:
    found: list[Any] = []
    for part in params if isinstance(params, (list, tuple)) else [params]:
        found += flat(part["params"]) if isinstance(part, dict) else [part]
    return found


def whole_numbers(watcher: Any, error: BaseException, here: Site) -> None:
    """An operation was given integers and floats: the integers' line, found among the variables of the frames."""
    trace, found = error.__traceback__, None
    if not INTEGERS.search(str(error)):  # two sizes of floats
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
    watcher.say(
        22,
        where,
        f"The tensor made here has dtype {dtype}; line {here.line} cannot compute with it: "
        f"{str(error).splitlines()[0]}",
        fixes.WHOLE_LABELS if wanted_float else "",
    )
