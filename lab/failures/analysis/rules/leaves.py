"""Rules about leaves and results: which tensors keep a gradient, and which may be written to."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import storage_owner
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import ELEMENTWISE
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, is_simple, method, receiver
from lab.failures.analysis.work import walk


def grad_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: .grad is read of a non-leaf. Reports nothing after retain_grad(). This project's engine keeps
    the gradient of a result, so there only an updated result that replaces its leaf counts."""
    for event in case.events_of(EventKind.READ_GRAD):
        value = event.value
        seen = value.kind == Kind.TENSOR or (value.kind == Kind.UNKNOWN and value.op in {"view", "index", *ELEMENTWISE})
        rebound = Tag.REBOUND in value.tags
        if not seen or value.leaf or not (value.graph or rebound) or Tag.RETAINED in value.tags:
            continue
        if not (case.torch or rebound):
            continue
        kept = next((e.statement for e in case.events_of(EventKind.ATTRIBUTE) if e.other is value), None)
        statement = kept or value.statement
        if Tag.UPDATED in value.tags and isinstance(statement, ast.Assign | ast.Return):
            yield case.hit("leaf_replaced" if case.torch else "leaf_rebuilt", statement, None, event)
            continue
        if isinstance(statement, ast.Return) and not asks_for_gradient(statement):
            statement = case.assignment(value)
        if not isinstance(statement, ast.Assign | ast.Return):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and not asks_for_gradient(statement):
            change = case.text.after(statement, f"{target.id}.retain_grad()")
            yield case.hit("grad_not_retained", event.node, change, name=target.id, made=statement.lineno)
        else:  # an attribute or item may be read anywhere
            yield case.hit("grad_of_result", statement, None, event)


def asks_for_gradient(statement: ast.Assign | ast.Return) -> bool:
    """Return whether a statement computes something from a leaf that it makes itself."""
    calls = [n for n in walk(statement) if isinstance(n, ast.Call) and n is not statement.value]
    return any(argument(n, "requires_grad") is not None or method(n) == "requires_grad_" for n in calls)


def leaf_written(case: Case) -> Iterator[RuleHit]:
    """Report failure 7: a leaf that requires a gradient is written in place while operations are recorded.
    The operators of this project's engine never write in place: there, `w -= ...` makes a new tensor."""
    for event in case.events_of(EventKind.WRITE):
        statement = event.statement
        if not event.required_grad or not is_simple(statement) or case.text.indent(statement).strip():
            continue
        if case.torch and event.recorded:
            yield case.hit("leaf_written", statement, case.text.under(statement, "with torch.no_grad():"), event)
        elif not case.torch and isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            yield case.hit("leaf_rebound", statement, None, name=statement.target.id)


def written_name(event: Event) -> str:
    """Return the name that is written to: h of h *= 2, h[0] = 1, h.add_(1), F.relu_(h) or self.act(h); else ""."""
    node, statement = event.node, event.statement
    written: ast.expr | None = getattr(statement, "target", None)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        written = statement.targets[0]
    elif isinstance(node, ast.Call):
        first = node.args[0] if node.args else None
        written = first if event.detail == "argument" else receiver(node)
    written = written.value if isinstance(written, ast.Subscript) else written
    return ast.unparse(written) if isinstance(written, ast.Name | ast.Attribute) else ""


def overwritten(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: numbers that the backward pass needs are overwritten.
    Reports nothing if no operation is known to have saved them, and outside of forward() if no pass needs them."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED, live=False)
    for event in case.events_of(EventKind.WRITE):
        value, statement, name = event.value, event.statement, written_name(event)
        if value.leaf or not event.saved or not event.recorded or not is_simple(statement) or not name:
            continue
        if not event.in_forward and not {value, storage_owner(value)} & wanted:
            continue
        edit = case.text.before(statement, f"{name} = {name}.clone()")
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            sign = ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[2:-2]
            edit = case.text.replace([(statement, f"{name} = {name} {sign} ({case.text.of(statement.value)})")])
        yield case.hit("overwritten", statement, edit, name=name)


RULES = (grad_of_nonleaf, leaf_written, overwritten)
