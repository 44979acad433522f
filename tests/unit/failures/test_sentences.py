"""What the reader of code says, word by word, and whether the lines that its sentences name are those they speak of.

`sentences.txt` holds one finding a line, read and checked by hand: program, line, failure, sentence. The right programs
hold two whose passes stand in different arms of one `if`.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.unit.failures.test_code import CORPUS, RIGHT, WRONG, findings, read

GOLDEN = [line.split(":", 3) for line in (Path(__file__).parent / "sentences.txt").read_text("utf-8").splitlines()]
NAMED = (  # what a sentence says of a line, and what the statement in that line must hold
    (r"backward\(\)` in line (\d+)", r"backward\("),
    (r"the step in line (\d+)", r"step\(|-=|\.sub_\(|\.add_\(|\.data = |copy_\("),
    (r"steps with them in line (\d+)", r"step\("),
    (r"[Tt]he pass in line (\d+)", r"backward\("),
    (r"were zeroed in line (\d+)", r"zero_grad|\.grad = None|zero_\("),
    (r"[Tt]he loss in line (\d+)", r"loss|criterion|cross_entropy|crit|\bce\b|lossf|objective"),
    (r"`\.grad`, read in line (\d+)", r"\.grad"),
    (r"the optimizer in line (\d+)", r"optim|SGD|Adam"),
    (r"the check in line (\d+)", r"gradcheck"),
    (r"the layer in line (\d+)", r"\w\("),
    (r"cross_entropy in line (\d+)", r"cross_entropy|criterion|loss"),
    (r"so line (\d+) cannot differentiate", r"grad\("),
    (r"probabilities, from line (\d+)", r"(?i)softmax\("),
    (r"which line (\d+) needs", r"\("),
    (r"the difference in line (\d+)", r" - .* / "),
)


@pytest.mark.parametrize("program", dict.fromkeys(row[0] for row in GOLDEN))
def test_the_sentences_of_a_program_are_these(program):
    said = [
        (program, str(f.line), f" {f.failure}", f" {f.sentence}") for f in findings(CORPUS / "wrong" / f"{program}.py")
    ]
    assert said == [tuple(row) for row in GOLDEN if row[0] == program]


def test_each_sentence_is_that_of_a_rule():
    rules = Path(__file__).parents[3] / "lab" / "failures" / "analysis" / "rules"
    keys = [key for texts in tomllib.loads((rules / "sentences.toml").read_text("utf-8")).values() for key in texts]
    nodes = [node for path in rules.glob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    written = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    hits = [node.args[0] for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "case.hit"]
    assert len(keys) == len(set(keys))
    assert set(keys) <= written
    assert {node.value for node in hits if isinstance(node, ast.Constant)} <= set(keys)


def test_each_failure_has_a_golden_sentence():
    assert {int(failure) for _, _, failure, _ in GOLDEN} == set(range(1, 26))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_line_that_a_sentence_names_holds_what_it_says(path):
    lines = read(path)[0].split("\n")
    for finding in findings(path):
        left = finding.sentence
        for says, holds in NAMED:
            for number in re.findall(says, left):
                assert re.search(holds, lines[int(number) - 1]), finding.sentence
            left = re.sub(says, "", left)
        assert not re.search(r"line \d", left) or "made in line" in left, left


def test_the_first_of_two_passes_is_the_one_that_freed_the_graph():
    for path in WRONG:
        for finding in findings(path):
            if finding.failure == 2 and (other := re.search(r"backward\(\)` in line (\d+)", finding.sentence)):
                passes = [int(other[1]), finding.line]
                first, second = reversed(passes) if finding.sentence.startswith("This frees") else passes
                assert first < second or "iteration" in finding.sentence, path.stem


@pytest.mark.parametrize("name", ["amp_or_plain_two_arms", "clip_or_not_two_arms"])
def test_the_arms_of_an_if_do_not_follow_each_other(name):
    (path,) = (path for path in RIGHT if path.stem == name)
    assert findings(path) == ()
