"""Failures found in code: the corpus, program by program, and texts that are no programs."""

import ast
import io
import json
import random
import re
import subprocess
import sys
import sysconfig
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from lab.failures import FAILURES
from lab.failures.__main__ import main
from lab.failures.code import CodeFinding, NotReadable, apply, check_code, parses, read
from lab.failures.code import program as plain_text
from tests.corpus import MarkedProgram, programs, wrong

ROOT = Path(__file__).parents[3]
NAME = next(failure.name for failure in FAILURES if failure.number == 2)


@cache
def findings(program: MarkedProgram) -> tuple[CodeFinding, ...]:
    return tuple(check_code(program.text))


@pytest.mark.parametrize("program", programs().values(), ids=lambda program: program.title)
def test_what_is_marked_is_found_and_nothing_else(program):
    found = {(finding.line, finding.failure) for finding in findings(program)}
    assert program.places(found) == program.places(program.read)


def test_a_program_is_in_the_file_of_a_failure_that_it_commits():
    for program in programs().values():
        found = {failure for _, failure in program.read | program.ran}
        number = program.path.name.split("_")[0]
        assert not found if number == "right" else not found or int(number) in found, program.title


def test_the_right_programs_of_this_project_get_no_false_word():
    """References of the practice and right answers in unusual styles: written by others, for another purpose."""
    files = [*ROOT.glob("practice/*/reference.py"), *ROOT.glob("tests/unusual/*/*.py")]
    assert len(files) > 5
    flagged = [(str(path), f.line, f.failure) for path in files for f in check_code(path.read_text("utf-8"))]
    assert flagged == []


def test_each_change_mends_its_finding():
    """With the change in it the text still parses, the finding is gone, and there is no other instead."""
    for program in wrong():
        before = Counter(found.failure for found in findings(program))
        for finding in filter(lambda found: found.change, findings(program)):
            changed = apply(plain_text(program.text), finding)
            ast.parse(changed)
            left = Counter(found.failure for found in check_code(changed))
            assert left[finding.failure] < before[finding.failure], (program.title, finding)
            assert left.keys() <= before.keys(), (program.title, finding)


def test_no_change_leaves_a_line_that_does_nothing():
    changes = [(program.title, found.change) for program in wrong() for found in findings(program)]
    assert [(title, new) for title, new in changes if re.search(r"(?m)^\s*(\w+) = \1$", new)] == []


def test_a_finding_says_where_and_why_in_one_sentence():
    for program in wrong():
        lines = plain_text(program.text).split("\n")
        for f in findings(program):
            assert f.first <= f.last <= len(lines)
            assert "\n" not in f.sentence
            assert f.sentence.endswith(".")
            assert len(f.sentence) < 400


NOTEBOOK = [
    """%matplotlib inline
import torch
import torch.nn as nn
!pip install torchmetrics""",
    """net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
xs = torch.linspace(-3, 3, 100).unsqueeze(1)
ys = torch.sin(xs).squeeze()""",
    """curve = []
for it in range(400):
    loss = nn.MSELoss()(net(xs), ys)
    loss.backward()
    optimiser.step()
    curve.append(loss.item())""",
]


def test_a_notebook_is_read_as_its_code_cells():
    cells = [{"cell_type": "markdown", "source": ["# A title"]}]
    cells += [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in NOTEBOOK]
    notebook = json.dumps({"cells": cells, "nbformat": 4})
    lines = plain_text(notebook).split("\n")
    found = [(f.failure, lines[f.line - 1].strip()) for f in check_code(notebook)]
    assert found == [(8, "loss = nn.MSELoss()(net(xs), ys)"), (6, "loss.backward()")]


TRAINING = """import torch
from torch import nn
model = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(4, 8), torch.tensor([0, 1, 2, 0]))] * 3:
    opt.zero_grad()
    nn.CrossEntropyLoss()(model(x), y).backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["! pip install torch\n% matplotlib inline\nx = 1"], ["pass", "pass", "x = 1"]),
        (["files = !ls", "x = %timeit -o f()\ny = 2"], ["pass", "", "pass", "y = 2"]),
        (["torch?", "?torch\nhelp??\nx = 1"], ["pass", "", "pass", "pass", "x = 1"]),
        (["y = await f(x)\nasync with a: pass"], ["y = await f(x)", "async with a: pass"]),
        (["    x = 1\n    y = 2"], ["x = 1", "y = 2"]),
        (["x = 1\n    y = 2\nz = 3"], ["x = 1", "", "z = 3"]),
        (["x = 1\nprint(x\n"], ["x = 1", "pass", ""]),
        (["for x in y:", "z = 1"], ["", "", "z = 1"]),
        (["for x in y:\nz = 1"], ["pass", "z = 1"]),
        (["for x in y\n    z = 1\n    w = 2"], ["pass", "", ""]),
        (["if a:\n    !ls\n    x = 1"], ["if a:", "    pass", "    x = 1"]),
        (['x = 1\ny = """open\n'], ["x = 1", "pass", ""]),
        (["!pip install a \\\n    b\nx = 1"], ["pass", "", "x = 1"]),
        (["%%bash\nls -l", "%%time\nx = 1"], ["pass", "x = 1"]),
        (["x = = 1\n" * 30 + "y = 2", "z = 3"], [*[""] * 32, "z = 3"]),
    ],
)
def test_a_line_of_a_notebook_that_is_not_python_costs_that_line(cells, kept):
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
    assert [line.rstrip() for line in plain_text(notebook).split("\n")] == kept
    assert parses(plain_text(notebook))
    below = json.dumps({"cells": [{"cell_type": "code", "source": [cell]} for cell in (*cells, TRAINING)]})
    assert [finding.failure for finding in check_code(f"\ufeff{below}")] == [25]


def test_a_notebook_of_the_third_format_is_read():
    sheet = {"cells": [{"cell_type": "code", "input": ["%pylab inline\n"]}, {"cell_type": "code", "input": TRAINING}]}
    assert [finding.failure for finding in check_code(json.dumps({"worksheets": [sheet]}))] == [25]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to read"),
        ("   \n\n", "nothing to read"),
        ("Dear list, my loss does not fall, what can I do?", "breaks off in line 1"),
        ("try:\n    pass\nexcept ValueError, e:\n    pass\n", "Line 3 is not Python"),
        ("for x, y in loader:\n    loss = criterion(mod", "breaks off in line 2"),
        ("x = = 2\ny = 3\n", "Line 1 is not Python"),
        ('{"a": [1, 2]}', "not a notebook"),
        ('{"cells": [], "nbformat": 4}', "no code cells"),
        ("x = 1\n" * 200_000, "characters"),
        (b"\x80\x02\xff\x00\x01", "binary"),
        ("x\0y", "binary"),
        ("(" * 5000, "line 1"),
        ("x = " + "-" * 100_000 + "1", "nested too deeply"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(text, says):
    with pytest.raises(NotReadable, match=re.escape(says)) as caught:
        check_code(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "    for x, y in loader:\n        loss = f(net(x), y)\n        loss.backward()\n        opt.step()\n",
        ">>> for x, y in loader:\n...     loss = f(net(x), y)\n...     loss.backward()\n...     opt.step()\n",
        "for x, y in loader:\r\n    loss = f(net(x), y)\r\n    loss.backward()\r\n    opt.step()\r\n",
        "\ufefffor x, y in loader:\n    loss = f(net(x), y)\n    loss.backward()\n    opt.step()",
        "for x, y in loader:\n    loss = f(net(x), y)\n    loss.backward()\n    print 'loss', loss # falls\n    opt.step()",
    ],
    ids=["indented", "console", "carriage returns", "byte order mark", "Python 2"],
)
def test_a_fragment_is_read_as_it_was_pasted(text):
    assert [(f.failure, f.line) for f in check_code(text)] == [(6, 3)]


def test_the_command_line(tmp_path, monkeypatch):
    text = programs()["backward twice same loss"].text
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(text)
    right.write_text(programs()["plain classifier"].text)

    def run(*arguments: str) -> tuple[int, str, str]:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    assert run(str(right)) == (0, "", "")
    (tmp_path / "__init__.py").write_text("")
    assert run(str(tmp_path / "__init__.py")) == (0, "", "")
    code, out, _ = run(str(right), str(wrong))
    assert code == 1
    assert out.startswith(f"{wrong}:8: {NAME}: ")
    assert out.count("\n") == 1
    code, out, _ = run("--json", str(wrong))
    assert code == 1
    assert [(row["line"], row["failure"]) for row in json.loads(out)] == [(8, 2)]
    (tmp_path / "bad.bin").write_bytes(b"\x80\xff")
    code, out, err = run(str(tmp_path / "bad.bin"), str(tmp_path / "absent.py"), str(wrong))
    assert (code, err.count("\n"), out.count("\n")) == (2, 2, 1)
    (tmp_path / "asked.md").write_text(f"My loop stops, why?\n{text}")
    code, out, err = run(str(tmp_path / "asked.md"))
    assert (code, out.split(":")[1], err.count("\n")) == (2, "9", 1)
    long = tmp_path / "long.py"
    long.write_text(text + "\nx = 1 + 1" * 6000)
    code, out, err = run(str(long))
    assert (code, out.count("\n")) == (1, 1)  # what stands before is found
    assert err == f"{long}: {read(long.read_text()).left_out}\n"
    assert "reading stopped after 15,000 expressions" in err
    command = [sys.executable, "-m", "lab.failures", "-"]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith(f"standard input:8: {NAME}: ")


def test_no_text_of_any_kind_ends_in_a_traceback():
    """The standard library's files, pieces of them and bytes: findings or one sentence. (10,000 by hand: no traceback.)"""
    choose = random.Random(5)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    corpus = [program.text for program in choose.sample(list(programs().values()), 40)]
    texts: list[str | bytes] = [path.read_bytes() for path in choose.sample(files, 12)]
    for text in [*(t.decode("utf-8", "replace") for t in list(texts)), *corpus]:  # type: ignore[union-attr]
        start = choose.randrange(len(text))
        texts.append(text[start : start + choose.randrange(4000)])
        lines = text.split("\n")
        start = choose.randrange(len(lines))
        texts.append("\n".join(lines[start : start + choose.randrange(60)]))
        mixed = lines[:120]
        choose.shuffle(mixed)
        texts.append("\n".join(line.strip() for line in mixed))
    texts += [choose.randbytes(choose.randrange(200)) for _ in range(50)]
    texts += [bytes(choose.choices(b"()[]{}:=.,\n 'ab1#%!", k=40)) for _ in range(200)]
    for text in texts:
        try:
            check_code(text)
        except NotReadable as reason:
            said = str(reason)
            if "\n" in said or not said:
                pytest.fail(f"{said!r} is no sentence")


SMALL = {
    "x = torch.ones(2)\ny = +x * 3.0\ny.backward()": [],
    "y = 2.0**2\ny.backward()": [],
    "x = nn.Linear(2, 2)(torch.ones(4, 2))\nout = torch.zeros_like(x)\nout[mask] += x[mask]\nout.sum().backward()": [],
    "net = nn.Sequential()\nnet.add_module('a', nn.Linear(4, 1))\nF.mse_loss(net(torch.ones(3, 4)), torch.ones(3, 1))": [],
    "sizes, x = [4, 8, 1], torch.ones(9, 4)\nfor w in [nn.Parameter(torch.zeros(a, b)) for a, b in zip(sizes, sizes[1:])]:\n"
    " x = x @ w\nF.mse_loss(x, torch.ones(9, 1))": [],
    "y = nn.functional.mse_loss()\ny.backward()": [],
    "w = Variable(torch.ones(2), requires_grad=True)\n(w * w).sum().backward()": [],
    "loss = Variable(score(x), requires_grad=True)\nloss.backward()": [(1, 4)],
    "loss.backward()\nw -= 0.1 * w.grad": [(2, 7)],
    "F.nll_loss(nn.Linear(2, 3)(x), y, reduce=False).backward()": [(1, 3)],
    "w = nn.Parameter(torch.ones(2))\nplt.plot(w * 2)": [(2, 13)],
    "net = nn.Linear(1, 1)\nopt = SGD(net.parameters())\nslope = torch.autograd.grad(net(x).sum(), x)[0]\n"
    "(net(x).sum() + slope.sum()).backward()\nopt.step()": [(3, 4)],
    "class A(nn.Module):\n def __init__(self):\n  self.parts = 3 * [nn.Linear(2, 2)]": [(3, 19)],
    "class A(nn.Module):\n def __init__(self):\n  self.w = nn.Parameter(torch.ones(2)).cuda()": [(3, 19)],
    "x = Variable(torch.arange(3), requires_grad=True)": [(1, 22)],
    "x = Variable(torch.arange(3).type(torch.FloatTensor), requires_grad=True)": [],
    "for i, (x, y) in enumerate(data):\n opt.zero_grad()\n F.mse_loss(net(x), y).backward()\n"
    " if (i + 1) % 4 == 0:\n  opt.step()": [(2, 24)],
    "for i, (x, y) in enumerate(data):\n net.zero_grad()\n F.mse_loss(net(x), y).backward()\n"
    " if (i + 1) % 4 == 0:\n  opt.step()": [],
    "class A(nn.Module):\n def __init__(self):\n  self.f, self.logs = nn.Linear(2, 2), []\nnet = A()\ndef choose(x):\n"
    " net.logs.append(net.f(x).log_softmax(0))\ndef learn():\n torch.stack(net.logs).sum().backward()\n"
    " del net.logs[:]\nfor x in data:\n choose(x)\n learn()": [],
    "chosen = torch.max(model(x), 1)[1]\nloss = criterion(chosen.float(), y.float())\nloss.backward()": [(1, 21)],
    "net, x = nn.Linear(3, 1), torch.ones(8, 3)\nF.mse_loss(torch.min(net(x), net(-x)), torch.ones(8))": [(2, 8)],
    "critic = C()\none = Adam(critic.one.parameters())\na, b = critic(x)\na.sum().backward()\nb.sum().backward()": [],
    "class A(nn.Module):\n def __init__(self):\n  self.f, self.g = nn.Linear(2, 2), nn.Sequential(nn.ReLU(inplace=True))\n"
    " def forward(self, x):\n  x = self.f(x)\n  y = x * x\n  z = self.g(x)\n  return y + z": [(7, 1)],
}


@pytest.mark.parametrize("text", SMALL)
def test_a_small_fragment_means_what_a_reader_takes_it_to_mean(text):
    assert [(f.line, f.failure) for f in check_code(text)] == SMALL[text]
