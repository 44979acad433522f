"""What the reader of code says, word by word: one finding of each sentence, with its edit, read and checked by hand.

An entry of `sentences.txt` is `=== title of the program, line`, the sentence, and the edit: the lines it replaces and
those that take their place.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from lab.failures.code import CodeFinding
from tests.corpus import programs, wrong
from tests.unit.failures.test_code import findings

WRITTEN = (Path(__file__).parent / "sentences.txt").read_text("utf-8")
ENTRIES = re.findall(r"(?ms)^=== (.+?), line (\d+)\n(.*?)(?=^===|\Z)", WRITTEN)
RULES = Path(__file__).parents[3] / "lab" / "failures" / "analysis" / "rules"
SENTENCES = tomllib.loads((RULES / "sentences.toml").read_text("utf-8"))


def form(sentence: str) -> str:
    """Return a sentence without the names and numbers in it."""
    return re.sub(r"`[^`]*`|\d+", "", sentence)


def written(finding: CodeFinding) -> str:
    """Return a finding as `sentences.txt` has it."""
    return f"{finding.sentence}\n" + (f"{finding.first}-{finding.last}:\n{finding.change}\n" if finding.change else "")


@pytest.mark.parametrize(("title", "line", "entry"), ENTRIES)
def test_a_sentence_and_its_edit_are_these(title, line, entry):
    said = [written(finding) for finding in findings(programs()[title]) if finding.line == int(line)]
    assert entry in said


def test_each_sentence_that_the_corpus_shows_has_an_entry():
    shown = [finding.sentence for program in wrong() for finding in findings(program)]
    entries = [entry.split("\n")[0] for *_, entry in ENTRIES]
    assert set(map(form, entries)) == set(map(form, shown))


def test_each_sentence_is_that_of_a_rule():
    keys = [key for texts in SENTENCES.values() for key in texts]
    nodes = [node for path in RULES.glob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    written = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    hits = [node.args[0] for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "case.hit"]
    assert len(keys) == len(set(keys))
    assert set(keys) <= written
    assert {node.value for node in hits if isinstance(node, ast.Constant)} <= set(keys)
