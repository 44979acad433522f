"""The edits that the reader offers, run: the changed program runs where the original did.

Whether the failure is gone, test_code.py asks the reader for every edit of the corpus.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.failures.code import CodeFinding, apply, check_code, program
from tests.corpus import programs, wrong
from tests.unit.failures.test_code import findings

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


Edits = list[tuple[str, str, CodeFinding]]  # of a program: its title, its text, and a finding with an edit


def each_edit() -> Edits:
    """Return the edits offered for the programs that run to their end."""
    running = [marked for marked in wrong() if not marked.ending]
    return [(it.title, program(it.text), finding) for it in running for finding in findings(it) if finding.change]


def one_of_each_sentence(edits: Edits) -> Edits:
    """Return the first edit of each sentence, whatever names and numbers are in it."""
    first: dict[str, tuple[str, str, CodeFinding]] = {}
    for edit in edits:
        first.setdefault(re.sub(r"`[^`]*`|\d+", "", edit[2].sentence), edit)
    return list(first.values())


def outcomes(texts: list[str]) -> list[str]:
    """What stops each program: "" if it runs to its end."""
    command = [sys.executable, str(HERE / "run_programs.py")]
    ran = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, cwd=ROOT, check=True)
    answers: list[str] = json.loads(ran.stdout)
    return answers


def stopped(edits: Edits) -> list[tuple[str, int, str, str]]:
    """Return the edits whose programs no longer run to their end: title, line, change, and what stops the program."""
    pytest.importorskip("torch")
    after = outcomes([apply(text, finding) for _, text, finding in edits])
    return [
        (title, found.line, found.change, stop) for (title, _, found), stop in zip(edits, after, strict=True) if stop
    ]


def test_an_edit_of_each_sentence_leaves_a_program_that_runs():
    assert stopped(one_of_each_sentence(each_edit())) == []


@pytest.mark.exhaustive
def test_each_edit_leaves_a_program_that_runs():
    assert stopped(each_edit()) == []


def test_a_program_that_stops_runs_to_its_end_with_its_edits():
    """All of them, one after the other; where a finding has no edit, a person must think."""
    cured = {}
    for marked in (marked for marked in wrong() if marked.ending == "stops"):
        text = program(marked.text)
        for _ in range(4):
            left = [finding for finding in check_code(text) if finding.change]
            text = apply(text, left[0]) if left else text
        if marked.read and not check_code(text):
            cured[marked.title] = text
    assert cured
    pytest.importorskip("torch")
    stops = dict(zip(cured, outcomes(list(cured.values())), strict=True))
    assert {title: stop for title, stop in stops.items() if stop} == {}


LOOP = "import torch\nfrom torch import nn\nnet = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
BATCH = "for x, y in [(torch.randn(5, 3), torch.randn(5, 1))] * 3:\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (
            f"{LOOP}loss = 0\n{BATCH}    loss = loss + (net(x) - y).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n",
            11,
        ),
        (f"{LOOP}{BATCH}    _, best = torch.max(net(x), 1)\n    (best - y).float().mean().backward()\n", 21),
        (programs()["losses made numbers in a comprehension"].text, 4),
        (f"{LOOP}{BATCH}    out = net(x).detach().numpy()\n    torch.tensor(out).pow(2).mean().backward()\n", 13),
    ],
    ids=[
        "a state that starts as a number",
        "an index in place of scores",
        "a list of numbers",
        "an expression of NumPy",
    ],
)
def test_a_finding_without_a_mechanical_edit_is_a_sentence_alone(text, number):
    found = [finding for finding in check_code(text) if finding.failure == number]
    assert found
    assert {finding.change for finding in found} == {""}
    assert apply(text, found[0]) == text


def test_a_kept_loss_is_detached():
    text = (
        f"{LOOP}losses = []\n{BATCH}    loss = (net(x) - y).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
    )
    text += "    opt.step()\n    losses.append(loss)\nprint(torch.stack(losses).mean())\n"
    (found,) = check_code(text)
    assert (found.failure, found.change) == (10, "    losses.append(loss.detach())")


def test_what_may_be_zero_is_kept_above_it_wherever_that_is_steep():
    text = f"{LOOP}{BATCH}    width = net(x).relu()\n    (width.log() + y / width).mean().backward()\n"
    (found,) = (finding for finding in check_code(text) if finding.failure == 9)
    assert found.change == "    ((width + 1e-8).log() + y / (width + 1e-8)).mean().backward()"


@pytest.mark.parametrize("written", ["net(x).softmax(1)", "net(x).softmax(-1)", "torch.softmax(net(x), 1)"])
def test_a_call_is_replaced_by_its_input_and_not_by_its_axis(written):
    text = f"{LOOP}{BATCH}    p = {written}\n    nn.functional.cross_entropy(p, y.long()[:, 0]).backward()\n"
    (found,) = (finding for finding in check_code(text) if finding.failure == 25)
    assert found.change == "    p = net(x)"
