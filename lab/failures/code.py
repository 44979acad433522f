"""Find failures in a piece of code: check_code(source) reads a program with `ast` and never runs it.

Why `ast` and not LibCST: since Python 3.8 it gives the end of each expression, which is all that a changed line needs.
It is part of Python and reads 200 lines in a few milliseconds.
"""

import ast
import itertools
import json
import re
import textwrap
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from lab.failures.analysis.edits import IDLE, Text
from lab.failures.analysis.interpreter import Interpreter
from lab.failures.analysis.rules import apply_rules
from lab.failures.analysis.state import AnalysisState
from lab.failures.analysis.syntax import positional
from lab.failures.analysis.work import limited
from lab.failures.numbers import Number

RELEVANT = re.compile(r"backward|torch|Tensor|Module|optim|grad")  # no rule finds anything without one of these
MAX_REPAIRS, MAX_REPAIRED = 20, 20_000  # lines that are taken out of a cell of a notebook, and its characters
MAX_CHARACTERS = 120_000  # a text of some 3,000 lines
UNREADABLE = (SyntaxError, RecursionError, MemoryError, ValueError)  # what ast.parse raises


class NotReadable(ValueError):
    """The text is not a readable program. The message is one sentence for the person who gave it."""


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """A failure at one place of a text. `change` replaces the lines `first` to `last` (from 1, both included).

    `change` is "" where no mechanical edit removes the failure: then the sentence alone says what to do."""

    failure: Number
    line: int
    sentence: str
    change: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The failures in a text, in the order of its lines; left_out: a sentence if its end was not read."""

    findings: list[CodeFinding]
    left_out: str = ""


def check_code(source: str | bytes) -> list[CodeFinding]:
    """Return the failures in a program's text, in the order of its lines. Raises NotReadable.

    A notebook's JSON is read as its code cells, one below the other: the lines count in the text `program(source)`.
    """
    return read(source).findings


def read(source: str | bytes) -> Reading:
    """Return the failures as `check_code` does, and whether the text was read to its end."""
    text = program(source)
    found, whole = _findings(text, parse(text))
    findings = []
    with limited() as steps:  # for all changed texts together
        for finding in found:
            kept = finding.change and steps.left > 0 and _removes(finding, text, found)
            findings.append(finding if kept else replace(finding, change=""))
    return Reading(findings, whole.left_out)


def _findings(text: str, tree: ast.Module) -> tuple[list[CodeFinding], AnalysisState]:
    """Return the failures in a text with the edits that the rules propose, and the record they were found in."""
    interpreter = Interpreter()
    if not RELEVANT.search(text):
        return [], interpreter.state
    interpreter.read(positional(tree))
    places = Text(text)
    findings = []
    for found in apply_rules(interpreter.state, text):
        line, *_ = places.span(found.node)
        change, first, last = "", line, line
        if found.edit is not None and not IDLE.search(found.edit.change):
            change, first, last = found.edit.change, found.edit.first, found.edit.last
        findings.append(CodeFinding(found.failure, line, found.sentence, change, first, last))
    return findings, interpreter.state


def _removes(finding: CodeFinding, text: str, found: list[CodeFinding]) -> bool:
    """Return whether the text with an edit in it is a program without the failure, and with no other one instead."""
    changed = apply(text, finding)
    try:
        findings, whole = _findings(changed, parse(changed))
    except NotReadable:
        return False
    if whole.left_out:
        return False
    left = Counter(f.failure for f in findings)
    before = Counter(f.failure for f in found)
    return left[finding.failure] < before[finding.failure] and left.keys() <= before.keys()


def apply(text: str, finding: CodeFinding) -> str:
    """Return the program's text with a finding's change applied; the text itself if it has none."""
    if not finding.change:
        return text
    lines = text.split("\n")
    return "\n".join([*lines[: finding.first - 1], finding.change, *lines[finding.last :]])


def program(source: str | bytes) -> str:
    """Return the Python text of a notebook, a console session or an indented piece, moved to the left.

    IPython and shell lines become `pass`; no line is added or lost. Raises NotReadable.
    """
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise NotReadable("This is binary data, not text: give the program itself, a .py or .ipynb file.") from None
    source = source.removeprefix("\ufeff")
    if "\0" in source:
        raise NotReadable("This is binary data, not text: give the program itself, a .py or .ipynb file.")
    if len(source) > MAX_CHARACTERS and not source.lstrip().startswith("{"):
        raise NotReadable(
            f"The text has {len(source):,} characters, and the limit is {MAX_CHARACTERS:,}: give only the file "
            "with the training loop or the model."
        )
    text = cells(source) if source.lstrip().startswith("{") else source
    if len(text) > MAX_CHARACTERS:
        raise NotReadable(f"The notebook's code has {len(text):,} characters, and the limit is {MAX_CHARACTERS:,}.")
    text = re.sub(r"\r\n?|\f", "\n", text)
    if re.match(r"\s*(In \[\d+\]: |>>> )", text) or (re.search(r"(?m)^[^\S\n]*>>> ", text) and not parses(text)):
        text = "\n".join(
            m[2] if (m := re.match(r"(\s*)(?:>>>|\.\.\.|In \[\d+\]:|\.{3,}:) ?(.*)", s)) else ""
            for s in text.split("\n")
        )
    return print_calls(textwrap.dedent(re.sub(r"(?m)^([ \t]*)[%!](?=[\w%!])[^\n]*", r"\1pass", text)))


def print_calls(text: str) -> str:
    """Return a text with the print statements of Python 2 as calls."""

    def called(found: re.Match[str]) -> str:
        call = f"print({found[2]})"
        return found[1] + call if parses(call) else found[0]

    return re.sub(r"(?m)^([ \t]*)print[ \t]+([^=(\s][^#\n]*)", called, text)


def tree_of(text: str) -> ast.Module:
    """Return the syntax tree, without Python's warnings about odd escapes in the learner's strings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parses(text: str) -> bool:
    try:
        tree_of(text)
    except UNREADABLE:
        return False
    return True


def cells(source: str) -> str:
    """Return a notebook's code cells, one below the other; the text itself if it is not JSON. Raises NotReadable.

    Each cell is read by itself: a line that is not Python becomes `pass`.
    """
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError):
        return source
    sheets = notebook.get("worksheets", [notebook]) if isinstance(notebook, dict) else []  # nbformat 3 has sheets
    sheets = sheets if isinstance(sheets, list) else []
    found: list[Any] = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    if not found or not all(isinstance(part, list) for part in found):
        raise NotReadable("This is JSON, but not a notebook: it has no cells.")
    parts = []
    for cell in itertools.chain(*found):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            text = cell.get("source", cell.get("input", ""))
            text = "".join(str(line) for line in text) if isinstance(text, list) else str(text)
            if not text.lstrip().startswith("%%") or text.lstrip().startswith(("%%time", "%%capture")):
                parts.append(without_other_lines(textwrap.dedent(re.sub(r"\r\n?|\f", "\n", text))))
    if not parts:
        raise NotReadable("This notebook has no code cells.")
    return "\n\n".join(parts)


def without_other_lines(text: str, repairs: int = MAX_REPAIRS) -> str:
    """Take out the lines of a cell that are not Python, such as those of IPython and of a shell, and keep the places.

    A cell that is still no program after MAX_REPAIRS lines becomes empty lines.
    """
    lines = text.split("\n")
    for _ in range(repairs if len(text) <= MAX_REPAIRED else 1):
        try:
            tree_of("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as error:
            _take_out(lines, min(error.lineno or 1, len(lines)) - 1, isinstance(error, IndentationError))
        except (RecursionError, MemoryError, ValueError):
            break
    return "\n" * (len(lines) - 1)


def _take_out(lines: list[str], at: int, indented: bool) -> None:
    """Take out the line at which Python stopped; indented: its indentation is what is wrong."""
    before = next((i for i in range(at - 1, -1, -1) if lines[i].strip()), -1)
    if before >= 0 and (not lines[at].strip() or (indented and lines[before].rstrip().endswith(":"))):
        at, indented = before, False  # a block without a body, or an unfinished line at the end
    width = len(lines[at]) - len(lines[at].lstrip())
    lines[at] = "" if indented else " " * width + "pass"


def parse(text: str) -> ast.Module:
    """Return the syntax tree. Raises NotReadable, which names the reason and the line."""
    if not text.strip():
        raise NotReadable("There is nothing to read: paste a training loop or a model.")
    try:
        return tree_of(text)
    except SyntaxError as error:
        line = error.lineno or 1
        lines = text.split("\n")
        written = lines[line - 1].strip() if line <= len(lines) else ""
        if line >= len(text.rstrip().split("\n")):
            raise NotReadable(f"The text breaks off in line {line} (`{written[:60]}`): paste all of it.") from None
        raise NotReadable(f"Line {line} is not Python (`{written[:60]}`): {error.msg}.") from None
    except (RecursionError, MemoryError, ValueError):
        raise NotReadable("The text is nested too deeply to be read: give the part with the training loop.") from None
