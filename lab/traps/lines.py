"""The lines of a function, to be shown: so that what a learner reads is what has run."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

from lab.expression.source import syntax_tree


@cache  # the files do not change while the lab runs
def body(function: Callable) -> str:
    """The lines inside a function, without its docstring and without the `return` at the end."""
    text = textwrap.dedent(inspect.getsource(function))
    definition = syntax_tree(text).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function} is not a function that was written with def.")
    statements = definition.body
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    lines = text.splitlines()
    last = statements[-1].lineno - 1 if isinstance(statements[-1], ast.Return) else len(lines)
    return textwrap.dedent("\n".join(lines[statements[0].lineno - 1 : last])).rstrip() + "\n"
