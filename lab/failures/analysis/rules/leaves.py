"""Rules about leaves and results: which tensors keep a gradient, and which may be written to."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, close_ancestors, graph_of, storage_owner
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import ELEMENTWISE
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, inside, is_simple, method, names_in, receiver
from lab.failures.analysis.work import walk


def grad_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: .grad is read of a non-leaf; and failure 4: under no_grad a new tensor replaces the leaf.
    Reports nothing after retain_grad(). This project's engine keeps the gradient of a result, so there only an updated
    result that replaces its leaf counts."""
    lost = {e.statement for e in case.events_of(EventKind.LOOP_NAME) if is_lost_update(e)}
    for event in case.events_of(EventKind.READ_GRAD):
        value = event.value
        seen = value.kind == Kind.TENSOR or (value.kind == Kind.UNKNOWN and value.op in {"view", "index", *ELEMENTWISE})
        rebound = Tag.REBOUND in value.tags
        if not seen or value.leaf or not (value.graph or rebound) or Tag.RETAINED in value.tags:
            continue
        if not (case.torch or rebound) or value.statement in lost:
            continue
        kept = next((e.statement for e in case.events_of(EventKind.ATTRIBUTE) if e.other is value), None)
        statement = kept or value.statement
        if Tag.UPDATED in value.tags and isinstance(statement, ast.Assign | ast.Return):
            key = "leaf_replaced_under_no_grad" if case.torch and Tag.UNRECORDED in value.tags else "leaf_replaced"
            yield case.hit(key, statement, None, event)
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


def loop_name_rebound(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: `p = p - lr * p.grad` in a loop over leaves gives the name p to a new tensor, no more.
    Reports nothing if anything reads the name after that, since it may be kept."""
    for event in case.events_of(EventKind.LOOP_NAME):
        if isinstance(event.statement, ast.Assign) and is_lost_update(event):
            yield case.hit("loop_name_rebound", event.statement, None, name=event.statement.targets[0])


def is_lost_update(event: Event) -> bool:
    """Return whether an event gives the loop's name of a leaf to an updated tensor, and nothing keeps that."""
    old, new = event.value, event.other or Value()
    learned = old.kind == Kind.PARAMETER or (old.leaf and graph_of(old) is True)
    derived = new.op == "-" and old in new.parents and any(v.op == "derivative" for v in close_ancestors(new))
    if not learned or not (derived or Tag.UPDATED in new.tags) or not event.loops:
        return False
    here = [(block, s) for block, s in event.path if event.function is None or inside(event.function, s)]
    after = [later for block, s in here for later in block[block.index(s) + 1 :]]
    return isinstance(event.node, ast.Assign) and not any(
        keeps_name(later, ast.unparse(event.node.targets[0])) for later in after
    )


def keeps_name(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement may store what a name stands for; p.grad.zero_() and p.grad = None do not."""
    parts: list[ast.AST] = [statement]
    if isinstance(statement, ast.For) and name in names_in(statement.target):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        parts = [*statement.value.args, *statement.value.keywords]
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        parts = [statement.value]
    return any(name in names_in(part) for part in parts)


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


def differentiated_later(case: Case, write: Event) -> bool:
    """Return whether a leaf without a gradient, such as a buffer, was used before a write and a pass comes after it."""
    if graph_of(write.value) is not False:
        return False
    index = case.order[write]
    passes = (e for e in case.state.events[index:] if e.kind == EventKind.BACKWARD)
    users = (v for e in passes for v in ancestors(e.value) if write.value in v.parents)
    return any(user.created_at <= index for user in users)


def overwritten(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: numbers that the backward pass needs are overwritten.
    Reports nothing if no operation is known to have saved them, and outside of forward() if no pass needs them."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED, EventKind.GRADCHECK, live=False)
    for event in case.events_of(EventKind.WRITE):
        value, statement, name = event.value, event.statement, written_name(event)
        if not event.saved or not event.recorded or not is_simple(statement) or not name:
            continue
        if value.leaf and not differentiated_later(case, event):
            continue
        if not event.in_forward and not {value, storage_owner(value)} & wanted:
            continue
        edit = case.text.before(statement, f"{name} = {name}.clone()")
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            sign = ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[2:-2]
            edit = case.text.replace([(statement, f"{name} = {name} {sign} ({case.text.of(statement.value)})")])
        yield case.hit("overwritten", statement, edit, name=name)


RULES = (grad_of_nonleaf, leaf_written, loop_name_rebound, overwritten)
