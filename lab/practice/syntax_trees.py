"""Copies of a syntax tree with other nodes in the place of some; what did not change is shared with the original."""

from __future__ import annotations

import ast
import copy


def path_to(root: ast.AST, node: ast.AST) -> tuple[tuple[str, int | None], ...]:
    """The path from a tree to one of its nodes, by identity. Raises KeyError if the node is not in it."""
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
    """A copy of a function with (old, new) nodes exchanged."""
    new: ast.AST = root
    for old, node in changes:
        new = with_node_at(new, path_to(new, old), node)
    assert isinstance(new, ast.FunctionDef)
    return new


def substituted(expression: ast.expr, old: ast.AST, new: ast.expr) -> ast.expr:
    """A copy of an expression with one node exchanged, which may be all of it."""
    copied = with_node_at(expression, path_to(expression, old), new) if expression is not old else new
    assert isinstance(copied, ast.expr)
    return copied


def with_node_at(root: ast.AST, path: tuple[tuple[str, int | None], ...], node: ast.AST) -> ast.AST:
    """A copy of a tree with another node at the end of a path."""
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
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body
