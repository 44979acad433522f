"""`positional` moves the keyword arguments of library functions to their places.

The interpreter and the rules read the operands of a call by place. A call that names them, such as
`mse_loss(input=x, target=y)`, is rewritten to the call without the names.
"""

import ast

from lab.failures.analysis.registry import LOSS, PARAMETERS
from lab.failures.analysis.syntax import called


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
