"""The edits that the reader offers, each one run: the changed program runs where the original did.

Whether the failure is gone, test_code.py asks the reader for every edit of the corpus.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.failures.analysis.edits import unbound_names
from lab.failures.analysis.rules.case import edit_kinds, sentences
from lab.failures.code import CodeFinding, apply, check_code, program

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAMS = [HERE / "programs", HERE.parent / "watch" / "programs"]


def shortened(text: str) -> str:
    """The program with fewer turns of its long loops."""
    return re.sub(r"range\(\d{3,}\)", "range(3)", text)


def each_edit() -> list[tuple[str, str, CodeFinding]]:
    """The name and the text of each program with an edit, and that edit."""
    found = []
    for path in sorted(path for folder in PROGRAMS for path in folder.glob("wrong/*.py")):
        text = program(re.sub(r"(?m)  #! [\d|]+$", "", path.read_text("utf-8")))
        found += [(path.stem, text, finding) for finding in check_code(text) if finding.change]
    return found


def one_of_each_sentence(edits: list[tuple[str, str, CodeFinding]]) -> list[tuple[str, str, CodeFinding]]:
    """The first program of each sentence, without the names and numbers in it."""
    first: dict[str, tuple[str, str, CodeFinding]] = {}
    for edit in edits:
        first.setdefault(re.sub(r"`[^`]*`|\d+", "", edit[2].sentence), edit)
    return list(first.values())


def outcomes(texts: list[str]) -> list[str]:
    """What stops each program: "" if it runs to its end."""
    command = [sys.executable, str(HERE / "run_programs.py")]
    ran = subprocess.run(
        command, input=json.dumps([["", text] for text in texts]), capture_output=True, text=True, cwd=ROOT, check=True
    )
    answers: list[str] = json.loads(ran.stdout)
    return answers


def check_runs(edits: list[tuple[str, str, CodeFinding]], at_least: int) -> None:
    before = outcomes([shortened(text) for _, text, _ in edits])
    running = [edit for edit, answer in zip(edits, before, strict=True) if not answer]
    assert len(running) >= at_least
    after = outcomes([shortened(apply(text, finding)) for _, text, finding in running])
    named = zip(running, after, strict=True)
    assert [(name, found.line, found.change, stop) for (name, _, found), stop in named if stop] == []


def test_an_edit_of_each_sentence_leaves_a_program_that_runs():
    pytest.importorskip("torch")
    check_runs(one_of_each_sentence(each_edit()), 40)


def test_each_kind_of_edit_belongs_to_sentences_that_exist():
    assert edit_kinds().keys() <= sentences().keys()
    assert 10 <= len(set(edit_kinds().values())) <= 16


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
        (f"{LOOP}{BATCH}    out = net(x).detach().numpy()\n    torch.tensor(out).pow(2).mean().backward()\n", 13),
    ],
    ids=["a state that starts as a number", "an index in place of scores", "an expression of NumPy"],
)
def test_a_finding_without_a_mechanical_edit_is_a_sentence_alone(text, number):
    found = [finding for finding in check_code(text) if finding.failure == number]
    assert found
    assert {finding.change for finding in found} == {""}
    assert apply(text, found[0]) == text


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("losses[-1].item()", "loss.detach()"),
        ("torch.stack(losses).mean()", "loss.detach()"),
        ("losses[-1]", "loss.item()"),
    ],
)
def test_a_kept_loss_stays_a_tensor_where_the_program_uses_it_as_one(asked, kept):
    text = (
        f"{LOOP}losses = []\n{BATCH}    loss = (net(x) - y).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
    )
    text += f"    opt.step()\n    losses.append(loss)\nprint({asked})\n"
    (found,) = check_code(text)
    assert (found.failure, found.change) == (10, f"    losses.append({kept})")


@pytest.mark.parametrize("written", ["net(x).softmax(1)", "net(x).softmax(-1)", "torch.softmax(net(x), 1)"])
def test_a_call_is_replaced_by_its_input_and_not_by_its_axis(written):
    text = f"{LOOP}{BATCH}    p = {written}\n    nn.functional.cross_entropy(p, y.long()[:, 0]).backward()\n"
    (found,) = (finding for finding in check_code(text) if finding.failure == 25)
    assert found.change == "    p = net(x)"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f():\n    return a\n", {("f", "a")}),
        ("a = 1\ndef f():\n    return a\n", set()),
        ("def f():\n    global a\n    a = 1\ndef g():\n    return a + len([])\n", set()),
        ("def f(a):\n    return lambda: a\ndef g():\n    return a\n", {("g", "a")}),
    ],
)
def test_names_that_a_program_never_binds(text, names):
    assert unbound_names(text) == names
