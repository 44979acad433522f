"""Rules about leaves and results: which tensors keep a gradient, and which may be written to."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import ELEMENTWISE
from lab.failures.analysis.facts import Value, close_ancestors, graph_of, reach, storage_owner
from lab.failures.analysis.kinds import Act, Kind, Tag
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import argument, inside, is_simple, method, receiver
from lab.failures.analysis.work import walk


def grad_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: .grad is read of a non-leaf; and failure 4: under no_grad a new tensor replaces the leaf.
    Reports nothing after retain_grad(). This project's engine keeps the gradient of a result, so there only an updated
    result that replaces its leaf counts."""
    lost = {e.statement for e in case.events_of(Act.LOOP_NAME) if is_lost_update(e)}
    for event in case.events_of(Act.READ_GRAD):
        value = event.value
        seen = value.kind == Kind.TENSOR or (value.kind == Kind.UNKNOWN and value.op in {"view", "index", *ELEMENTWISE})
        rebound = Tag.REBOUND in value.tags
        if not seen or value.leaf or not (value.graph or rebound) or Tag.RETAINED in value.tags:
            continue
        if not (case.torch or rebound) or value.statement in lost:
            continue
        kept = next((e.statement for e in case.events_of(Act.ATTRIBUTE) if e.other is value), None)
        statement = kept or value.statement
        if isinstance(statement, ast.Return) and (edit := requires_grad_last(case, statement)) is not None:
            yield case.hit("requires_grad_too_early", statement, edit, event)
        elif isinstance(statement, ast.Return) and Tag.UPDATED not in value.tags:
            statement = case.assignment(value)
        if isinstance(statement, ast.Return) and Tag.UPDATED in value.tags:
            yield from returned_update(case, event, statement)
        if not isinstance(statement, ast.Assign):
            continue
        if Tag.UPDATED in value.tags:
            name = case.text.of(statement.targets[0])
            unrecorded = case.torch and Tag.UNRECORDED in value.tags
            change = update_in_place(statement, case, unrecorded) or leaf_again(value, case)
            if change is not None and unrecorded:
                yield case.hit("leaf_replaced_under_no_grad", statement, change, name=name)
            elif change is not None:
                key = "leaf_replaced" if case.torch else "leaf_of_engine_replaced"
                yield case.hit(key, statement, change, name=name)
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
            continue
        name = case.text.of(target)
        kept_as = statement.value.id if isinstance(statement.value, ast.Name) else name
        edit = requires_grad_last(case, statement)
        change = edit or case.text.after(statement, f"{kept_as}.retain_grad()")
        if edit or not isinstance(target, ast.Name):  # an attribute or item may be read anywhere
            yield case.hit("grad_of_result", statement, change, event, name=name)
        else:
            yield case.hit("grad_not_retained", event.node, change, name=name, made=statement.lineno)


def returned_update(case: Case, event: Event, statement: ast.Return) -> Iterator[RuleHit]:
    """Report failure 5, or 4 under no_grad: a function returns the new values of leaves, which are no leaves."""
    change = leaf_again(event.value, case)
    if change is not None:
        key = "returned_without_graph" if Tag.UNRECORDED in event.value.tags else "returned_results"
        yield case.hit(key, statement, change, event)


def loop_name_rebound(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: `p = p - lr * p.grad` in a loop over leaves gives the name p to a new tensor, no more.
    Reports nothing if anything reads the name after that, since it may be kept."""
    for event in case.events_of(Act.LOOP_NAME):
        statement = event.statement
        if isinstance(statement, ast.Assign) and is_lost_update(event):
            name = case.text.of(statement.targets[0])
            key = "loop_name_rebound" if case.torch else "loop_name_rebound_in_engine"
            yield case.hit(key, statement, change_item(case, event, statement, name), name=name)


def is_lost_update(event: Event) -> bool:
    """Tell whether an event gives the loop's name of a leaf to an updated tensor, and nothing keeps that."""
    statement, old, new = event.statement, event.value, event.other or Value()
    name = old.name if not isinstance(statement, ast.Assign) else ast.unparse(statement.targets[0])
    learned = old.kind == Kind.PARAMETER or (old.leaf and graph_of(old) is True)
    derived = new.op == "-" and old in new.parents and any(v.op == "derivative" for v in close_ancestors(new))
    if not learned or not (derived or Tag.UPDATED in new.tags) or not event.loops:
        return False
    here = [(block, s) for block, s in event.path if event.function is None or inside(event.function, s)]
    after = [later for block, s in here for later in block[block.index(s) + 1 :]]
    return not any(keeps_name(later, name) for later in after)


def keeps_name(statement: ast.stmt, name: str) -> bool:
    """Tell whether a statement may store what a name stands for. Methods of it, as in p.grad.zero_(), do not."""
    if isinstance(statement, ast.For) and any(getattr(n, "id", "") == name for n in walk(statement.target)):
        return False
    call = statement.value if isinstance(statement, ast.Expr) else None
    given: list[ast.AST] = [*call.args, *call.keywords] if isinstance(call, ast.Call) else [statement]
    if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Attribute) for t in statement.targets):
        given = [statement.value]
    inside = [node for part in given for node in walk(part)]
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in inside)


def change_item(case: Case, event: Event, statement: ast.Assign, name: str) -> Edit:
    """Return the edit that writes into the loop's item instead of giving its name away."""
    value, indent = statement.value, case.text.indent(statement)
    left = value.left if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) else None
    less = case.text.of(value.right) if left is not None and ast.unparse(left) in {name, f"{name}.data"} else ""  # type: ignore[attr-defined]
    if case.torch:
        new = f"{name} -= {less}" if less else f"{name}.copy_({case.text.of(value)})"
        new = f"with torch.no_grad():\n{indent}    {new}" if event.recorded else new
    else:
        new = f"{name}.data -= {less}" if less else f"{name}.data[...] = {case.text.of(value)}"
    zeroed = case.events_of(Act.ZERO) or "zero_grad" in case.names
    return case.text.replace([(statement, new if zeroed else f"{new}\n{indent}{name}.grad = None")])


def recorded_updates(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: w = w - lr * slope in a loop is recorded, so that each w carries the graph of all before it.
    Reports nothing if a derivative is taken with create_graph, as in meta-learning."""
    if any("create_graph" in ast.unparse(e.node) for e in case.events_of(Act.DIFFERENTIATE)):
        return
    done: set[ast.stmt] = set()
    for event in case.events_of(Act.DIFFERENTIATE):
        value, statement = event.value, event.value.statement
        moved = value.op == "-" and value.graph is True and not value.leaf and len(value.parents) == 2
        if not moved or not isinstance(statement, ast.Assign) or statement in done or not event.loops:
            continue
        slopes = {v.op for v in (value.parents[1], *value.parents[1].parents)}
        name = case.text.of(statement.targets[0])
        same = isinstance(statement.value, ast.BinOp) and case.text.of(statement.value.left) == name
        if "derivative" in slopes and same:
            done.add(statement)
            kept = f"{name} = ({case.text.of(statement.value)}).detach().requires_grad_()"
            yield case.hit("recorded_step", statement, kept, name=name)


def leaf_again(value: Value, case: Case) -> Edit | None:
    """Return the edit that makes a new value a leaf again, for a statement that makes several."""
    if value.node is None or not case.torch:
        return None
    return case.text.replace([(value.node, f"{case.text.operand(value.node)}.detach().requires_grad_()")])


def update_in_place(statement: ast.Assign, case: Case, unrecorded: bool) -> Edit | None:
    value = statement.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub) or case.text.indent(statement).strip():
        return None
    name, indent, step = case.text.of(statement.targets[0]), case.text.indent(statement), case.text.of(value.right)
    if not case.torch:
        return case.text.replace([(statement, engine_update(case, statement, name, f"-= {step}"))])
    update = f"{name} -= {step}" if unrecorded else f"with torch.no_grad():\n{indent}    {name} -= {step}"
    return case.text.replace([(statement, f"{update}\n{indent}{name}.grad = None")])


def requires_grad_last(case: Case, statement: ast.Assign | ast.Return) -> Edit | None:
    """Return the edit that sets requires_grad after the last operation; None if the statement creates no leaf."""
    if statement.value is None:
        return None
    calls = [n for n in walk(statement.value) if isinstance(n, ast.Call) and n is not statement.value]
    creations = [n for n in calls if argument(n, "requires_grad") is not None]
    sets = [n for n in calls if method(n) == "requires_grad_"]
    if len(creations) + len(sets) != 1:
        return None
    ask = (sets or creations)[0]
    plain = receiver(ask) if sets else None
    without = case.text.of(plain) if plain is not None else case.text.without_keyword(ask, "requires_grad")
    whole = case.text.of(statement.value).replace(case.text.of(ask), without)
    brackets = whole if isinstance(statement.value, ast.Call) else f"({whole})"
    return case.text.replace([(statement.value, f"{brackets}.requires_grad_()")])


def optimizer_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: an optimizer gets a tensor that is not a leaf."""
    for event in case.events_of(Act.OPTIMIZER):
        for value in event.value.items or []:
            result = value.kind == Kind.TENSOR and not value.leaf and value.graph is True
            statement = value.statement
            if result and case.torch and isinstance(statement, ast.Assign | ast.Return):
                edit = requires_grad_last(case, statement) or give_leaf(case, event, value)
                if edit is not None:
                    yield case.hit("optimizer_of_nonleaf", statement, edit, event, value=value)


def give_leaf(case: Case, event: Event, value: Value) -> Edit | None:
    """Return the edit that gives the optimizer the leaf from which a value is computed; None if there is none."""
    names = [n for n in walk(event.node) if isinstance(n, ast.Name) and n.id == value.name]
    source = next((part for part in reach(value) if part.leaf and part.graph and part.name), None)
    return case.text.replace([(n, source.name) for n in names]) if names and source is not None else None


def engine_update(case: Case, statement: ast.stmt, name: str, change: str) -> str:
    """Return the lines that change the numbers of a leaf of this project's engine, such as w.data -= step.
    They zero its gradient if the program does not."""
    zero = "" if case.events_of(Act.ZERO) else f"\n{case.text.indent(statement)}{name}.zero_grad()"
    return f"{name}.data {change}{zero}"


def leaf_rebound(case: Case) -> Iterator[RuleHit]:
    """Report failure 7: `w -= lr * w.grad` on a leaf of this project's engine, whose operators never write in place."""
    for event in case.events_of(Act.WRITE):
        statement = event.statement
        if case.torch or not event.required_grad or not isinstance(statement, ast.AugAssign):
            continue
        if isinstance(statement.target, ast.Name) and isinstance(statement.op, ast.Add | ast.Sub):
            name, sign = statement.target.id, "+=" if isinstance(statement.op, ast.Add) else "-="
            lines = engine_update(case, statement, name, f"{sign} {case.text.of(statement.value)}")
            yield case.hit("leaf_rebound", statement, lines, sign=sign, name=name)


def leaf_written(case: Case) -> Iterator[RuleHit]:
    """Report failure 7: a leaf that requires a gradient is written in place while operations are recorded."""
    for event in case.events_of(Act.WRITE):
        statement = event.statement
        refused = case.torch and event.required_grad and event.recorded
        if refused and is_simple(statement) and not case.text.indent(statement).strip():
            edit = case.text.under(statement, "with torch.no_grad():")
            yield case.hit("leaf_written", statement, edit, event)


def written_name(event: Event) -> str | None:
    """Return the name that a call writes to, h of h.add_(1), F.relu_(h) or self.act(h); None if there is none."""
    node = event.node
    if not isinstance(node, ast.Call):
        return None
    source = receiver(node)
    if isinstance(source, ast.Name | ast.Attribute) and event.detail != "argument":
        return ast.unparse(source)
    first = node.args[0] if node.args else None
    return first.id if isinstance(first, ast.Name) and event.detail == "argument" else None


def written_subscript(statement: ast.stmt) -> ast.Subscript | None:
    """Return h[0] of h[0] = 1 or h[0] *= 2; None for any other statement."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return target if isinstance(target, ast.Subscript) else None


def differentiated_later(case: Case, write: Event) -> bool:
    """Tell whether a leaf without a gradient, such as a buffer, was used before a write and a pass comes after it."""
    if graph_of(write.value) is not False:
        return False
    index = case.order[write]
    passes = (e for e in case.program.events[index:] if e.kind == Act.BACKWARD)
    users = (v for e in passes for v in reach(e.value) if write.value in v.parents)
    return any(user.created_at <= index for user in users)


def overwritten(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: numbers that the backward pass needs are overwritten.
    Reports nothing if no operation is known to have saved them, and outside of forward() if no pass needs them."""
    wanted = case.reached(Act.BACKWARD, Act.USED, Act.GRADCHECK, live=False)
    for event in case.events_of(Act.WRITE):
        value, statement = event.value, event.statement
        if not event.saved or not event.recorded or not is_simple(statement):
            continue
        if value.leaf and not differentiated_later(case, event):
            continue
        if not event.in_forward and not {value, storage_owner(value)} & wanted:
            continue
        name = value.name
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(statement.op))
            if sign is None:
                continue
            target, right = statement.target.id, case.text.of(statement.value)
            right = f"({right})" if isinstance(statement.value, ast.BinOp) else right
            name = target
            edit = case.text.replace([(statement, f"{target} = {target} {sign} {right}")])
        elif (part := written_subscript(statement)) is not None:
            if not isinstance(part.value, ast.Name) or not isinstance(statement, ast.Assign | ast.AugAssign):
                continue
            name = part.value.id
            reads = [n for n in walk(statement.value) if isinstance(n, ast.Subscript)]
            reads = [n for n in reads if isinstance(n.value, ast.Name) and n.value.id == name]
            copies = case.text.replace([(n, f"{case.text.of(n)}.clone()") for n in reads]) if reads else None
            edit = copies or case.text.before(statement, f"{name} = {name}.clone()")
        elif (written := written_name(event)) is not None:
            name = written
            edit = case.text.before(statement, f"{name} = {name}.clone()")
        else:
            continue
        yield case.hit("overwritten", statement, edit, name=name)


RULES = (
    grad_of_nonleaf,
    optimizer_of_nonleaf,
    leaf_written,
    leaf_rebound,
    loop_name_rebound,
    recorded_updates,
    overwritten,
)
