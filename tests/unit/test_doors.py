"""Every text of a visitor is limited before anything examines it, and read in time that grows with its length."""

import contextlib
import json
import math
import random
import signal
import sys
import time

import pytest

from lab.expression.parser import MAX_TEXT, ExpressionError, parse
from lab.failures import code, text_kind
from lab.failures.code import NotReadable, check_code
from lab.failures.curve import LogError, read_log
from lab.failures.curve.log import MAX_BYTES
from lab.failures.finder import find, look_up
from lab.failures.fragments import check_fragments
from lab.lessons import assignment_link
from lab.lessons.search import search
from lab.practice import progress_file, questions, runner
from lab.trace.loading import LoadError, load
from lab.training import config, points
from lab.training.datasets import from_table
from lab.training.samples import DataError
from lab.ui import expression_box
from pages.parts.training.settings import CHANGES

CEILING = 3.0  # seconds of processor time: the slowest text takes from less than 1 to 2.2, by the machine
GROWTH = 12  # of the time for four times the text: 16 is quadratic
NOTICED = 0.15  # seconds below which growth is not looked at

SIGNS = [
    *("\t", ", ", ",", ";", "|", " ", "\n", "\r", "_", "(", "[", "{", ")", "]", "}", "=", "'", '"', "0", "a", "-", "."),
    *("\\", "/", ":", "%", "#", "@", "~", "!", "`", "\0", "\x0c", "\u2028", "\ud800", "\u0301", "中", "’", "−", "…"),
    *("a ", "a=", "1,", "1.", "1e5", "nan ", "[1, ", "(1, ", "a[", "a(", "if ", "Error:", "not ", ">>> ", "lambda ", "**"),
    *("grad ", "none ", "loss ", "w -= ", "back", "in-", "param", "weight.", "does not require grad\n", "e. ", "a: "),
    *("w=w+w\n", "@a\n", "loss.backward()\n", "total = total + loss\n", '  File "a.py", line 1\n', "f'{", "with (", "match ("),
]  # fmt: skip
PROGRAM = "import torch\nw = torch.ones(3, requires_grad=True)\nfor epoch in range(9):\n    loss = (w * w).sum()\n"


def answered(text):
    """Read a learner's process's answer: as a message, a value and the name of a type."""
    runner.answer(
        {"values": {text: text, "x": {"type": text}}, "error": {"kind": text, "message": text} | PLACE}, (text, "x")
    )


PLACE = {"line": 1, "column": 1}


def address(text):
    for read in (
        points.from_text,
        config.parse_widths,
        config.parse_change,
        expression_box.value,
        assignment_link.read,
    ):
        with contextlib.suppress(ValueError):
            read(text)


def judged(text):
    for question in questions.QUESTIONS:
        with contextlib.suppress(ValueError):
            questions.judge(question, text)


def as_progress(text):
    file = {"lab": "tensor-ops-lab", "cards": {text[:100]: text}, "texts": {"a": {"text": text}}}
    progress_file.parse(json.dumps(file).encode())
    progress_file.parse(text.encode("utf-8", "replace"))


def as_notebook(text):
    check_code(json.dumps({"cells": [{"cell_type": "code", "source": [text]}]}))


DOORS = {  # name -> what reads the text, its largest length here, and how many texts the second level tries
    "search": (search, 100_000, 400),
    "kind": (text_kind.kind_of, text_kind.MAX_CHARACTERS, 400),
    "message": (find, 100_000, 24),
    "message, on the page": (look_up, 100_000, 8),
    "code": (check_code, code.MAX_CHARACTERS, 20),
    "code in a loop": (lambda text: check_code(PROGRAM + "".join(f"    {one}\n" for one in text.split("\n"))), 6_000, 60),
    "notebook": (as_notebook, 100_000, 12),
    "code in a message": (check_fragments, 40_000, 200),
    "log": (read_log, 300_000, 20),
    "log of losses": (lambda text: read_log(f"epoch,loss\n1,{text}\n2,{text}\n3,4\n"), 150_000, 10),
    "expression": (parse, MAX_TEXT, 300),
    "table": (lambda text: from_table(text, "t.csv"), 300_000, 20),
    "column": (lambda text: from_table(f"a;b\n{text};1\n{text};2\n", "t.csv"), 300_000, 10),
    "address": (address, 100_000, 20),
    "answer to a question": (judged, questions.MAX_LENGTH, 20),
    "answer of a program": (answered, 300_000, 10),
    "progress file": (as_progress, 500_000, 5),
    "trace": (load, 500_000, 20),
}  # fmt: skip
REFUSED = (ValueError, ExpressionError, NotReadable, LogError, DataError, LoadError)


def hostile(length, count, seed=0):
    """Yield texts of this length: signs and pairs of signs again and again, nested brackets, in one line and in many,
    each with an end that fits to nothing."""
    chance = random.Random(seed)
    units = [*SIGNS, *("".join(chance.sample(SIGNS, 2)) for _ in SIGNS), "()", "[]", "{}"]
    forms = [(unit, many) for unit in units for many in (False, True)]
    for unit, many in chance.sample(forms, min(count, len(forms))):
        if many:
            yield (f"{(unit * 30)[:60]}!\n" * (length // 62 + 1))[:length]
        elif len(unit) == 2 and chance.random() < 0.5:
            yield unit[0] * (length // 2) + unit[1] * (length // 2)
        else:
            yield (unit * (length // len(unit) + 1))[: length - 1] + "!"


def seconds(read, text):
    """Return the processor time that reading a text takes; infinity for more than CEILING."""

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, CEILING)
    start = time.process_time()
    try:
        with contextlib.suppress(*REFUSED):
            read(text)
        return time.process_time() - start
    except TimeoutError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such timer")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_any_text_is_read_in_time_that_grows_with_its_length(door, share):
    read, longest, count = DOORS[door]
    count = math.ceil(count / share)
    for text in ("a = 1", "my loss is nan and the lernrate is too high"):  # load what is loaded once
        with contextlib.suppress(*REFUSED):
            read(text)
    quarters = hostile(longest // 4, count)
    for text, quarter in zip(hostile(longest, count), quarters, strict=True):
        took = seconds(read, text)
        assert took < CEILING, f"{door}: {text[:60]!r} takes too long"
        if took > NOTICED and (took := seconds(read, text)) > NOTICED:  # the first time, more may have been loaded
            assert took < GROWTH * max(seconds(read, quarter), NOTICED / 4), f"{door}: {text[:60]!r}"


@pytest.mark.parametrize(
    "text",
    [
        ";" * 1_000_000 + "\n1;2",
        "x;" * 100 + "x\n" + "1;" * 500_000,
        ",".join(["t"] * 101) + "\n" + "".join(",".join([f"v{row % 20}"] * 100) + ",1\n" for row in range(2_900)),
        "a,b\n" + "1,2\n" * 100_000,
        "a,b\n" + "1" * 100_000 + ",2\n",
    ],
    ids=["names", "a name again and again", "columns of texts", "rows", "digits"],
)
def test_a_table_that_is_too_large_is_refused_at_once(text):
    with pytest.raises(DataError):
        from_table(text, "t.csv")
    assert seconds(lambda text: from_table(text, "t.csv"), text) < CEILING


@pytest.mark.parametrize(
    "line",
    [
        "Epoch {n}/9000 | loss=0.{n:04d} val_loss: 0.5 acc 91.2%\n",
        "{n} 0.{n:04d} 0.5\n",
        "{{'loss': 0.{n:04d}, 'lr': 1e-3, 'epoch': {n}}}\n",
        "x{n} = [1, 2\n",
    ],
    ids=["names", "columns", "dicts", "brackets"],
)
def test_the_longest_log_that_is_accepted_is_read_in_time(line):
    whole = "".join(line.format(n=n) for n in range(9_000))
    text = (whole * (MAX_BYTES // len(whole) + 1))[:MAX_BYTES]
    assert min(seconds(read_log, text) for _ in range(2)) < CEILING


@pytest.mark.parametrize(
    "content",
    [
        '{"lab": "tensor-ops-lab", "cards": {"a": ' + "[" * 400 + "]" * 400 + "}}",
        '{"lab": "tensor-ops-lab", "cards": {"a": ' + "[" * 50_000 + "]" * 50_000 + "}}",
        json.dumps({"lab": "tensor-ops-lab", "cards": {}, "tasks": [1] * 100_000}),
        json.dumps({"lab": "tensor-ops-lab", "cards": {"a" * 100_000: [1] * 900}}),
    ],
    ids=["nested", "nested far too deep", "entries", "name"],
)
def test_a_progress_file_with_more_than_it_needs_is_read_in_time(content):
    assert seconds(progress_file.parse, content.encode()) < CEILING


def test_an_address_has_few_changes():
    assert CHANGES.read({CHANGES.key: " ".join(["1:lr=0.1"] * 6_000)}) == ()
