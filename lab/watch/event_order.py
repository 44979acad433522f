"""Check the order of zero_grad(), backward(), clipping, step() and a scheduler's step. A gradient that a step has used
and nothing has cleared is stale: the next backward() adds to it."""

import math
from collections import Counter

from torch import Tensor

from lab.watch import sites
from lab.watch.graph import GraphNode, kind, origin_of, skip
from lab.watch.records import EARLY_ITERATIONS, MIN_ITERATIONS, BackwardCall, Leaf, WatchedOptimizer, has_numbers
from lab.watch.run import WatchedRun
from lab.watch.sites import Site
from lab.watch.training_events import Act, TrainingEvent

MIN_IDLE = 5  # backward passes without a step
MAX_CHECKED = 4  # gradients of a pass that are looked at, after EARLY_ITERATIONS


def judge(run: WatchedRun) -> None:
    """Report what comes too early, too late, too often or never."""
    for opt in run.training.optimizers:
        own = [event for event in run.events if event.opt is opt]
        if opt.steps and own and own[0].act is Act.SCHEDULE:
            evidence = "The scheduler was stepped before its optimizer had taken a step: the first rate is skipped."
            run.report(18, own[0].site, evidence)
        check_never_stepped(run, opt)
    check_accumulation(run)
    check_clips(run)


def check_step(run: WatchedRun, opt: WatchedOptimizer, passes: list[TrainingEvent], here: Site) -> None:
    """Report a step whose gradients were cleared after the last of its backward passes."""
    received = [given for given in opt.learning if any(id(given[0]) in event.touched for event in passes)]
    received.sort(key=lambda given: given[0].numel())  # the search ends at a gradient that is not 0: small ones first
    if received and all(tensor.grad is None or not bool(tensor.grad.any()) for tensor, *_ in received):
        clears = (run.events.last(Act.ZERO_GRAD, Act.CLEAR, of=leaf) for _, leaf, _ in received)
        cleared = next(filter(None, clears), None)
        if cleared is not None and cleared.iteration == run.clock.iteration:
            where = here if cleared.forward_ran or run.clock.forward_ran else cleared.site
            evidence = f"{opt.kind}.step() in line {here.line} found no gradient: those of the last backward() were "
            run.report(18, where, evidence + f"cleared in line {cleared.site.line}.")


def check_never_stepped(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report an optimizer that never stepped although its gradients were computed and cleared again and again."""
    leaves = [leaf for key, leaf in run.tensors.leaves.copy().items() if key in opt.parameter_ids]
    idle = not (opt.steps or run.training.uses_grad_scaler or any(leaf.changed for leaf in leaves))
    cleared = any(event.act is Act.ZERO_GRAD and event.touched & opt.parameter_ids for event in run.events)
    last = run.events.last(Act.BACKWARD)
    often = any(leaf.backward_count >= MIN_IDLE for leaf in leaves)
    if idle and cleared and last and often:
        evidence = f"{run.clock.iteration} backward passes filled the gradients, and {opt.kind} in line "
        run.report(18, last.site, evidence + f"{opt.site.line} never took a step.")


def note_clip(run: WatchedRun, given: list[Tensor], limit: float, here: Site) -> None:
    """Record a clip, and whether it comes too late or early: a step has used what it clips, or nothing is there yet."""
    readable = [id(tensor) for tensor in given if has_numbers(tensor)]  # else its passes were not seen
    leaves = (run.tensors.leaves.get(key) for key in readable)
    known = [leaf for leaf in leaves if leaf is not None and leaf.backward_count]
    last = [run.events.last(Act.BACKWARD, Act.STEP, of=leaf) for leaf in known if leaf.gradient is not None]
    in_vain = bool(known) and all(event is not None and event.act is Act.STEP for event in last)
    run.record(Act.CLIP, here, readable, found="nothing" if in_vain and math.isfinite(float(limit)) else "")


def check_clips(run: WatchedRun) -> None:
    """Report a line that clips again and again after the step that used the gradients, or before backward()."""
    clips = [event for event in run.events if event.act is Act.CLIP]
    for where in {event.site for event in clips}:
        last = [event.found for event in clips if event.site == where][-MIN_ITERATIONS:]
        if len(last) == MIN_ITERATIONS and all(last):
            run.report(18, where, "This line clips what no step will use: clip between backward() and step().")


def is_undivided_mean(loss: Tensor) -> bool:
    """Return whether the loss is a mean over a batch, not divided by anything."""
    node: GraphNode = loss.grad_fn
    entry = origin_of(node)
    scaled = entry is not None and entry.name == "scale"  # by a GradScaler
    node = skip(node.next_functions[0][0] if scaled else node, {"Add"})
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


def check_accumulation(run: WatchedRun) -> None:
    """Report several backward passes per step whose losses were not divided, and those that are cleared unused."""
    waiting: dict[BackwardCall, list[TrainingEvent]] = {}  # passes since the last step that could use them
    summed: dict[tuple[Site, WatchedOptimizer | None], list[int]] = {}
    unused: dict[BackwardCall, list[Site]] = {}  # the lines that cleared passes since that step
    undone: dict[BackwardCall, list[list[Site]]] = {}  # the same for each step
    owned = frozenset().union(*(opt.parameter_ids for opt in run.training.optimizers))
    latest = None
    for event in run.events:
        if event.call is not None:
            latest = event.call
            waiting.setdefault(latest, []).append(event)
        elif event.act in (Act.ZERO_GRAD, Act.CLEAR) and event.found != "nothing" and latest is not None:
            for one in waiting.pop(latest, ()):
                if not one.read and one.touched & owned <= event.touched:
                    unused.setdefault(latest, []).append(event.site)
        elif event.act is Act.STEP:
            for call, passes in list(waiting.items()):
                if passes[-1].touched & event.touched:
                    del waiting[call]
                    undone.setdefault(call, []).append(unused.pop(call, []))
                    if call.undivided_mean and len(passes) > 1 and sites.steps_conditionally(call.site, event.site):
                        summed.setdefault((call.site, event.opt), []).append(len(passes))
    for (where, opt), counts in summed.items():
        divided = run.training.gradients_scaled or (opt is not None and sites.line_has_quotient(opt.site))
        if len(counts) >= 2 and not divided:
            evidence = f"Each of {len(counts)} steps uses the sum of {counts[0]} mean losses, undivided."
            run.report(24, where, evidence)
    report_undone(run, undone)


def report_undone(run: WatchedRun, undone: dict[BackwardCall, list[list[Site]]]) -> None:
    """Report a line that clears passes before a step could use them, as many before most steps."""
    for call, rounds in undone.items():
        count, times = Counter(map(len, rounds)).most_common(1)[0]
        if count and not call.in_step and times >= max(MIN_ITERATIONS, len(rounds) / 2):
            where = next(lines[-1] for lines in rounds if lines)
            evidence = f"Before each of {times} steps this line cleared, {count} times, what backward() in line "
            run.report(24, where, evidence + f"{call.site.line} had added: no step used it.")


def find_stale(run: WatchedRun, reached: list[Tensor], here: Site) -> dict[int, Site]:
    """Return the leaves whose gradient a step has used before this backward pass adds to it, each with the line of the
    first pass that did. Report such a sum that a step by hand used."""
    stale: dict[int, Site] = {}
    checked = 0
    for tensor in reached:
        if (gradient := tensor.grad) is None:
            continue
        key, leaf = id(tensor), run.leaf(tensor)
        used = run.events.last(Act.BACKWARD, Act.STEP, Act.WRITE, of=leaf)
        if used is None or not leaf.backward_count:
            continue
        before = used if used.act is Act.BACKWARD else run.events.last(Act.BACKWARD, of=leaf)
        since = before.stale.get(key) if before is not None else None
        if used is before:  # no step came between
            stale |= {key: since} if since else {}
            continue
        checked += 1
        moved = run.events.last(Act.BACKWARD, Act.STEP, of=leaf)
        stepped = moved is not None and moved.act is Act.STEP
        kept = not stepped or gradient._version == leaf.grad_version  # else scaled by hand
        early = checked <= MAX_CHECKED or run.clock.iteration <= EARLY_ITERATIONS
        if kept and early and bool(gradient.any()):
            stale[key] = here
            if since and not stepped and not any(key in opt.parameter_ids for opt in run.training.optimizers):
                report_stale_gradient(run, since, leaf)
    return stale


def check_stale(run: WatchedRun, opt: WatchedOptimizer, passes: list[TrainingEvent]) -> None:
    """Report a stale gradient that a step has used; `passes` came since the step before, the last of them first."""
    if any(event.stale for event in passes):
        for tensor, leaf, _ in opt.learning:
            last = next((event for event in passes if id(tensor) in event.touched), None)
            if last is not None and id(tensor) in last.stale and tensor.grad is not None:
                report_stale_gradient(run, last.stale[id(tensor)], leaf)
                return


def report_stale_gradient(run: WatchedRun, where: Site, leaf: Leaf) -> None:
    """Report that a gradient was added to one that an earlier step had used."""
    recent = run.events.last(Act.ZERO_GRAD)
    recent = recent if recent is not None and recent.iteration >= run.clock.iteration - 1 else None
    cleared, shape = run.events.last(Act.ZERO_GRAD, of=leaf) or recent, leaf.shape
    if cleared is not None:
        evidence = f"zero_grad() here leaves a gradient of shape {shape}; backward() in line {where.line} adds to it."
        run.report(6, cleared.site, evidence)
    else:
        evidence = f"backward() here added to a gradient of shape {shape} that a step had used: nothing cleared it."
        run.report(6, where, evidence)
