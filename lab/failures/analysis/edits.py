"""Edits of a program's text: replaces the source of syntax-tree nodes and returns the changed lines."""

import ast
import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

IDLE = re.compile(r"(?m)^[ \t]*(\w+) = \1$")  # a line that does nothing


@dataclass(frozen=True, slots=True)
class Edit:
    """New text for the lines `first` to `last` (counted from 1, both included)."""

    first: int
    last: int
    change: str


class Text:
    """A program's text, addressed by syntax-tree nodes. Columns of `ast` count bytes, those here characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.raw = [line.encode() for line in self.lines]

    def column(self, line: int, offset: int) -> int:
        return len(self.raw[line - 1][:offset].decode(errors="replace"))

    def span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """Return a node's first line and column, its last line, and the column after its end."""
        assert isinstance(node, ast.expr | ast.stmt)
        line, last = node.lineno, node.end_lineno or node.lineno
        return line, self.column(line, node.col_offset), last, self.column(last, node.end_col_offset or 0)

    def of(self, node: ast.AST) -> str:
        """Return the source of a node."""
        line, start, last, end = self.span(node)
        if line == last:
            return self.lines[line - 1][start:end]
        return "\n".join([self.lines[line - 1][start:], *self.lines[line : last - 1], self.lines[last - 1][:end]])

    def operand(self, node: ast.expr) -> str:
        """Return the source of an expression, in parentheses unless a method call can follow it directly."""
        simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        return self.of(node) if simple else f"({self.of(node)})"

    def replace(self, pieces: Sequence[tuple[ast.AST, str]]) -> Edit:
        """Return the edit that replaces the source of some nodes, none of which contains another."""
        spans = sorted(((self.span(node), new) for node, new in pieces), reverse=True)
        first, last = min(s[0] for s, _ in spans), max(s[2] for s, _ in spans)
        lines = self.lines[first - 1 : last]
        for (line, start, end_line, end), new in spans:
            joined = lines[line - first][:start] + new + lines[end_line - first][end:]
            lines[line - first : end_line - first + 1] = joined.split("\n")
        return Edit(first, last, "\n".join(lines))

    def indent(self, node: ast.AST) -> str:
        line, start, *_ = self.span(node)
        return self.lines[line - 1][:start]

    def beside(self, statement: ast.AST, before: Iterable[str] = (), after: Iterable[str] = ()) -> Edit:
        """Return the edit that puts lines before or after a statement."""
        line, _, last, _ = self.span(statement)
        first, end = ([self.indent(statement) + text for text in added] for added in (before, after))
        return Edit(line, last, "\n".join([*first, *self.lines[line - 1 : last], *end]))

    def unindented(self, statement: ast.With) -> Edit:
        """Return the edit that removes a `with` and keeps its block."""
        first, last = statement.body[0].lineno, statement.end_lineno or statement.lineno
        inside = textwrap.dedent("\n".join(self.lines[first - 1 : last]))
        return Edit(statement.lineno, last, textwrap.indent(inside, self.indent(statement)))

    def under(self, statement: ast.stmt, header: str) -> Edit:
        """Return the edit that puts a statement into a block under `header`."""
        first, last, indent = statement.lineno, statement.end_lineno or statement.lineno, self.indent(statement)
        inside = textwrap.indent("\n".join(self.lines[first - 1 : last]), "    ")
        return Edit(first, last, f"{indent}{header}\n{inside}")

    def reorder(self, statements: Sequence[ast.stmt], order: Sequence[ast.stmt]) -> Edit | None:
        """Return the edit that reorders adjacent statements of one block; None if some share a line."""
        ends = [(s.lineno, s.end_lineno or s.lineno) for s in statements]
        if any(after[0] <= before[1] for before, after in itertools.pairwise(ends)):
            return None
        parts = ["\n".join(self.lines[s.lineno - 1 : s.end_lineno]) for s in order]
        return Edit(ends[0][0], ends[-1][1], "\n".join(parts))

    def with_keyword(self, call: ast.Call, name: str, value: str) -> str:
        """Return a call's source with a keyword argument added."""
        inside = self.of(call)
        comma = "" if inside.endswith("()") else ", "
        return f"{inside[:-1].rstrip().rstrip(',')}{comma}{name}={value})"
