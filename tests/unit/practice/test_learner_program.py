"""Programs of learners in the process that records them: whatever they do ends in a sentence and leaves nothing."""

import contextlib
import glob
import json
import sys
import tempfile
from dataclasses import replace

import psutil
import pytest

from lab.expression import run_pytorch
from lab.practice import learner_program, process_pool, sandbox, stop_reasons
from lab.practice.driver import ENGINE, TORCH
from lab.practice.learner_program import ProgramRun, examples, pack, run_program, unpack
from lab.practice.process_pool import Pool
from lab.practice.runner import Problem
from lab.practice.sandbox import PROGRAMS
from lab.trace.loading import LoadError, load

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel does not refuse what is tried")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine is: code is stopped for its processor time, not by the clock. It has less of it here."""
    monkeypatch.setattr(sandbox, "PROGRAMS", {kind: replace(limits, seconds=4.0) for kind, limits in PROGRAMS.items()})
    monkeypatch.setattr(sandbox, "MAX_STRETCH", 1000)
    monkeypatch.setattr(sandbox, "START_TIMEOUT", 600)
    monkeypatch.setattr(process_pool, "START_TIMEOUT", 600)


@pytest.fixture(scope="module")
def pool(boxed):
    with Pool(boxed, ENGINE) as pool:
        yield pool


def run(pool, source, kind=ENGINE):
    with pool.runner(sandbox.PROGRAMS[kind]) as one:
        return run_program(source, one)


PASS = "from model import Tensor\nw = Tensor([1.0, 2.0])\n(w * w).sum().backward()\nprint(w.grad)\n"  # 4 lines


@linux
def test_an_honest_program_is_recorded(pool):
    ran = run(pool, PASS)
    assert (ran.problem, ran.count, ran.printed, ran.findings) == ("", 1, "[2. 4.]\n", ())
    assert [one.line for one in ran.passes] == [3]
    assert load(ran.passes[0].text).gradients["w"].tolist() == [2.0, 4.0]


FORGED = "import os, json\ndef send(text):\n    for n in range(3, 20):\n        try: os.write(n, text.encode() + b'\\n')\n        except OSError: pass\n"
RECORD = {"line": 1, "operations": 1, "trace": "<script>"}


# What follows PASS, a part of the sentence that it ends with, and its line; None where any of several may be named
HOSTILE = {
    "an error": ("w @ Tensor([1.0])", "ValueError: ", 5),
    "an endless loop": ("while True:\n    w * 1.0", "took too long", None),
    "an endless loop that catches all": (
        "while True:\n    try:\n        w = w\n    except BaseException: pass",
        "took too long",
        None,
    ),
    "a fork": ("import os\nos.fork()", "cannot start programs", 6),
    "a program": ("import subprocess\nsubprocess.run(['true'])", "cannot start programs", 6),
    "a thread": ("import threading\nthreading.Thread(target=print).start()", "cannot start programs", 6),
    "a file": ("open('/tmp/left-behind', 'w')", "", 5),
    "the network": ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "cannot start programs", 6),
    "a huge print": ("while True:\n    print('x' * 10**5)", "printed more than", 6),
    "memory": ("x = []\nwhile True:\n    x.append(bytes(10**6))", "more memory", 7),
    "an abrupt end": ("import os\nos._exit(3)", "ended Python itself", None),
    "a recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError", 6),
    "no other package": ("import scipy", "nothing else", 5),
    "no project": ("import practice", "nothing else", 5),
    "garbage in the record": (FORGED + "send('garbage')\nwhile True: pass", "interfered", None),
    "a record of another form": (FORGED + "send('{\"message\": [1]}')\nwhile True: pass", "interfered", None),
    "too many records": (
        FORGED + f"for _ in range(50): send({json.dumps({'message': RECORD})!r})\nwhile True: pass",
        "interfered",
        None,
    ),
    "a forged report": (FORGED + 'send(\'{"values": {"report": "{}"}}\')\nwhile True: pass', "interfered", None),
    "a stack in the record": (FORGED + "send('Stack (most recent call first):')\nwhile True: pass", "", None),
}


@linux
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_ends_in_a_sentence_and_leaves_nothing(pool, name):
    more, wanted, line = HOSTILE[name]
    with pool.runner(sandbox.PROGRAMS[ENGINE]) as one:
        ran = run_program(PASS + more, one)
        mine = one._process.popen.pid
    assert wanted in ran.problem
    assert ran.problem
    assert line in (None, ran.line)
    assert load(ran.passes[0].text).gradients["w"].tolist() == [2.0, 4.0]  # what was recorded before plays
    assert not psutil.pid_exists(mine)
    assert not glob.glob(f"{tempfile.gettempdir()}/left-behind")


@linux
def test_an_endless_loop_that_computes_is_stopped_for_its_time_and_what_it_recorded_plays(pool):
    ran = run(pool, "from model import Tensor\na = Tensor(2.0)\nwhile True:\n    a = a * 1.0\n")
    assert ran.problem == stop_reasons.TOO_LONG
    assert ran.line in (3, 4)
    assert [one.operations for one in ran.passes] == [0]  # how many there were is not known
    assert len(load(ran.passes[0].text).events) == 301


@linux
def test_a_forged_trace_is_refused_when_it_is_loaded(pool):
    ran = run(pool, FORGED + f"send({json.dumps({'message': RECORD})!r})\n")
    with pytest.raises(LoadError):
        load(ran.passes[0].text)


@linux
@pytest.mark.exhaustive
@pytest.mark.skipif(not run_pytorch.installed(), reason="PyTorch is not installed")
def test_a_program_of_pytorch_is_recorded_there(boxed):
    source = (
        "import torch\nnet = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))\n"
        "optimizer = torch.optim.Adam(net.parameters())\nnet(torch.ones(2, 1, 5, 5)).exp().sum().backward()\n"
        "optimizer.step()\nprint(net[1].bias.grad.tolist())\n"
    )
    with Pool(boxed, TORCH) as pool:
        ran = run(pool, source, TORCH)
        assert (ran.problem, ran.count) == ("", 1)
        shown = load(ran.passes[0].text).gradients["net.1.bias"]
        assert json.loads(ran.printed) == shown.tolist()


def test_each_example_has_a_title_and_runs():
    assert len(examples()) == 6
    for title, source in examples().items():
        assert title
        assert "\n" not in title
        assert unpack(pack(source)) == source


@pytest.mark.parametrize("text", ["", "x" * 100, "-_-_", "é", pack("x" * 4000)[:-4], pack("x" * 3999 + "é") * 2])
def test_a_bad_link_is_refused_or_read_in_bounds(text):
    with contextlib.suppress(ValueError):
        assert len(unpack(text)) <= learner_program.MAX_LINKED


def test_a_long_program_is_in_no_link():
    assert pack("x" * 4001) == ""
    assert unpack(pack("x" * 4000)) == "x" * 4000


def test_each_ending_is_one_sentence():
    sentences = {
        "ModuleNotFoundError": ("No module named 'torch'", learner_program.INSTALL),
        "TimeUp": ("", stop_reasons.TOO_LONG),
        "ValueError": ("first\nsecond", "ValueError: first"),
        "KeyError": ("", "KeyError"),
    }
    for kind, (message, wanted) in sentences.items():
        said = learner_program.explain(Problem(kind, message))
        assert wanted in said
        assert "\n" not in said


@pytest.mark.parametrize(
    ("kind", "lacks"),
    [("ModuleNotFoundError", True), ("FileNotFoundError", True), ("NameError", False), ("SyntaxError", False)],
)
def test_what_is_missing_on_this_machine_is_no_error_of_the_program(kind, lacks):
    assert ProgramRun("", kind=kind).lacks_something == lacks
