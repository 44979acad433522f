"""What a program's syntax tree says by itself: the name that a call calls, its arguments, what is inside of what.

The interpreter and the rules read the operands of a call by place. `positional` rewrites a call that names them, such
as `mse_loss(input=x, target=y)`, to the call without the names.
"""

import ast

from lab.failures.analysis.registry import OPERANDS
from lab.failures.analysis.work import walk


def receiver(node: ast.AST | None) -> ast.expr | None:
    """Return the expression whose method is called: x of x.backward(); None for anything else."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def method(node: ast.AST | None) -> str:
    """Return the name of a called method, or function of a module: exp of x.exp() and torch.exp(x); else ""."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def called(node: ast.AST | None) -> str:
    """Return the last name of what a call calls: f of f(x), exp of torch.exp(x); "" for anything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else method(node)


def argument(call: ast.AST, name: str, place: int | None = None) -> ast.expr | None:
    """Return the argument of a name, or the one at a place; None if the call does not have it."""
    if not isinstance(call, ast.Call):
        return None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return call.args[place] if given is None and place is not None and len(call.args) > place else given


def defaults(spec: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of a function's parameters, by name."""
    positional = zip(reversed(spec.posonlyargs + spec.args), reversed(spec.defaults), strict=False)
    keyed = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {part.arg: default for part, default in [*positional, *keyed] if default is not None}


def names_in(node: ast.AST) -> list[str]:
    """Return the names in a piece of the program, those of attributes left out."""
    return [part.id for part in walk(node) if isinstance(part, ast.Name)]


def inside(around: ast.AST | None, node: ast.AST | None) -> bool:
    return around is not None and any(part is node for part in walk(around))


def is_simple(statement: ast.stmt | None) -> bool:
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.AnnAssign)


def short(text: str) -> str:
    """Return an expression's text on one line, cut to fit into a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


class Positional(ast.NodeTransformer):
    """Moves the operands that calls name to their places; the program's own functions keep theirs."""

    def __init__(self, tree: ast.Module) -> None:
        definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, definitions)}

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if called(node) not in self.own and not any(isinstance(part, ast.Starred) for part in node.args):
            given = {key.arg: key.value for key in node.keywords}
            node.args += [given[name] for name in OPERANDS if name in given]
            node.keywords = [key for key in node.keywords if key.arg not in OPERANDS]
        return node


def positional(tree: ast.Module) -> ast.Module:
    """Move the named operands of library calls to their places, in the tree itself, and return it."""
    return Positional(tree).visit(tree)
