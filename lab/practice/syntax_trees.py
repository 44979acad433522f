"""Copies syntax trees with some nodes replaced; unchanged parts are shared with the original."""

from __future__ import annotations

import ast
import copy


def path_to(root: ast.AST, node: ast.AST) -> tuple[tuple[str, int | None], ...]:
    """Find the path from the root of a tree to one of its nodes, by identity. Raises KeyError if there is none."""
    for field, value in ast.iter_fields(root):
        places = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, child in places:
            if child is node:
                return ((field, place),)
            if isinstance(child, ast.AST):
                try:
                    return ((field, place), *path_to(child, node))
                except KeyError:
                    continue
    raise KeyError(node)


def with_nodes(root: ast.FunctionDef, *changes: tuple[ast.AST, ast.AST]) -> ast.FunctionDef:
    """Copy a function with each old node replaced by a new one."""
    new: ast.AST = root
    for old, node in changes:
        new = with_node_at(new, path_to(new, old), node)
    assert isinstance(new, ast.FunctionDef)
    return new


def substituted(expression: ast.expr, old: ast.AST, new: ast.expr) -> ast.expr:
    """Copy an expression with one node replaced, which may be the whole expression."""
    copied = with_node_at(expression, path_to(expression, old), new) if expression is not old else new
    assert isinstance(copied, ast.expr)
    return copied


def with_node_at(root: ast.AST, path: tuple[tuple[str, int | None], ...], node: ast.AST) -> ast.AST:
    """Copy a tree with the node at the end of a path replaced."""
    if not path:
        return node
    (field, place), *rest = path
    new, value = copy.copy(root), getattr(root, field)
    if place is None:
        setattr(new, field, with_node_at(value, (*rest,), node))
    else:
        setattr(new, field, [*value[:place], with_node_at(value[place], (*rest,), node), *value[place + 1 :]])
    return new


def parsed(text: str) -> ast.expr:
    """Parse the text of an expression."""
    return ast.parse(text, mode="eval").body
