"""What a rule takes and yields, `Case` and `RuleHit`, and helpers that several rules share."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from lab.failures.analysis.edits import Edit, Text
from lab.failures.analysis.facts import Value, ancestors
from lab.failures.analysis.kinds import EventKind
from lab.failures.analysis.registry import ENGINE
from lab.failures.analysis.state import AnalysisState, Event
from lab.failures.analysis.syntax import short
from lab.failures.analysis.work import StepList, walk
from lab.failures.numbers import Number
from lab.text import read_rows

Node = TypeVar("Node", bound=ast.AST)


@cache
def sentences() -> dict[str, tuple[Number, str]]:
    """Return each sentence of sentences.toml by its key, with the number of its failure."""
    rows = read_rows(Path(__file__).with_name("sentences.toml"))
    numbers = {number.key: number for number in Number}
    return {key: (numbers[name], text) for name, texts in rows.items() for key, text in texts.items()}


@dataclass(frozen=True, slots=True)
class RuleHit:
    failure: Number
    node: ast.AST
    sentence: str
    edit: Edit | None  # None if no mechanical edit removes the failure


@dataclass
class Case:
    """A program's source text and the events of its run: the input of every rule."""

    state: AnalysisState
    text: Text

    def hit(
        self,
        key: str,
        node: ast.AST,
        change: Edit | str | Sequence[tuple[ast.AST, str]] | None,
        event: Event | None = None,
        /,
        **fields: object,
    ) -> RuleHit:
        """Return the hit at a node that a sentence of sentences.toml is for.

        change   an edit, the pieces of the text to replace, or what takes the node's place; None for no edit
        event    its line and value are the fields `line` and `value`
        fields   what the sentence says in braces; a node stands for its source, cut short
        """
        failure, sentence = sentences()[key]
        if isinstance(change, str):
            change = [(node, change)]
        edit = change if isinstance(change, Edit) else self.text.replace(change) if change else None
        known = {"line": event.line, "value": event.value} if event is not None else {}
        given = {
            name: short(self.text.of(field)) if isinstance(field, ast.AST) else field
            for name, field in (known | {"node": node} | fields).items()
        }
        return RuleHit(failure, node, sentence.format(**given), edit)

    def events_of(self, *kinds: EventKind) -> list[Event]:
        """Return the events of these kinds, in order."""
        return StepList(event for event in self.state.events if event.kind in kinds)

    def reached(self, *kinds: EventKind, live: bool = True) -> set[Value]:
        """Return every value that a gradient from events of these kinds reaches, see `reach`."""
        return {value for event in self.events_of(*kinds) for value in ancestors(event.value, live)}

    @cached_property
    def backward_reached(self) -> set[Value]:
        """Every value that a backward pass reaches."""
        return self.reached(EventKind.BACKWARD)

    @cached_property
    def optimized(self) -> set[Value]:
        """Every value that an optimizer moves."""
        return {part for event in self.events_of(EventKind.OPTIMIZER) for part in event.value.moved}

    @cached_property
    def in_where(self) -> set[ast.AST]:
        """Every node in a call of where()."""
        return {part for event in self.events_of(EventKind.WHERE) for part in walk(event.node)}

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return the nodes of a type in the program, in the order of `walk`."""
        return [node for node in walk(self.state.tree) if isinstance(node, kind)]

    @cached_property
    def order(self) -> dict[Event, int]:
        """The position of each event among all events."""
        return {event: place for place, event in enumerate(self.state.events)}

    @cached_property
    def names(self) -> set[str]:
        """Every name and attribute in the program, and each part of the modules that it imports."""
        found = {node.attr for node in self.nodes(ast.Attribute)} | {node.id for node in self.nodes(ast.Name)}
        return found | {part for module in self.imports for part in module.split(".")}

    @cached_property
    def imports(self) -> dict[str, str]:
        """The full name of each import, with the name that the program gives it."""
        whole = [(alias.name, alias) for node in self.nodes(ast.Import) for alias in node.names]
        parts = [(f"{node.module}.{alias.name}", alias) for node in self.nodes(ast.ImportFrom) for alias in node.names]
        return {name: alias.asname or alias.name for name, alias in whole + parts}

    @property
    def torch(self) -> bool:
        """False for a program of this project's own engine. Many PyTorch programs have a module `model`, too."""
        roots = {module.split(".")[0] for module in self.imports}
        return "torch" in roots or not roots & ENGINE
