"""What a program's syntax tree says by itself: the name that a call calls, its arguments, what is inside of what.

The interpreter and the rules read the operands of a call by place. `positional` rewrites a call that names them, such
as `mse_loss(input=x, target=y)`, to the call without the names.
"""

import ast

from lab.failures.analysis.registry import LOSS, PARAMETERS
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
    """Moves the keyword arguments of calls to their places; the program's own functions keep theirs."""

    def __init__(self, tree: ast.Module) -> None:
        definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, definitions)}
        self.own_losses = any(isinstance(node, ast.arg) and node.arg == "target" for node in ast.walk(tree))

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        given = {key.arg: key for key in node.keywords}
        name = called(node)
        if not node.keywords or name in self.own or any(isinstance(part, ast.Starred) for part in node.args):
            return node
        parameters = PARAMETERS.get(name, LOSS if "target" in given and not self.own_losses else ())
        rest = list(parameters[len(node.args) :])
        method = isinstance(node.func, ast.Attribute)
        if rest and method and not given.keys() & {*rest[0].split("|")}:
            rest.pop(0)  # the receiver takes the first place
        for parameter in rest:
            word = next((word for word in parameter.split("|") if word in given), None)
            if word is None:
                break
            node.args.append(given[word].value)
            node.keywords.remove(given[word])
        return node


def positional(tree: ast.Module) -> ast.Module:
    """Move the keyword arguments of library calls to their places, in the tree itself, and return it."""
    return Positional(tree).visit(tree)
