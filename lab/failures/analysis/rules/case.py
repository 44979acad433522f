"""What a rule is given, and what it gives: a case, and what it found in it."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.failures.analysis.edits import Edit, Text
from lab.failures.analysis.facts import Value
from lab.failures.analysis.interpreter import Interpreter
from lab.failures.analysis.kinds import Act
from lab.failures.analysis.program import Event


@dataclass(frozen=True, slots=True)
class Found:
    failure: int
    node: ast.AST
    sentence: str
    edit: Edit


@dataclass(slots=True)
class Case:
    """A text and what happens in it."""

    interpreter: Interpreter
    text: Text

    def all(self, *kinds: Act) -> list[Event]:
        return [event for event in self.interpreter.events if event.kind in kinds]

    @property
    def torch(self) -> bool:
        """False for a program of this project's own engine. Many a PyTorch program has a module `model`, too."""
        source = self.text.source
        return bool(re.search(r"(?m)^\s*(from|import) torch\b", source)) or not re.search(
            r"(?m)^\s*(from|import) model\b", source
        )


def called(value: Value, otherwise: str) -> str:
    """How the text calls a value."""
    return f"`{value.name}`" if value.name else otherwise


def receiver(node: ast.AST) -> ast.expr | None:
    """The expression whose method is called."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def short(text: str) -> str:
    """An expression's text as it fits into a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def own_line(statement: ast.stmt | None) -> bool:
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.AnnAssign)


Rule = Callable[[Case], Iterator[Found]]
