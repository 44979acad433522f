"""Check the order of zero_grad(), backward(), clipping, step() and a scheduler's step."""

import math
from collections.abc import Iterator
from typing import TypeAlias

import torch

from lab.watch import advice, sites
from lab.watch.records import MIN_ITERATIONS, BackwardCall, WatchedOptimizer, has_numbers
from lab.watch.run import WatchedRun
from lab.watch.sites import Site
from lab.watch.training_events import Act, TrainingEvent

Tensor = torch.Tensor
UsedPasses: TypeAlias = tuple[TrainingEvent, BackwardCall, int]  # a step, a line of backward(), passes of that line
MIN_IDLE = 5  # backward passes without a step


def judge(run: WatchedRun) -> None:
    """Report what comes too early, too late, too often or never."""
    for opt in run.training.optimizers:
        own = [event for event in run.events if event.by is opt]
        if opt.steps and own and own[0].act is Act.SCHEDULE:
            evidence = "The scheduler was stepped before its optimizer had taken a step: the first rate is skipped."
            run.report(18, own[0].site, evidence)
        check_late_backward(run, opt)
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


def check_late_backward(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report steps between the forward pass of a loss and its backward(), whose gradient is then one step old."""
    step: TrainingEvent | None = None
    late = 0  # in a row
    for event in run.events:
        if event.act is Act.STEP and event.by is opt:
            step = event
        elif event.act is Act.BACKWARD and event.made and step is not None:
            between = step.iteration == event.iteration - 1 and event.made <= step.nodes
            late = late + 1 if between and event.touched & opt.parameter_ids else 0
            if late == MIN_ITERATIONS:
                evidence = "step() in this line comes after the forward pass of a loss and before its backward() in "
                evidence += f"line {event.site.line}: each step uses the gradient of the previous batch."
                run.report(18, step.site, evidence)


def check_never_stepped(run: WatchedRun, opt: WatchedOptimizer) -> None:
    """Report an optimizer that never stepped although its gradients were computed and cleared again and again."""
    leaves = [leaf for key, leaf in run.tensors.leaves.copy().items() if key in opt.parameter_ids]
    idle = not (opt.steps or run.training.uses_grad_scaler or any(leaf.changed for leaf in leaves))
    cleared = any(event.act is Act.ZERO_GRAD and event.touched & opt.parameter_ids for event in run.events)
    last = run.events.last(Act.BACKWARD)
    often = any(leaf.backward_count >= MIN_IDLE for leaf in leaves)
    if idle and cleared and last and often and not report_missing_call(run, 18, last.site.file, "step"):
        evidence = f"{run.clock.iteration} backward passes filled the gradients, and {opt.kind} in line "
        run.report(18, last.site, evidence + f"{opt.site.line} never took a step.")


def report_missing_call(run: WatchedRun, failure: int, file: str, method: str) -> bool:
    """Report a line that names a method and does not call it; return whether there is one."""
    line = sites.line_of_missing_call(file, method)
    if line:
        evidence = f"This line names {method} without calling it: the parentheses are missing."
        run.report(failure, Site(file, line), evidence, advice.CALL_IT)
    return bool(line)


def note_clip(run: WatchedRun, given: list[Tensor], limit: float, here: Site) -> None:
    """Record a clip, and whether the step has used what it clips, or backward() has not computed it yet."""
    readable = [id(tensor) for tensor in given if has_numbers(tensor)]  # else its passes were not seen
    leaves = (run.tensors.leaves.get(key) for key in readable)
    known = [leaf for leaf in leaves if leaf is not None and leaf.backward_count]
    last = [run.events.last(Act.BACKWARD, Act.STEP, of=leaf) for leaf in known if leaf.gradient is not None]
    used = bool(last) and all(event is not None and event.act is Act.STEP for event in last)
    found = "used" if used else "nothing" if known and not last else ""
    run.record(Act.CLIP, here, readable, found=found if math.isfinite(float(limit)) else "")


def check_clips(run: WatchedRun) -> None:
    """Report a line that clips again and again after the step that used the gradients, or before backward()."""
    clips = [event for event in run.events if event.act is Act.CLIP]
    for where in {event.site for event in clips}:
        last = [event.found for event in clips if event.site == where][-MIN_ITERATIONS:]
        if len(last) == MIN_ITERATIONS and all(last):
            what = "clips gradients that the step has used" if last[-1] == "used" else "finds no gradient to clip"
            run.report(18, where, f"This line {what}: clip between backward() and step().")


def passes_by_step(run: WatchedRun) -> Iterator[UsedPasses]:
    """Yield each step with a line whose backward passes came before it, and how many of them since the last step that
    could use them."""
    waiting: dict[BackwardCall, list[TrainingEvent]] = {}
    latest = None
    for event in run.events:
        if event.act is Act.BACKWARD:
            latest = event.by
            waiting.setdefault(latest, []).append(event)
        elif event.act is Act.ZERO_GRAD and event.found != "nothing" and latest is not None:
            waiting.pop(latest, None)
        elif event.act is Act.STEP:
            for call, passes in list(waiting.items()):
                if passes[-1].touched & event.touched:
                    yield event, call, len(waiting.pop(call))


def check_accumulation(run: WatchedRun) -> None:
    """Report several backward passes per step whose losses were not divided."""
    summed: dict[tuple[Site, Site], list[int]] = {}
    for step, call, count in passes_by_step(run):
        here = call.site
        if call.undivided_mean and count > 1 and sites.steps_conditionally(here.file, here.line, step.site.line):
            summed.setdefault((here, step.by.site), []).append(count)
    for (where, made), counts in summed.items():
        divided = sites.line_has_quotient(*made[:2]) or run.training.gradients_scaled
        if len(counts) >= 2 and not divided:
            evidence = f"{counts[0]} backward passes were added up for each of {len(counts)} steps, and the loss "
            run.report(24, where, evidence + f"is a mean that was not divided by {counts[0]}.")
