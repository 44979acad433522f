"""Rules about gradients that are accumulated over several batches on purpose."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import LOSS_FUNCTIONS
from lab.failures.analysis.facts import Value, is_unknown_loss, traverse
from lab.failures.analysis.kinds import Act, Tag
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import called, method, receiver
from lab.failures.analysis.work import walk


def accumulation(case: Case) -> Iterator[RuleHit]:
    """Report failure 24: k batches are added up to one step, but the mean loss is not divided by k or each batch
    zeroes.
    Reports nothing if the loss is a sum, is divided or weighted anywhere, or is unknown."""
    if scales_gradients(case):
        return
    for step in case.events_of(Act.STEP):
        every = next((t for t in step.tests if period(t) is not None), None)
        if every is None or not step.loops:
            continue
        divisor = period(every)
        assert divisor is not None
        k = case.text.of(divisor)
        loop = step.loops[-1]
        others = [e for e in case.events_of(Act.STEP) if e.loops and e.loops[-1] is loop]
        if any(every not in e.tests for e in others):  # another optimizer step runs in every iteration
            continue
        for event in case.events_of(Act.BACKWARD, Act.ZERO):
            if loop not in event.loops or event.loops[-1] is not loop or every in event.tests:
                continue
            direct = any(block is step.loops[-1].body for block, _ in event.path[-2:])  # type: ignore[attr-defined]
            if event.kind == Act.ZERO and event.value is step.value and direct and not event.tests:
                edit = move_after(case, event, step)
                if edit is not None:
                    yield case.hit("zeroed_each_batch", event.node, edit, k=k)
            elif event.kind == Act.BACKWARD:
                yield from undivided(case, event, k)
    for event in case.events_of(Act.BACKWARD):
        inner = event.within or (event.loops[-1] if len(event.loops) > 1 else None)
        if isinstance(inner, ast.For | ast.comprehension) and (
            k := micro_batches(inner, case) or reported_mean(inner, event, case)
        ):
            after = case.program.events[case.order[event] :]
            around = event.loops if event.within is not None else event.loops[:-1]
            steps = [e for e in after if e.kind == Act.STEP and e.loops == around and e.within is None]
            if steps and visible(case, k, steps[0], event):
                yield from undivided(case, event, k)


def scales_gradients(case: Case) -> bool:
    """Tell whether the program scales a gradient in place: p.grad /= k or p.grad.div_(k)."""
    updates = [node for node in case.nodes(ast.AugAssign) if isinstance(node.op, ast.Div | ast.Mult)]
    calls = [call for call in case.nodes(ast.Call) if method(call) in {"div_", "mul_"}]
    for changed in (*(node.target for node in updates), *map(receiver, calls)):
        if isinstance(changed, ast.Attribute) and changed.attr == "data":
            changed = changed.value
        if isinstance(changed, ast.Attribute) and changed.attr == "grad":
            return True
    return False


def undivided(case: Case, backward: Event, k: str) -> Iterator[RuleHit]:
    """Report failure 24 if the loss of one of k batches is a mean, and neither it nor the rate is divided by k."""
    rates = [event.value.attributes["lr"].node for event in case.events_of(Act.OPTIMIZER)]
    if any(isinstance(r, ast.BinOp) and isinstance(r.op, ast.Div) and case.text.of(r.right) == k for r in rates):
        return
    target = receiver(backward.node)
    if method(target) == "scale" and isinstance(target, ast.Call) and target.args:  # scaler.scale(loss)
        target = target.args[0]
    mean = backward.value.form == "loss" or is_unknown_loss(backward.value)
    if mean and not weighted(backward.value) and target is not None:
        yield case.hit("undivided", backward.node, [(target, f"({case.text.of(target)} / {k})")], k=k)


def micro_batches(loop: ast.For | ast.comprehension, case: Case) -> str:
    """Return k, as source text, of a loop over the k micro-batches of one step; "" for any other loop.
    It runs over range(k) with an accumulation in k's name, over the k chunks of a batch or a slice of k batches, or
    takes the next k batches."""
    over = loop.iter
    if isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice):  # batches[i : i + k]
        end = over.slice.upper
        return named_as_share(case.text.of(end.right)) if isinstance(end, ast.BinOp) else ""
    if called(over) in {"zip", "enumerate"} and isinstance(over, ast.Call) and over.args:
        over = over.args[0]
    if not isinstance(over, ast.Call):
        return ""
    if called(over) == "islice" and len(over.args) == 2:
        return case.text.of(over.args[1])
    if method(over) == "split":
        return f"len({case.text.of(over)})"
    if method(over) == "chunk":
        library = isinstance(owner := receiver(over), ast.Name) and owner.id == "torch"
        counts = over.args[1:] if library else over.args
        return case.text.of(counts[0]) if counts else ""
    if called(over) != "range":
        return ""
    if len(over.args) == 3:  # slices of one batch
        return f"len({case.text.of(over)})"
    k = case.text.of(over.args[-1]) if over.args else ""
    if any(called(node) == "next" for node in walk(loop)):
        return k
    return named_as_share(k)


def named_as_share(k: str) -> str:
    """Return k if its name says that gradients are accumulated; else ""."""
    return k if "accum" in k.lower() or "micro" in k.lower() else ""


def visible(case: Case, k: str, step: Event, backward: Event) -> bool:
    """Tell whether k, an expression from the function of a step, means the same in that of a backward pass."""
    classes = [node.body for node in case.nodes(ast.ClassDef)]
    together = any(step.function in body and backward.function in body for body in classes)
    same = together if k.startswith("self.") else step.function is None or k.isdigit()
    return same or step.functions == backward.functions


def reported_mean(loop: ast.For | ast.comprehension, backward: Event, case: Case) -> str:
    """Return k of a loop over range(k) that logs the sum of its losses divided by k, so means their mean; else ""."""
    over, loss = loop.iter, receiver(backward.node)
    if called(over) != "range" or not isinstance(over, ast.Call) or len(over.args) != 1:
        return ""
    k = over.args[0]
    for node in walk(loop):
        share = node.value if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) else None
        if isinstance(share, ast.BinOp) and isinstance(share.op, ast.Div) and isinstance(loss, ast.Name):
            number = receiver(share.left)
            mean = isinstance(number, ast.Name) and number.id == loss.id and ast.dump(share.right) == ast.dump(k)
            if mean:
                return case.text.of(k)
    return ""


def period(branch: ast.If) -> ast.expr | None:
    """Return k of a test such as (i + 1) % k == 0, or of count == k if the branch resets the count to 0; else None."""
    for node in walk(branch.test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return node.right
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.GtE):
            count = ast.unparse(node.left)
            again = [s for s in branch.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == count]
            if any(isinstance(s.value, ast.Constant) and s.value.value == 0 for s in again):
                return node.comparators[0]
    return None


def move_after(case: Case, zero: Event, step: Event) -> Edit | None:
    """Return the edit that moves zeroing the gradients to after the step; None if it cannot be moved."""
    line, last = zero.line, step.statement.end_lineno or step.line
    if case.text.indent(zero.statement).strip() or case.text.indent(step.statement).strip():
        return None
    added = f"\n{case.text.indent(step.statement)}{case.text.of(zero.statement)}"
    if zero.functions != step.functions:
        moved = [(zero.statement, "pass"), (step.statement, case.text.of(step.statement) + added)]
        return case.text.replace(moved)
    if line >= step.line:
        return None
    rest = case.text.lines[zero.statement.end_lineno or line : last]
    return Edit(line, last, "\n".join(rest) + added)


def weighted(loss: Value) -> bool:
    """Tell whether a loss is divided, multiplied or summed, or one of several."""
    parts = traverse(loss, lambda value: () if value.op in LOSS_FUNCTIONS | {"mean"} else value.parents)
    return any(value.op in {"/", "*"} or Tag.SUM in value.tags or value.branches for value in parts)


RULES = (accumulation,)
