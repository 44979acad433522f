"""Makes wrong copies of an operation that keeps its rule in the wrong place, or what the rule needs."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from lab.practice.syntax_trees import parsed, with_nodes

OPERANDS = ("self", "other", "out", "logits")  # they receive messages: only their data may be kept elsewhere


def shared_by_all(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Yield copies in which values for the backward rule are global: first each alone, then all of them."""
    rule = next((each for each in function.body if isinstance(each, ast.FunctionDef)), None)
    if rule is None:
        return
    read = _values_of_forward(function, rule)
    texts = [*dict.fromkeys(map(ast.unparse, read))]
    for chosen in dict.fromkeys((*((text,) for text in texts), tuple(texts))):
        if chosen:
            yield _with_globals(function, rule, [node for node in read if ast.unparse(node) in chosen], chosen)


def _values_of_forward(function: ast.FunctionDef, rule: ast.FunctionDef) -> list[ast.expr]:
    """Return the places in a rule that read a local variable or an argument of the function, or an operand's data."""
    mine = {each.arg for each in function.args.args}
    inside = {id(node) for node in ast.walk(rule)}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    mine |= {node.id for node in names if isinstance(node.ctx, ast.Store) and id(node) not in inside}
    mine -= {node.id for node in names if isinstance(node.ctx, ast.Store) and id(node) in inside}
    found: list[ast.expr] = []
    for node in ast.walk(rule):
        local = isinstance(node, ast.Name) and node.id in mine and node.id not in OPERANDS
        data = isinstance(node, ast.Attribute) and ast.unparse(node) in ("self.data", "other.data")
        if isinstance(node, ast.expr) and (local or data):
            found.append(node)
    return found


def _with_globals(
    function: ast.FunctionDef, rule: ast.FunctionDef, nodes: Sequence[ast.expr], texts: Sequence[str]
) -> ast.FunctionDef:
    kept = {text: f"_kept_by_all_{place}" for place, text in enumerate(texts)}
    changed = copy.copy(function)
    place = function.body.index(rule)
    shared = with_nodes(rule, *((node, ast.Name(kept[ast.unparse(node)], ast.Load())) for node in nodes))
    copies = [ast.Assign([ast.Name(name, ast.Store())], parsed(text), lineno=0) for text, name in kept.items()]
    changed.body = [ast.Global([*kept.values()]), *function.body[:place], *copies, shared, *function.body[place + 1 :]]
    return changed


def without_rule(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Yield the copy whose result is not given its rule as `_backward`."""
    for step in function.body:
        if isinstance(step, ast.Assign) and ast.unparse(step.targets[0]) == "out._backward":
            yield with_nodes(function, (step, ast.Pass()))
